package queue

import (
	"context"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// dueShare bounds how many due messages a command deals with beside its own
// work. What is more is left to the commands that follow and to the monitor,
// which does it at its own pace: until then, what has expired is passed over,
// what is scheduled comes later, and a lock that has lapsed goes on to keep its
// message.
const dueShare = 100

// Reasons for which the server itself moves a message to the dead-letter
// queue, with the descriptions of Service Bus.
const (
	reasonExpired      = "TTLExpiredException"
	descriptionExpired = "The message expired and was dead lettered."
	reasonDeliveries   = "MaxDeliveryCountExceeded"
)

func descriptionDeliveries(c *Config) string {
	return fmt.Sprintf("Message could not be consumed after %d delivery attempts.", c.MaxDeliveryCount)
}

// order is an index with what happens to a message that is due in it.
type order struct {
	index string
	act   func(*entity, storage.Collection, *message) error
}

// Scheduled messages come first, because they may have expired by now, then
// locks, because an end of a lock may be an expiry.
var mainOrders = []order{
	{bySchedule, (*entity).activate},
	{byLock, (*entity).lapse},
	{byExpiry, (*entity).expire},
}

var deadOrder = order{byLock, (*entity).lapse}

// settleDue writes down what time has done to the messages of the queue and
// its dead-letter queue, for at most limit messages. more tells whether there
// may be others.
func (e *entity) settleDue(limit int) (more bool, err error) {
	dead, err := e.deadLetters()
	if err != nil {
		return false, err
	}
	past := until(e.now)
	var n int
	if e.dead { // whoever receives there waits for these
		n, err = e.actOn(dead, deadOrder, past, limit)
		limit -= n
	}
	for _, o := range mainOrders {
		if err != nil || limit <= 0 {
			return true, err
		}
		n, err = e.actOn(e.main, o, past, limit)
		limit -= n
	}
	if err == nil && limit > 0 && !e.dead {
		n, err = e.actOn(dead, deadOrder, past, limit)
		limit -= n
	}
	return limit <= 0, err
}

// actOn deals with what is due in one order.
func (e *entity) actOn(coll storage.Collection, o order, r storage.KeyRange, limit int) (n int, err error) {
	due, err := heads(coll, o.index, r, limit)
	for i := range due {
		if err := o.act(e, coll, &due[i]); err != nil {
			return 0, err
		}
	}
	return len(due), err
}

// isDue tells whether settleDue has anything to do.
func (e *entity) isDue() (bool, error) {
	dead, err := e.deadLetters()
	if err != nil {
		return false, err
	}
	past := until(e.now)
	for _, o := range mainOrders {
		if due, err := anyIn(e.main, o.index, past); due || err != nil {
			return due, err
		}
	}
	return anyIn(dead, byLock, past)
}

// activateDue makes the scheduled messages that are due ordinary ones, so that
// they come before what is sent after them.
func (e *entity) activateDue() error {
	due, err := heads(e.main, bySchedule, until(e.now), e.broker.share-e.out.activated)
	for i := range due {
		if err := e.activate(e.main, &due[i]); err != nil {
			return err
		}
	}
	return err
}

// activate makes a scheduled message an ordinary one, as if it had been sent
// at the instant it was scheduled for.
func (e *entity) activate(coll storage.Collection, m *message) error {
	l, err := e.numbers()
	if err != nil {
		return err
	}
	at := m.due
	m.enqueue(l.next, at)
	if err := e.save(coll, m); err != nil {
		return err
	}
	l.next++
	l.activity = max(l.activity, at)
	e.out.activity = max(e.out.activity, at)
	e.out.ready++
	e.out.activated++
	return l.write(e.tx, e.uuid, e.now)
}

// lapse ends a lock that was not settled in time: a failed delivery. It
// counts what was true at that instant, not what is true when it is noticed.
func (e *entity) lapse(coll storage.Collection, m *message) error {
	e.out.lapsed++
	_, err := e.release(coll, m, m.lockedUntil)
	return err
}

// The outcomes of the end of a lock.
const (
	outcomeActive       = "active"
	outcomeExpired      = "expired"
	outcomeDeadLettered = "deadLettered"
	outcomeDeferred     = "deferred"
)

// release ends a lock at an instant without the message being consumed.
// Expiry goes before the count of deliveries; in the dead-letter queue there
// is neither.
func (e *entity) release(coll storage.Collection, m *message, at int64) (outcome string, err error) {
	m.unlock()
	if coll != e.main {
		e.out.dead += ifReady(m)
		return outcomeActive, e.save(coll, m)
	}
	if m.expired(at) {
		return outcomeExpired, e.expire(coll, m)
	}
	if m.fail(e.config) {
		e.out.failed++
		e.because(e.main, at, ttl.DeadLettered)
		return outcomeDeadLettered, e.bury(m, reasonDeliveries, descriptionDeliveries(e.config))
	}
	e.out.ready += ifReady(m)
	return outcomeActive, e.save(coll, m)
}

func ifReady(m *message) int {
	if m.state == active {
		return 1
	}
	return 0
}

// expire removes a message whose time is over.
func (e *entity) expire(coll storage.Collection, m *message) error {
	if e.config.DeadLetterOnExpiry {
		e.out.expired++
		e.because(e.main, m.expires, ttl.DeadLettered)
		return e.bury(m, reasonExpired, descriptionExpired)
	}
	e.out.dropped++
	e.because(coll, m.expires, ttl.Dropped)
	return coll.Delete(m.id)
}

// because says why the next message is removed, or the queue, that was due
// at an instant.
func (e *entity) because(where any, due int64, cause ttl.Cause) {
	ttl.Because(where, &ttl.Expired{Policy: ttl.Message, At: due, Removed: e.now, Cause: cause})
}

// update runs fn on an open queue in a writing transaction and applies its
// effects.
func (b *Broker) update(ctx context.Context, s Store, ref Ref, now int64, fn func(*entity) error) error {
	var out effects
	var q *live
	err := s.Update(ctx, func(tx storage.Tx) error {
		out, q = effects{}, nil
		e, err := b.open(tx, ref, now, &out)
		if err != nil {
			return err
		}
		q = e.live
		return fn(e)
	})
	if err == nil {
		b.apply(q, &out)
	}
	return err
}

// view runs fn on an open queue in a reading transaction.
func (b *Broker) view(ctx context.Context, s Store, ref Ref, now int64, fn func(*entity) error) error {
	return s.View(ctx, func(tx storage.Tx) error {
		e, err := b.open(tx, ref, now, &effects{})
		if err != nil {
			return err
		}
		return fn(e)
	})
}
