package queue

import (
	"cmp"

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

// Fate is what happens to the expired messages of a queue.
type Fate struct {
	MovesTo   string // the collection that gets them; "": they are deleted
	OnReceive bool   // whether only receivers remove them, and passes do not
}

// FateOf reads it from the options of the queue.
func FateOf(info *storage.Info) (f Fate) {
	kind, option := KindOf(info.Options)
	if kind == 0 {
		return f
	}
	f.OnReceive = option.Lookup("expireOnReceiveOnly").Truthy()
	if option.Lookup("deadLetteringOnMessageExpiration").Truthy() {
		f.MovesTo = cmp.Or(option.Lookup("forwardDeadLetteredMessagesTo").Str(), DeadLetterName(info.Namespace.Coll))
	}
	return f
}
