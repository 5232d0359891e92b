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

// Store runs transactions. A storage.Engine is one; the commands have their
// own, which waits for conflicting transactions to end.
type Store interface {
	View(ctx context.Context, fn func(storage.Tx) error) error
	Update(ctx context.Context, fn func(storage.Tx) error) error
}

// Broker runs the queues of a server. It is safe for concurrent use.
type Broker struct {
	clock   clock.Clock // of the server: everything that expires
	real    clock.Clock // how long a receiver waits
	metrics *ttl.Metrics
	jumps   func() // ends the registration with a manual clock
	share   int    // of what is due, that a command deals with

	mu     sync.Mutex
	queues map[[16]byte]*live
	closed bool
}

// live is what is known of a queue while the server runs.
type live struct {
	activity atomic.Int64 // last, in milliseconds; never below the stored one
	config   atomic.Pointer[cachedConfig]
	front    front
	main     waiters
	dead     waiters
}

// cachedConfig is the Config of one version of a collection's description.
type cachedConfig struct {
	info *storage.Info
	Config
}

// NewBroker makes a Broker. Messages live by the server's clock; how long a
// receiver is willing to wait is also measured by the real one, which goes
// on if the other is frozen. m counts what happens to messages without
// anybody asking for it.
func NewBroker(server, real clock.Clock, m *ttl.Metrics) *Broker {
	b := &Broker{clock: server, real: real, metrics: m, queues: map[[16]byte]*live{}, jumps: func() {}, share: dueShare}
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
	b.each(func(q *live) { q.wakeAll(nil) })
}

func (b *Broker) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// queue returns what is known of the queue with a UUID.
func (b *Broker) queue(uuid [16]byte) *live {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[uuid]
	if q == nil {
		q = &live{}
		b.queues[uuid] = q
	}
	return q
}

// each calls fn for every queue, without holding the lock.
func (b *Broker) each(fn func(*live)) {
	b.mu.Lock()
	all := make([]*live, 0, len(b.queues))
	for _, q := range b.queues {
		all = append(all, q)
	}
	b.mu.Unlock()
	for _, q := range all {
		fn(q)
	}
}

// forget drops what is known of a queue and wakes who waits for it.
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
func (q *live) wakeAll(ack *sync.WaitGroup) {
	q.main.wakeAll(ack)
	q.dead.wakeAll(ack)
}

// configOf reads the options of a queue, once for each version of them.
func (q *live) configOf(info *storage.Info) (*Config, error) {
	if c := q.config.Load(); c != nil && c.info == info {
		return &c.Config, nil
	}
	parsed, err := ParseConfig("options", info.Options.Lookup(Option))
	if err != nil {
		return nil, err
	}
	c := &cachedConfig{info, parsed}
	q.config.Store(c)
	return &c.Config, nil
}

// used notes an activity.
func (q *live) used(now int64) {
	for {
		last := q.activity.Load()
		if last >= now || q.activity.CompareAndSwap(last, now) {
			return
		}
	}
}

// effects is what a transaction does beside its writes. It is applied once
// the transaction has committed, because until then it may be tried again.
type effects struct {
	activity    int64
	ready, dead int   // messages that can be received now
	due         int64 // the earliest instant at which more may be received; 0: none
	deadDue     int64 // the same for the dead-letter queue
	lowest      int64 // number among the messages of the queue that became ready; 0: none
	activated   int   // scheduled messages

	dropped, expired, lapsed, failed int64
}

// note looks at a message that was written for what will become of it.
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
	case m.mortal && m.state == active && !dead:
		out.deadDue = earlier(out.deadDue, m.expires)
	}
}

// earlier is the earlier of two instants, or the lower of two numbers; 0 is
// none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// add joins the effects of two writes of one transaction.
func (out *effects) add(o *effects) {
	out.activity = max(out.activity, o.activity)
	out.ready, out.dead = out.ready+o.ready, out.dead+o.dead
	out.due, out.deadDue = earlier(out.due, o.due), earlier(out.deadDue, o.deadDue)
	out.lowest, out.activated = earlier(out.lowest, o.lowest), max(out.activated, o.activated)
	out.dropped, out.expired = out.dropped+o.dropped, out.expired+o.expired
	out.lapsed, out.failed = out.lapsed+o.lapsed, out.failed+o.failed
}

// apply counts, makes known what is ready, and wakes.
func (b *Broker) apply(q *live, out *effects) {
	if out.activity != 0 {
		q.used(out.activity)
	}
	if out.dropped|out.expired|out.lapsed|out.failed != 0 {
		b.metrics.ExpiredDropped.Add(out.dropped)
		b.metrics.ExpiredDeadLettered.Add(out.expired)
		b.metrics.LocksLapsed.Add(out.lapsed)
		b.metrics.MaxDeliveryDeadLettered.Add(out.failed)
	}
	if out.lowest != 0 {
		q.front.release(out.lowest)
	}
	q.main.wake(out.ready, out.due)
	q.dead.wake(out.dead, out.deadDue)
}
