package queue

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// front remembers a number below which no message of a queue that is ready is
// alive: all have expired and wait to be removed. It keeps receivers from
// looking at a long backlog again and again.
type front struct {
	mu       sync.Mutex
	number   int64
	since    int64 // the instant of which this was learnt, and before which it says nothing
	released int64 // how often a message became ready
}

// at is the number to look from at an instant.
func (f *front) at(now int64) (from, released int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now < f.since {
		return 0, f.released
	}
	return f.number, f.released
}

// advance notes what somebody has seen who began to look when so many messages
// had been released: if there are more by now, one may be below the number.
func (f *front) advance(number, now, released int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if released == f.released {
		f.number, f.since = number, now
	}
}

// release notes that a message has become ready.
func (f *front) release(number int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released++
	f.number = min(f.number, number)
}

// first finds the first message that can be received, at most so many expired
// ones behind the front. from is the number to look from, ended tells that all
// have been looked at.
func (e *entity) first(most int) (from int64, found, ended bool, err error) {
	if !e.dead {
		from, _ = e.live.front.at(e.now)
	}
	ready, from, ended, err := e.alive(from, 1, most)
	return from, len(ready) > 0, ended, err
}

// alive collects up to n messages that are ready and have not expired, in the
// order of their numbers from one on. It passes at most so many that have.
// next is behind those before the first that it found, ended tells that there
// are no more.
func (e *entity) alive(from int64, n, most int) (ready []message, next int64, ended bool, err error) {
	next, ended = from, true
	r := storage.KeyRange{Lo: numberKey(from)}
	err = walk(e.coll, byReady, r, func(m *message) bool {
		if e.dead || !m.expired(e.now) {
			ready = append(ready, *m)
		} else if most--; len(ready) == 0 {
			next = m.number + 1
		}
		ended = len(ready) < n && most >= 0
		return ended
	})
	return ready, next, ended, err
}

// behindExpired is the number from which on the first ready message is alive, or
// behind them all. It goes by the indexes alone: each message that is ready and
// has expired is in both.
func (e *entity) behindExpired(from int64) (int64, error) {
	expired := map[storage.RecordID]struct{}{}
	err := e.coll.ScanIndex(byExpiry, until(e.now), func(_ []byte, id storage.RecordID) bool {
		expired[id] = struct{}{}
		return true
	})
	if err != nil {
		return from, err
	}
	var last storage.RecordID
	found := false
	err = e.coll.ScanIndex(byReady, storage.KeyRange{Lo: numberKey(from)}, func(_ []byte, id storage.RecordID) bool {
		_, dead := expired[id]
		last, found = id, !dead
		return dead
	})
	if r, ok := e.coll.Get(last); ok && err == nil {
		m := decode(r)
		if from = m.number; !found {
			from++
		}
	}
	return from, err
}

// passExpired moves the front of a queue over all messages that have expired,
// without holding up writers, and returns the number behind them.
func (b *Broker) passExpired(ctx context.Context, s Store, ref Ref, now int64) (from int64, err error) {
	var q *live
	err = b.view(ctx, s, ref, now, func(e *entity) error { q = e.live; return nil })
	if err != nil {
		return 0, err
	}
	// Read before the state that is looked at.
	from, released := q.front.at(now)
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		from, err = e.behindExpired(from)
		return err
	})
	if err == nil {
		q.front.advance(from, now, released)
	}
	return from, err
}
