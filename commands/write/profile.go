package write

import (
	"errors"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// WriteProfile stores an entry in the database's system.profile. The
// collection has no _id, and its changes are not logged.
func WriteProfile(s *kernel.Service, c *kernel.Call, entry value.Doc) error {
	if s.Fsync.Held() {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: "system.profile"}
	author := &kernel.Call{Ctx: s.Background, Svc: s, Now: c.Now}
	err := storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			coll, err = tx.Create(ns, value.NewDoc("capped", value.Bool(true), "size", value.Int(observe.ProfileBytes)), nil)
		}
		if err != nil {
			return err
		}
		if err := New(author, tx, coll, true).makeRoom(len(entry)); err != nil {
			return err
		}
		_, err = coll.Insert(entry, c.Now)
		return err
	})
	if err == nil {
		s.Changes.Signal()
	}
	return err
}
