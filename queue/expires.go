package queue

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Expiry is when and why a message expires.
type Expiry struct {
	Enqueued, TimeToLive int64
	At                   int64 // if HasExpiry
	HasExpiry            bool
	LockedUntil          int64 // 0: not locked
	Deferred, Dead       bool  // a pass leaves it where it is
}

// ExpiryOf reads the expiry of a stored or a shown message at an instant.
func ExpiryOf(d value.Doc, now int64) Expiry {
	m := decode(storage.Record{Doc: d})
	e := Expiry{Enqueued: m.enqueued, TimeToLive: m.timeToLive, At: m.expires, Deferred: m.state == deferred, Dead: m.isDead()}
	e.HasExpiry = m.hasExpiry && !e.Dead
	if m.held(now) {
		e.LockedUntil = m.lockedUntil
	}
	return e
}
