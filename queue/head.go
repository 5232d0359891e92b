package queue

import (
	"context"
	"math"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// # The head of a queue
//
// A receive takes the ready messages with the lowest numbers. After a long
// downtime, many messages at the head of the index byReady may have expired
// without having been removed. Removing them all would make one receive take
// arbitrarily long, and skipping them one by one would make every receive pay
// for the whole backlog. So a command removes at most dueShare of them, and
// readyHead remembers the number below which no ready message is unexpired;
// receivers start from there.
//
// Two things can make that number too high: a message below it that becomes
// ready again (an abandoned or lapsed lock, a schedule that is due), and a
// clock that is set back in a test. The first lowers the number (release), and
// counts in released, so that a scan which began before it cannot raise the
// number over it (advance). The second is handled by since: for an earlier
// instant, the number does not count.
//
// Likewise, a receiver of a queue with sessions that wants the next one need not pass the
// messages of all sessions that others hold: there the number is one below which every ready
// message has expired or belongs to such a session. That holds until the first of their locks
// ends, and releasing a session releases its messages.
//
// The number is only kept in memory. After a restart the first receiver finds
// it again from the indexes byExpiry and byReady alone (firstUnexpired), in a
// read transaction, so that writers do not wait.
//
// Other servers do not report in time what they make ready again. With other servers the
// number is therefore not kept (Broker.Shared): while there is a backlog, each receive
// finds the first message from the indexes. Neither is one that was found in an open
// transaction, in whose view messages are missing that an abort gives back.

// readyHead is a number below which no ready message of a queue can be received: it has
// expired, or somebody holds its session. It saves receivers from reading a long backlog of
// such messages again.
type readyHead struct {
	mu    sync.Mutex
	since int64 // the instant at which number was found; it does not hold for earlier ones
	mark
}

// mark is what is known of a head at an instant.
type mark struct {
	number   int64
	until    int64 // the instant from which number does not hold
	released int64 // how often a message became ready
}

// at returns the number to start from at an instant, in a mark to pass to advance.
func (f *readyHead) at(now int64) mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now < f.since || now >= f.until {
		return mark{until: math.MaxInt64, released: f.released}
	}
	return f.mark
}

// advance stores a mark with the number found by a scan that began with what at returned. It
// ignores the number if a message has become ready since, because that may have a lower
// number.
func (f *readyHead) advance(m mark, now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.released == f.released {
		f.mark, f.since = m, now
	}
}

// release records that a message has become ready.
func (f *readyHead) release(number int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released++
	f.number = min(f.number, number)
}

// first finds the first message that can be received, and skips up to limit
// expired ones after the head. from is the number to start from, and ended
// reports whether all messages were examined.
func (e *entity) first(l lane, limit int) (from int64, found, ended bool, err error) {
	if !e.dead && l.index == byReady {
		from = e.state.head.at(e.now).number
	}
	ready, from, ended, err := e.receivable(l, from, 1, limit)
	return from, len(ready) > 0, ended, err
}

// receivable collects up to n ready, unexpired messages in the order of their
// numbers, from a number on, and skips up to limit expired ones. next is the
// number after the expired messages before the first one found, and ended
// reports whether there are no more messages.
func (e *entity) receivable(l lane, from int64, n, limit int) (ready []message, next int64, ended bool, err error) {
	next, ended = from, true
	err = walk(e.coll, l.index, l.from(from), func(m *message) bool {
		if e.dead || !m.expired(e.now) {
			ready = append(ready, *m)
		} else if limit--; len(ready) == 0 {
			next = m.number + 1
		}
		ended = len(ready) < n && limit >= 0
		return ended
	})
	return ready, next, ended, err
}

// firstUnexpired returns the number of the first ready message that has not
// expired, or the number after all of them. It reads only the indexes: a ready
// message that has expired is in both.
func (e *entity) firstUnexpired(l lane, from int64) (int64, error) {
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
	err = e.coll.ScanIndex(l.index, l.from(from), func(_ []byte, id storage.RecordID) bool {
		_, dead := expired[id]
		last, found = id, !dead
		return dead
	})
	if err != nil || last == 0 {
		return from, err
	}
	r, ok, err := e.coll.Get(last)
	if ok {
		m := decode(r)
		if from = m.number; !found {
			from++
		}
	}
	return from, err
}

// skipExpired moves the head of a queue past all expired messages, without
// blocking writers, and returns the number after them. The heads of sessions are not kept.
func (b *Broker) skipExpired(ctx context.Context, s Store, ref Ref, l lane, now int64) (from int64, err error) {
	var q *runtimeState
	err = b.view(ctx, s, ref, now, func(e *entity) error { q = e.state; return nil })
	if err != nil {
		return 0, err
	}
	kept := l.index == byReady
	var head mark
	if kept { // read before the view begins
		head = q.head.at(now)
	}
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		from, err = e.firstUnexpired(l, head.number)
		return err
	})
	if err == nil && kept && b.keepsHeads(s) {
		head.number = from
		q.head.advance(head, now)
	}
	return from, err
}

// keepsHeads reports whether heads that a command finds may be kept for others.
func (b *Broker) keepsHeads(s Store) bool { return !b.Shared && !s.InTransaction() }
