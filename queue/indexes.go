package queue

import (
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The internal indexes of a queue. Each is a sparse index on one field of _mq;
// a message is in the index while it has the field.
const (
	byNumber   = "$mq.number"   // all, by sequence number
	byReady    = "$mq.ready"    // neither locked nor deferred nor scheduled, by number
	byDeferred = "$mq.deferred" // deferred and not locked, by number
	byExpiry   = "$mq.expiry"   // ready ones that expire, by that instant
	byLock     = "$mq.lock"     // locked ones, by the instant the lock ends
	bySchedule = "$mq.schedule" // scheduled ones, by the instant they are due
	bySession  = "$mq.session"  // ready ones, by session and number
	byHolder   = "$mq.holder"   // locked ones, by session
)

// queueIndexes are the indexes with the fields of _mq that they read.
var queueIndexes = []struct {
	index    string
	fields   []string
	unique   bool
	dead     bool // whether a dead-letter queue has it
	sessions bool // whether only a queue with sessions has it
}{
	{index: byNumber, fields: []string{"sequenceNumber"}, unique: true, dead: true},
	{index: byReady, fields: []string{"ready"}, dead: true},
	{index: byDeferred, fields: []string{"deferred"}, dead: true},
	{index: byExpiry, fields: []string{"expiry"}},
	{index: byLock, fields: []string{"lockedUntilUtc"}, dead: true},
	{index: bySchedule, fields: []string{"scheduledEnqueueTimeUtc"}},
	{index: bySession, fields: []string{"readySession", "ready"}, sessions: true},
	{index: byHolder, fields: []string{"heldSession"}, sessions: true},
}

// Indexes returns the internal indexes of a queue, topic or subscription.
func Indexes(c *Config) []storage.IndexSpec { return indexes(false, c.RequiresSession) }

// DeadLetterIndexes returns the internal indexes of a dead-letter queue.
func DeadLetterIndexes() []storage.IndexSpec { return indexes(true, false) }

func indexes(dead, sessions bool) []storage.IndexSpec {
	var specs []storage.IndexSpec
	for _, o := range queueIndexes {
		if dead && !o.dead || o.sessions && !sessions {
			continue
		}
		key, b := value.NewBuilder(), value.NewBuilder()
		for _, f := range o.fields {
			key.Int32(Field+"."+f, 1)
		}
		b.Int32("v", 2).Document("key", key.Doc()).String("name", o.index).Bool("sparse", true)
		if o.unique {
			b.Bool("unique", true)
		}
		specs = append(specs, storage.IndexSpec{Name: o.index, Spec: b.Doc()})
	}
	return specs
}

// IDIndex is the specification of the index on _id of a dead-letter queue.
func IDIndex() storage.IndexSpec {
	return storage.IndexSpec{Name: reserved.IDIndex, Spec: value.NewDoc(
		"v", value.Int32(2), "key", value.Document(value.NewDoc("_id", value.Int32(1))), "name", value.String(reserved.IDIndex))}
}

// until returns the range of an index of dates up to and including an instant.
func until(now int64) storage.KeyRange {
	return storage.KeyRange{Hi: append(value.AppendKey(nil, value.DateTime(now)), 0)}
}

// numberKey is the key of a number in byNumber, byReady and byDeferred.
func numberKey(n int64) []byte { return value.AppendKey(nil, value.Int64(n)) }

// heads returns the first records of an index within a range, at most n.
func heads(coll storage.Collection, index string, r storage.KeyRange, n int) ([]message, error) {
	if n <= 0 {
		return nil, nil
	}
	var out []message
	err := coll.ScanRecords(index, r, func(_ []byte, r storage.Record) bool {
		out = append(out, decode(r))
		return len(out) < n
	})
	return out, err
}

// remove deletes a record.
func remove(coll storage.Collection, id storage.RecordID) error {
	_, err := coll.Delete(id)
	return err
}

// walk decodes the records of an index within a range until fn returns false.
// The message is valid during the call.
func walk(coll storage.Collection, index string, r storage.KeyRange, fn func(*message) bool) error {
	var m message
	return coll.ScanRecords(index, r, func(_ []byte, r storage.Record) bool {
		m = decode(r)
		return fn(&m)
	})
}

// anyIn reports whether an index has an entry within a range.
func anyIn(coll storage.Collection, index string, r storage.KeyRange) (found bool, err error) {
	err = coll.ScanIndex(index, r, func([]byte, storage.RecordID) bool { found = true; return false })
	return found, err
}

// countIn counts the entries of an index within a range.
func countIn(coll storage.Collection, index string, r storage.KeyRange) (n int64, err error) {
	err = coll.ScanIndex(index, r, func([]byte, storage.RecordID) bool { n++; return true })
	return n, err
}

// find returns the message with a sequence number.
func find(coll storage.Collection, number int64) (message, bool, error) {
	r, ok, err := coll.Find(byNumber, numberKey(number))
	if err != nil || !ok {
		return message{}, false, err
	}
	return decode(r), true, nil
}
