package queue

import (
	"errors"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// stateName is the collection of a database with one record for each queue:
// the next sequence number and the last activity. Records are found by the
// UUID of the queue's collection, which renaming does not change. Clients
// cannot use a name that begins with "$".
const stateName = "$mq"

func stateNamespace(db string) storage.Namespace {
	return storage.Namespace{DB: db, Coll: stateName}
}

// ledger is a queue's record in that collection.
type ledger struct {
	ns       storage.Namespace  // of coll
	coll     storage.Collection // nil if it does not exist yet
	id       storage.RecordID   // 0 if it is not stored yet
	next     int64
	activity int64
}

// readLedger finds the record of a queue. If it is missing, the numbers
// continue after the highest one in use.
func readLedger(tx storage.Tx, db string, uuid [16]byte) (l ledger, err error) {
	l.next, l.ns = 1, stateNamespace(db)
	l.coll, err = tx.Collection(l.ns)
	if errors.Is(err, storage.ErrNotFound) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	r, ok, err := l.coll.Find(reserved.IDIndex, value.AppendKey(nil, value.Binary(4, uuid[:])))
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
		if l.coll, err = tx.Create(l.ns, value.EmptyDoc, []storage.IndexSpec{IDIndex()}); err != nil {
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

// remove deletes the record of a queue, and the collection with the last
// record.
func (l *ledger) remove(tx storage.Tx) error {
	if l.id == 0 {
		return nil
	}
	if l.coll.Count() == 1 {
		return tx.Drop(l.ns)
	}
	return l.coll.Delete(l.id)
}
