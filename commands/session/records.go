package session

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// OpenRecords makes the indexes by which records and parts are found, where an earlier
// version has made their collections without indexes.
func OpenRecords(ctx context.Context, engine storage.Engine) error {
	return storage.Retry(ctx, engine, func(tx storage.Tx) error {
		if err := serverdocs.AddIndexes(tx, oplog.Transactions, serverdocs.IDIndex); err != nil {
			return err
		}
		return serverdocs.AddIndexes(tx, oplog.Statements, bySession)
	})
}

// Stored is what a session remembers of its stored state, so that not every write has to
// look for it. The zero Stored knows nothing.
type Stored struct {
	Parts bool      // there may be parts
	Doc   value.Doc // the record, or nil if it does not exist; only kept with other servers

	coll [16]byte         // the UUID of config.transactions
	id   storage.RecordID // the id of the record; 0: unknown
}

// Load reads the record of a session. It returns nil if the session has no record.
func (s *Session) Load(tx storage.Tx) (value.Doc, error) {
	e, err := serverdocs.Find(tx, oplog.Transactions, value.Document(s.RecordID))
	if e.Doc == nil || err != nil {
		s.Stored = Stored{}
		return nil, err
	}
	parts, err := findParts(tx, s.RecordID)
	s.Stored = Stored{Parts: len(parts) > 0, Doc: e.Doc}
	s.Stored.coll, s.Stored.id = e.Place()
	return e.Doc, err
}

// CheckUnmoved fails if another server has gone on with the session since this one has read
// its record. A driver then sends the command again, and finds what has been done.
func (s *Session) CheckUnmoved(tx storage.Tx) error {
	d, err := serverdocs.Get(tx, oplog.Transactions, value.Document(s.RecordID))
	if err == nil && string(d) != string(s.Stored.Doc) {
		err = mongoerr.New(mongoerr.InterruptedDueToReplStateChange, "The session has been used on another server meanwhile")
	}
	return err
}

// Save writes the record of a session. What it returns is the session's Stored once the
// caller's transaction has been committed.
func (s *Session) Save(tx storage.Tx, d value.Doc, now int64) (Stored, error) {
	coll, err := serverdocs.Open(tx, oplog.Transactions)
	if err != nil {
		return Stored{}, err
	}
	at := Stored{Parts: s.Stored.Parts, coll: coll.Info().UUID}
	// The ids of a collection only grow: an id that is out of date is that of no record.
	if s.Stored.id != 0 && s.Stored.coll == at.coll {
		at.id = s.Stored.id
		if _, err = coll.Update(at.id, d, now); !errors.Is(err, storage.ErrNoRecord) {
			return at, err
		}
	}
	old, found, err := coll.Find(reserved.IDIndex, value.AppendKey(nil, value.Document(s.RecordID)))
	switch {
	case err != nil:
	case found:
		at.id = old.ID
		_, err = coll.Update(old.ID, d, now)
	default:
		at.id, err = coll.Insert(d, now)
	}
	return at, err
}

// Home has the sessions that are in use, on any server.
var Home = storage.Namespace{DB: "config", Coll: "system.sessions"}

// Reap removes the records of sessions that have ended and were last written before an
// instant, as many as one transaction removes; more reports whether there may be others. A
// session lives if live says so, or, with other servers, if it is in Home.
func Reap(ctx context.Context, engine storage.Engine, live func(RecordKey) bool, before int64) (more bool, err error) {
	old, err := ended(ctx, engine, live, before)
	if err != nil || len(old) == 0 {
		return false, err
	}
	return len(old) == oplog.TrimChunk, storage.Retry(ctx, engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Transactions)
		for i := 0; i < len(old) && err == nil; i++ {
			err = reapOne(tx, coll, old[i], before)
		}
		if errors.Is(err, storage.ErrNotFound) {
			return nil // somebody has dropped the collection
		}
		return err
	})
}

// reapOne removes the record of a session, unless the session has been used meanwhile.
func reapOne(tx storage.Tx, coll storage.Collection, id value.Doc, before int64) error {
	r, found, err := coll.Find(reserved.IDIndex, value.AppendKey(nil, value.Document(id)))
	if err != nil || !found || r.TS >= before {
		return err
	}
	if _, err := coll.Delete(r.ID); err != nil {
		return err
	}
	return dropParts(tx, id)
}

// ended returns the _ids of records that are to be removed, as many as one transaction
// removes.
func ended(ctx context.Context, engine storage.Engine, live func(RecordKey) bool, before int64) (old []value.Doc, err error) {
	err = engine.View(ctx, func(tx storage.Tx) error {
		old = old[:0]
		coll, err := tx.Collection(oplog.Transactions)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var failed error
		err = coll.Scan(storage.Range{}, func(rec storage.Record) bool {
			id := rec.Doc.Lookup("_id").Doc()
			if rec.TS >= before || live(readRecordKey(id)) {
				return true
			}
			var stored value.Doc
			if engine.Changes() != nil {
				stored, failed = serverdocs.Get(tx, Home, value.Document(id))
			}
			if stored == nil {
				old = append(old, id)
			}
			return failed == nil && len(old) < oplog.TrimChunk
		})
		return errors.Join(failed, err)
	})
	return old, err
}
