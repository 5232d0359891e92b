package queue

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// stateName is the collection of a database with one record for each queue:
// the next sequence number, the last activity, and the subscriptions of a topic. Records are found by the
// UUID of the queue's collection, which renaming does not change. Clients
// cannot use a name that begins with "$".
const stateName = "$mq"

func stateNamespace(db string) storage.Namespace {
	return storage.Namespace{DB: db, Coll: stateName}
}

// ledger is a queue's record in that collection.
type ledger struct {
	entry    serverdocs.Entry
	next     int64
	activity int64

	subscriptions []string // the names of a topic's subscriptions, in the order they were created
}

// readLedger finds the record of a queue. If it is missing, the numbers continue
// behind the highest that is in use.
func readLedger(tx storage.Tx, db string, uuid [16]byte) (l ledger, err error) {
	l.entry, err = serverdocs.Find(tx, stateNamespace(db), value.Binary(4, uuid[:]))
	l.next = max(1, l.entry.Doc.Lookup("nextSequenceNumber").Int64())
	l.activity = l.entry.Doc.Lookup("lastActivityUtc").DateTime()
	if list := l.entry.Doc.Lookup("subscriptions"); list.Kind() == value.KindArray {
		for v := range list.Doc().Values() {
			l.subscriptions = append(l.subscriptions, v.Str())
		}
	}
	return l, err
}

// write stores the record.
func (l *ledger) write(uuid [16]byte, now int64) error {
	b := value.NewBuilder()
	b.Append("_id", value.Binary(4, uuid[:])).Int64("nextSequenceNumber", l.next).Date("lastActivityUtc", l.activity)
	if len(l.subscriptions) > 0 {
		b.StartArray("subscriptions")
		for _, name := range l.subscriptions {
			b.String("", name)
		}
		b.End()
	}
	return l.entry.Put(b.Doc(), now)
}

// remove forgets a queue, and the collection with the last of them.
func (l *ledger) remove() error { return l.entry.DeleteAndDrop() }
