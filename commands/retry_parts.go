package commands

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A part holds outcomes of statements that the session's record has no room
// for: {session, txnNum, statements}. It is written once, and removed when the
// session begins another number or its record is removed. One whose number is
// not that of the record counts for nothing.

// mostPartBytes bounds the statements of a part, but for one that is larger by
// itself.
const mostPartBytes = 1 << 20

// openStatements opens the collection of the parts; nil if there is none yet.
func openStatements(tx storage.Tx) (storage.Collection, error) {
	coll, err := tx.Collection(statementsNS)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return coll, err
}

// openParts finds the parts that an earlier process has left.
func (r *sessionRecords) openParts(ctx context.Context, engine storage.Engine) error {
	r.parts = map[recordKey][]storage.RecordID{}
	return engine.View(ctx, func(tx storage.Tx) error {
		coll, err := openStatements(tx)
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

func (r *sessionRecords) partsOf(k recordKey) []storage.RecordID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts[k]
}

func (r *sessionRecords) addParts(k recordKey, ids []storage.RecordID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[k] = append(r.parts[k], ids...)
}

// dropParts removes the parts of a session; forgetParts follows once that is
// committed.
func (r *sessionRecords) dropParts(tx storage.Tx, k recordKey) error {
	ids := r.partsOf(k)
	if len(ids) == 0 {
		return nil
	}
	coll, err := openStatements(tx)
	if err != nil || coll == nil {
		return err
	}
	for _, id := range ids {
		if err := coll.Delete(id); err != nil && !errors.Is(err, storage.ErrNoRecord) {
			return err
		}
	}
	return nil
}

func (r *sessionRecords) forgetParts(keys ...recordKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keys {
		delete(r.parts, k)
	}
}

// saveParts writes outcomes as parts of the running command's session.
func (c *Call) saveParts(tx storage.Tx, statements []retriedStatement) (ids []storage.RecordID, err error) {
	coll, err := ensureCollection(tx, statementsNS, false)
	if err != nil {
		return nil, err
	}
	for len(statements) > 0 {
		b := value.NewBuilder()
		b.Document("session", c.session.recordID).Int64("txnNum", *c.generic.txnNumber).StartArray("statements")
		n := 0
		for n < len(statements) && b.Len() < mostPartBytes {
			statements[n].append(b)
			n++
		}
		statements = statements[n:]
		id, err := coll.Insert(b.End().Doc(), c.now)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// readParts adds the outcomes in the parts of the session to its history.
func (c *Call) readParts(tx storage.Tx) error {
	ss := c.session
	ids := c.svc.records.partsOf(ss.record)
	if len(ids) == 0 {
		return nil
	}
	coll, err := openStatements(tx)
	if err != nil || coll == nil {
		return err
	}
	for _, id := range ids {
		rec, ok := coll.Get(id)
		if !ok || rec.Doc.Lookup("txnNum").Int64() != ss.number {
			continue
		}
		ss.history.parts = true
		for v := range rec.Doc.Lookup("statements").Doc().Values() {
			ss.history.add(readStatement(v.Doc()))
		}
	}
	return nil
}
