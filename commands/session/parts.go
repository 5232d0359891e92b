package session

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
)

// A part has outcomes of statements that do not fit into the session's record: {session,
// txnNum, statements}. It is written once, and removed when the session begins another
// number or its record is removed. A part whose number differs from that of the record is
// ignored.

// MaxPartBytes bounds the statements of a part, but for one that is larger by
// itself.
const MaxPartBytes = 1 << 20

// OpenStatements opens the collection of the parts. It returns nil if the collection
// does not exist yet.
func OpenStatements(tx storage.Tx) (storage.Collection, error) {
	coll, err := tx.Collection(oplog.Statements)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return coll, err
}

// openParts finds the stored parts.
func (r *Records) openParts(ctx context.Context, engine storage.Engine) error {
	r.parts = map[RecordKey][]storage.RecordID{}
	return engine.View(ctx, func(tx storage.Tx) error {
		coll, err := OpenStatements(tx)
		if err != nil || coll == nil {
			return err
		}
		return coll.Scan(storage.Range{}, func(rec storage.Record) bool {
			k := readRecordKey(rec.Doc.Lookup("session").Doc())
			r.parts[k] = append(r.parts[k], rec.ID)
			return true
		})
	})
}

// PartsOf returns where the parts of a session are.
func (r *Records) PartsOf(k RecordKey) []storage.RecordID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts[k]
}

// AddParts notes parts that were written, once that is committed.
func (r *Records) AddParts(k RecordKey, ids []storage.RecordID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[k] = append(r.parts[k], ids...)
}

// DropParts removes the parts of a session; ForgetParts follows once that is
// committed.
func (r *Records) DropParts(tx storage.Tx, k RecordKey) error {
	ids := r.PartsOf(k)
	if len(ids) == 0 {
		return nil
	}
	coll, err := OpenStatements(tx)
	if err != nil || coll == nil {
		return err
	}
	for _, id := range ids {
		if _, err := coll.Delete(id); err != nil && !errors.Is(err, storage.ErrNoRecord) {
			return err
		}
	}
	return nil
}

// ForgetParts notes that the parts of sessions are gone.
func (r *Records) ForgetParts(keys ...RecordKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keys {
		delete(r.parts, k)
	}
}
