package kernel

import (
	"strings"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// What the server remembers of collections by their names and UUIDs, and forgets with them.

// NoteUsage counts the command for the collection that it is about, if that exists.
func (c *Call) NoteUsage(took time.Duration) {
	n := c.lastNames()
	_, v := c.Body.First()
	if c.Cmd.Has(Continues) || v.Kind() != value.KindString || n.ns.Coll != v.Str() || n.ns.DB != c.DB {
		if u := c.Svc.usageOf(OperationNamespace(c.Op)); u != nil {
			u.Note(c.Cmd.Name, took)
		}
		return
	}
	if n.usage == nil || n.usage.Gone() { // the name may be that of another collection by now
		n.usage = c.Svc.usageOf(n.ns.String())
	}
	if n.usage != nil {
		n.usage.Note(c.Cmd.Name, took)
	}
}

func (s *Service) usageOf(full string) *observe.CollectionUsage {
	return s.Usage.Of(full, func() bool { return s.exists(full) })
}

// exists reports whether there is a collection with a full name. What is no collection, such
// as db.$cmd.aggregate, exists with its database.
func (s *Service) exists(full string) bool {
	db, coll, _ := strings.Cut(full, ".")
	found := false
	err := s.Engine.View(s.Background, func(tx storage.Tx) (err error) {
		if isPseudo(coll) {
			found, err = databaseExists(tx, db)
			return err
		}
		_, err = tx.Collection(storage.Namespace{DB: db, Coll: coll})
		found = err == nil
		return err
	})
	return err == nil && found
}

// pseudoCollections are the names under which commands without a collection are counted.
var pseudoCollections = []string{"$cmd", "$cmd.aggregate", "$cmd.listCollections"}

func isPseudo(coll string) bool {
	for _, name := range pseudoCollections {
		if name == coll {
			return true
		}
	}
	return false
}

func databaseExists(tx storage.Tx, db string) (bool, error) {
	if !UserDatabase(db) {
		return true, nil
	}
	infos, err := tx.Collections(db)
	return len(infos) > 0, err
}

// forgetGone forgets what is known of collections that were dropped or renamed.
func (s *Service) forgetGone(gone []oplog.Gone) {
	for _, g := range gone {
		s.Usage.Forget(g.Info.Namespace.String())
		if g.To == (storage.Namespace{}) {
			s.IndexUse.ForgetAll(g.Info)
			s.Settings.Filters.Forget(g.Info.Namespace)
			s.Monitor.Metrics().Forget(g.Info.UUID)
		} else {
			s.Settings.Filters.Rename(g.Info.Namespace, g.To)
		}
		for _, name := range pseudoCollections {
			if full := g.Info.Namespace.DB + "." + name; s.Usage.Find(full) != nil && !s.exists(full) {
				s.Usage.Forget(full)
			}
		}
	}
}

// ForgetAbsent forgets what is known of collections that do not exist: other servers may have
// dropped them.
func (s *Service) ForgetAbsent() error {
	return s.Engine.View(s.Background, func(tx storage.Tx) error {
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		uuids, names, databases := map[[16]byte]bool{}, map[string]bool{}, map[string]bool{}
		for _, info := range infos {
			uuids[info.UUID], names[info.Namespace.String()], databases[info.Namespace.DB] = true, true, true
			for _, pseudo := range pseudoCollections {
				names[info.Namespace.DB+"."+pseudo] = true
			}
		}
		s.Profiler.Keep(func(db string) bool { return databases[db] || !UserDatabase(db) })
		s.IndexUse.Keep(func(uuid [16]byte) bool { return uuids[uuid] })
		for _, u := range s.Usage.List() {
			if db, _, _ := strings.Cut(u.Namespace, "."); !names[u.Namespace] && UserDatabase(db) {
				s.Usage.Forget(u.Namespace)
			}
		}
		return nil
	})
}
