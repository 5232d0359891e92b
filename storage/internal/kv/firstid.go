package kv

import (
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// firstID remembers where the records of a collection begin. Collections whose
// oldest records are deleted again and again, such as a log, begin with what is
// left of many deleted ones in the store, over which each scan from the beginning
// would walk. Ids only grow: what is below the first record of a state never
// comes back.
type firstID struct{ known atomic.Pointer[knownFirst] }

// knownFirst says that the state of a stamp, and all later ones, have no record
// below an id.
type knownFirst struct {
	id    storage.RecordID
	stamp uint64
}

// at returns an id below which the state of a stamp has no records. known is
// false if the state is older than what is known.
func (l *firstID) at(stamp uint64) (id storage.RecordID, known bool) {
	b := l.known.Load()
	switch {
	case b == nil:
		return 1, true
	case b.stamp > stamp:
		return 1, false
	}
	return b.id, true
}

// raise notes that the state of a stamp has no record below an id.
func (l *firstID) raise(id storage.RecordID, stamp uint64) {
	for {
		b := l.known.Load()
		if b != nil && (b.id >= id || b.stamp > stamp) || b == nil && id <= 1 {
			return
		}
		if l.known.CompareAndSwap(b, &knownFirst{id, stamp}) {
			return
		}
	}
}
