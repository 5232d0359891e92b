package queue

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// Gauge says how full a queue is, for monitoring: it costs a few reads of indexes, however
// many messages there are.
type Gauge struct {
	// Active, Locked, Deferred, Scheduled and Expired are messages by their state, as
	// [Stats] has them, but what falls due is not looked at: a message whose lock has
	// ended, or whose time has come, counts as active until the server has stored its new
	// state, even if it has expired meanwhile or goes to the dead letters.
	Active, Locked, Deferred, Scheduled, Expired int64
	DeadLettered                                 int64
	// Oldest is when the first message that can be received was sent, if HasOldest.
	Oldest    int64
	HasOldest bool
	// Expiry is the expiry of the messages.
	Expiry ttl.Gauge
}

// Add adds another queue.
func (g *Gauge) Add(o Gauge) {
	g.Active += o.Active
	g.Locked += o.Locked
	g.Deferred += o.Deferred
	g.Scheduled += o.Scheduled
	g.Expired += o.Expired
	g.DeadLettered += o.DeadLettered
	if o.HasOldest && (!g.HasOldest || o.Oldest < g.Oldest) {
		g.Oldest, g.HasOldest = o.Oldest, true
	}
	g.Expiry.Add(o.Expiry)
}

// oldestWithin bounds the expired messages before the oldest one that can be received,
// which are read to find it.
const oldestWithin = 64

// Gauge describes a queue. It does not count as activity.
func (b *Broker) Gauge(tx storage.Tx, ns storage.Namespace, now int64, budget *ttl.Budget) (g Gauge, err error) {
	e, err := b.open(tx, Ref{Namespace: ns}, now, b.Changes())
	if err != nil {
		return g, err
	}
	dead, err := e.deadLetters()
	if err != nil {
		return g, err
	}
	if dead != nil {
		if g.DeadLettered, err = dead.Count(); err != nil {
			return g, err
		}
	}
	for _, c := range []struct {
		index string
		n     *int64
	}{{byReady, &g.Active}, {byDeferred, &g.Deferred}} {
		s, err := e.main.IndexStats(c.index)
		if err != nil {
			return g, err
		}
		*c.n = s.Entries
	}
	for _, c := range []struct {
		index string
		n     *int64
	}{{byLock, &g.Locked}, {bySchedule, &g.Scheduled}} {
		due, err := ttl.GaugeDates(e.main, ttl.Message, c.index, now, budget)
		if err != nil {
			return g, err
		}
		*c.n = due.Pending - due.Overdue
		g.Active += due.Overdue
	}
	if g.Expiry, err = ttl.GaugeDates(e.main, ttl.Message, byExpiry, now, budget); err != nil {
		return g, err
	}
	g.Expired = g.Expiry.Overdue
	g.Active = max(g.Active-g.Expired, 0)
	if g.Active == 0 {
		return g, nil
	}
	from := int64(0)
	if !e.config.RequiresSession { // there the head is behind messages that the holders of sessions can receive
		from = e.state.head.at(now).number
	}
	ready, _, _, err := e.receivable(allReady, from, 1, oldestWithin)
	if err == nil && len(ready) > 0 {
		g.Oldest, g.HasOldest = ready[0].enqueued, true
	}
	return g, err
}
