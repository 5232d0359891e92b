package queue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// Store runs transactions for the broker: as those of a command, or as the server's own.
type Store interface {
	View(ctx context.Context, fn func(storage.Tx) error) error
	// Update runs fn in a writing transaction, perhaps several times. It applies the
	// Changes that fn gets when the transaction has been committed.
	Update(ctx context.Context, fn func(storage.Tx, *Changes) error) error
	// InTransaction reports whether they are parts of an open transaction, whose writes they
	// see and which may be undone.
	InTransaction() bool
}

// Broker runs the queues of a server. It is safe for concurrent use.
type Broker struct {
	clock   clock.Clock // the server's clock, by which messages expire
	real    clock.Clock // measures how long a receiver waits
	metrics *ttl.Metrics
	jumps   func() // ends the registration with a manual clock
	share   int    // maximum number of due messages that a command processes

	// Shared must be set before use if other servers have the same queues.
	Shared bool
	// MaxCopies is how many copies of messages a transaction may make. It must not be changed
	// during use.
	MaxCopies int

	mu     sync.Mutex
	queues map[[16]byte]*runtimeState
	closed bool
}

// runtimeState is the state of a queue that lives in memory only.
type runtimeState struct {
	uuid     [16]byte
	activity atomic.Int64 // instant of the last activity; never before the stored one
	config   atomic.Pointer[cachedConfig]
	head     readyHead
	main     waiters
	dead     waiters

	elsewhere changed // messages changed by other servers
}

// cachedConfig is the parsed Config of one version of a collection's
// description.
type cachedConfig struct {
	version uint64 // the version of the parsed description
	Config
}

// NewBroker returns a Broker. Messages expire by the server's clock. A
// receiver's wait is also limited by the real clock, which runs on if the
// other is frozen. m counts the removals and moves that no client requested.
func NewBroker(server, real clock.Clock, m *ttl.Metrics) *Broker {
	b := &Broker{clock: server, real: real, metrics: m, queues: map[[16]byte]*runtimeState{}, jumps: func() {}, share: dueShare, MaxCopies: maxCopies}
	if m, ok := server.(*clock.Manual); ok {
		b.jumps = m.OnJump(func(time.Time) { b.reconsider() })
	}
	return b
}

// Close wakes all waiting receivers, which then return empty-handed.
func (b *Broker) Close() {
	b.jumps()
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.each(func(q *runtimeState) { q.wakeAll(nil) })
}

func (b *Broker) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// queue returns the runtime state of the queue with a UUID.
func (b *Broker) queue(uuid [16]byte) *runtimeState {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[uuid]
	if q == nil {
		q = &runtimeState{uuid: uuid}
		b.queues[uuid] = q
	}
	return q
}

// each calls fn for every queue, without holding the lock.
func (b *Broker) each(fn func(*runtimeState)) {
	b.mu.Lock()
	all := make([]*runtimeState, 0, len(b.queues))
	for _, q := range b.queues {
		all = append(all, q)
	}
	b.mu.Unlock()
	for _, q := range all {
		fn(q)
	}
}

// forget drops the runtime state of a queue and wakes its waiting receivers.
func (b *Broker) forget(uuid [16]byte) {
	b.mu.Lock()
	q := b.queues[uuid]
	delete(b.queues, uuid)
	b.mu.Unlock()
	if q != nil {
		q.wakeAll(nil)
	}
}

// wakeAll wakes all receivers of the queue and of its dead-letter queue.
func (q *runtimeState) wakeAll(ack *sync.WaitGroup) {
	q.main.wakeAll(ack)
	q.dead.wakeAll(ack)
}

// used records an activity.
func (q *runtimeState) used(now int64) {
	for {
		last := q.activity.Load()
		if last >= now || q.activity.CompareAndSwap(last, now) {
			return
		}
	}
}

// effects are the consequences of a transaction for one queue beside its writes: counters
// and wake-ups.
type effects struct {
	queue [16]byte // the UUID of the queue

	activity    int64 // instant of the last activity
	ready, dead int   // messages that can be received now, and those in the dead-letter queue
	due         int64 // the earliest instant at which more messages may be received; 0: none
	deadDue     int64 // the same for the dead-letter queue
	lowest      int64 // lowest sequence number that became ready; 0: none
	activated   int   // scheduled messages that became active
	managed     int64 // messages that a purge removed or a resubmission moved

	dropped int64 // expired messages that were removed
	expired int64 // expired messages that were moved to the dead-letter queue
	lapsed  int64 // locks that ended without an answer
	failed  int64 // messages moved to the dead-letter queue after their last delivery

	lags *ttl.Lags // delays of the removal of expired messages; nil before the first
}

// note updates the effects for a message that was written.
func (out *effects) note(m *message, dead bool) {
	if !dead && ifReady(m) > 0 && !m.locked {
		out.lowest = earlier(out.lowest, m.number)
	}
	switch {
	case m.locked && dead:
		out.deadDue = earlier(out.deadDue, m.lockedUntil)
	case m.locked:
		out.due = earlier(out.due, m.lockedUntil)
		out.deadDue = earlier(out.deadDue, m.lockedUntil)
	case m.state == scheduled:
		out.due = earlier(out.due, m.due)
		out.deadDue = earlier(out.deadDue, m.due)
	case m.hasExpiry && m.state == active && !dead:
		out.deadDue = earlier(out.deadDue, m.expires)
	}
}

// earlier returns the earlier of two instants, or the lower of two numbers,
// where 0 stands for no value.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// apply updates the counters and the queue's head, and wakes receivers.
func (b *Broker) apply(out *effects) {
	q := b.queue(out.queue)
	if out.activity != 0 {
		q.used(out.activity)
	}
	if out.dropped|out.expired|out.lapsed|out.failed != 0 {
		b.metrics.ExpiredDropped.Add(out.dropped)
		b.metrics.ExpiredDeadLettered.Add(out.expired)
		b.metrics.LocksLapsed.Add(out.lapsed)
		b.metrics.MaxDeliveryDeadLettered.Add(out.failed)
		b.metrics.Messages(q.uuid, ttl.Counts{Removed: out.dropped + out.expired, Moved: out.expired})
		if out.lags != nil {
			b.metrics.Lagged(ttl.Message, out.lags)
		}
	}
	if out.lowest != 0 {
		q.head.release(out.lowest)
	}
	if out.ready > 0 && q.hasSessions() { // only some of the receivers can take the messages
		q.main.wakeAll(nil)
	} else {
		q.main.wake(out.ready, out.due)
	}
	q.dead.wake(out.dead, out.deadDue)
}

// hasSessions reports whether the queue has sessions, as far as it is known.
func (q *runtimeState) hasSessions() bool {
	c := q.config.Load()
	return c != nil && c.RequiresSession
}
