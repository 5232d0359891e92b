package queue

import "github.com/duskdb/duskdb/storage"

// lane is an order in which ready messages are received: that of all of a queue, or that of
// one session.
type lane struct {
	index  string
	prefix []byte // what the keys begin with, before the number
}

// allReady is the lane of all ready messages.
var allReady = lane{index: byReady}

// sessionLane is the lane of the ready messages of a session.
func sessionLane(id string) lane { return lane{bySession, idKey(id)} }

// from is the range of the messages with a number of at least n.
func (l lane) from(n int64) storage.KeyRange {
	if len(l.prefix) == 0 {
		return storage.KeyRange{Lo: numberKey(n)}
	}
	return storage.KeyRange{Lo: append(l.prefix[:len(l.prefix):len(l.prefix)], numberKey(n)...), Hi: l.end()}
}

// end is a key behind all of a session's.
func (l lane) end() []byte { return append(l.prefix[:len(l.prefix):len(l.prefix)], 0xff) }
