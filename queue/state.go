package queue

import (
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// StateNamespace is the collection with one record for each queue: the next
// sequence number and the last activity. Records are found by the UUID of
// the queue's collection, which renaming does not change.
var StateNamespace = storage.Namespace{DB: "config", Coll: "system.messageQueues"}

// ledger is a queue's record in StateNamespace.
type ledger struct {
	coll     storage.Collection // nil if there is none yet
	id       storage.RecordID   // 0 if it is not stored yet
	next     int64
	activity int64
}

// readLedger finds the record of a queue. If it is gone, the numbers go on
// behind the highest that is in use.
func readLedger(tx storage.Tx, uuid [16]byte) (l ledger, err error) {
	l.next = 1
	l.coll, err = tx.Collection(StateNamespace)
	if errors.Is(err, storage.ErrNotFound) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	r, ok, err := l.coll.Find(idIndex, value.AppendKey(nil, value.Binary(4, uuid[:])))
	if err != nil || !ok {
		return l, err
	}
	l.id = r.ID
	l.next = max(l.next, r.Doc.Lookup("nextSequenceNumber").Int64())
	l.activity = r.Doc.Lookup("lastActivityUtc").DateTime()
	return l, nil
}

// write stores the record.
func (l *ledger) write(tx storage.Tx, uuid [16]byte, now int64) (err error) {
	if l.coll == nil {
		if l.coll, err = tx.Create(StateNamespace, value.EmptyDoc, []storage.IndexSpec{idSpec()}); err != nil {
			return err
		}
	}
	b := value.NewBuilder()
	b.Append("_id", value.Binary(4, uuid[:])).Int64("nextSequenceNumber", l.next).Date("lastActivityUtc", l.activity)
	d := b.Doc()
	if l.id != 0 {
		return l.coll.Update(l.id, d, now)
	}
	l.id, err = l.coll.Insert(d, now)
	return err
}

// remove forgets a queue.
func (l *ledger) remove() error {
	if l.id == 0 {
		return nil
	}
	return l.coll.Delete(l.id)
}
