package queue

import (
	"context"
	"fmt"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// dueShare limits the due messages that a command processes beside its own
// work. The rest is left to later commands and to the monitor. Until then
// expired messages are skipped, scheduled ones are not received yet, and
// lapsed locks still hold their messages.
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

// dueRule is an index of due times with the action for a due message.
type dueRule struct {
	index string
	act   func(*entity, storage.Collection, *message) error // nil: the messages are removed together
}

// mainRules have scheduled messages first, because they may have expired by now, then
// locks, because an end of a lock may be an expiry.
var mainRules = []dueRule{
	{bySchedule, (*entity).activate},
	{byLock, (*entity).lapse},
	{byExpiry, nil},
}

var deadRule = dueRule{byLock, (*entity).lapse}

// dueStep is a rule for one of the two collections of a queue.
type dueStep struct {
	coll storage.Collection
	dueRule
}

// dueSteps are the steps in which due messages are processed. Those of the dead-letter queue
// come first if it is received from.
func (e *entity) dueSteps() ([]dueStep, error) {
	dead, err := e.deadLetters()
	if err != nil {
		return nil, err
	}
	steps := make([]dueStep, 0, len(mainRules)+1)
	if e.dead {
		steps = append(steps, dueStep{dead, deadRule})
	}
	for _, r := range mainRules {
		if r.index != byExpiry || !e.leavesExpired() {
			steps = append(steps, dueStep{e.main, r})
		}
	}
	if !e.dead && dead != nil {
		steps = append(steps, dueStep{dead, deadRule})
	}
	return steps, nil
}

// leavesExpired reports whether expired messages are left to the next receiver, as Service
// Bus leaves them.
func (e *entity) leavesExpired() bool { return e.sweeping && e.config.ExpireOnReceiveOnly }

// processDue stores the new state of due messages of the queue and its
// dead-letter queue, at most limit of them. more reports whether there may be
// others.
func (e *entity) processDue(limit int) (more bool, err error) {
	steps, err := e.dueSteps()
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		if limit <= 0 {
			return true, nil
		}
		n, err := e.actOn(s, limit)
		if err != nil {
			return true, err
		}
		limit -= n
	}
	for _, rest := range []func(int) (int, error){e.passOn, e.forgetHistory, e.endSessions} {
		n, err := rest(limit)
		if limit -= n; limit <= 0 || err != nil {
			return true, err
		}
	}
	return false, nil
}

// actOn processes the due messages of one step.
func (e *entity) actOn(s dueStep, limit int) (n int, err error) {
	switch {
	case s.act != nil:
	case e.config.ForwardDeadTo == "":
		return e.expireDue(s, limit)
	default: // what a message is forwarded to may lead back here
		s.act = func(e *entity, _ storage.Collection, m *message) error { return e.expire(m) }
	}
	due, err := heads(s.coll, s.index, until(e.now), limit)
	for i := range due {
		if !e.changes.room() {
			return limit, nil
		}
		if err := s.act(e, s.coll, &due[i]); err != nil {
			return 0, err
		}
	}
	return len(due), err
}

// expireDue removes the expired messages of the queue, or moves them to the
// dead-letter queue, in one ranged delete.
func (e *entity) expireDue(s dueStep, limit int) (int, error) {
	out, err := s.coll.DeleteRange(&storage.RangeDelete{Index: s.index, Keys: until(e.now), Limit: limit, Pick: func(_ []byte, rec storage.Record) (storage.Verdict, error) {
		m := decode(rec)
		v := storage.Verdict{Do: storage.Remove, Reason: e.countExpired(&m)}
		if e.config.DeadLetterOnExpiry {
			return v, e.storeDeadLetter(&m, reasonExpired, descriptionExpired)
		}
		return v, nil
	}})
	return out.Visited, err
}

// isDue reports whether processDue has anything to do.
func (e *entity) isDue() (bool, error) {
	steps, err := e.dueSteps()
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		if due, err := anyIn(s.coll, s.index, until(e.now)); due || err != nil {
			return due, err
		}
	}
	strays, err := e.strays()
	if err != nil {
		return false, err
	}
	for _, s := range strays {
		if found, err := s.next(1); len(found) > 0 || err != nil {
			return true, err
		}
	}
	return e.isDueBeside()
}

// activateDue activates the scheduled messages that are due, so that they get
// lower numbers than messages sent after them.
func (e *entity) activateDue() error {
	due, err := heads(e.main, bySchedule, until(e.now), e.share-e.out.activated)
	for i := range due {
		if !e.changes.room() {
			break
		}
		if err := e.activate(e.main, &due[i]); err != nil {
			return err
		}
	}
	return err
}

// postponement is how long a scheduled message of a topic waits if it would have too many
// copies when it is due. It may be cancelled or purged meanwhile, or subscriptions changed.
const postponement = 60 * millisPerMinute

// activate activates a scheduled message, as if it had been sent at its
// scheduled instant.
func (e *entity) activate(coll storage.Collection, m *message) error {
	if e.refusing && e.config.Kind == Topic {
		m.due = after(e.now, postponement)
		return e.save(coll, m)
	}
	e.out.activated++
	return e.enqueue(m, m.due, func() error {
		if !e.config.passes() {
			e.out.ready++
			return e.save(coll, m)
		}
		if err := remove(coll, m.id); err != nil {
			return err
		}
		return e.pass(m)
	})
}

// lapse ends a lock that was not settled in time, which is a failed delivery.
// It decides by the state at the end of the lock, not at the present instant.
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

// release ends a lock at an instant without consuming the message. Expiry is
// checked before the delivery count; the dead-letter queue has neither.
func (e *entity) release(coll storage.Collection, m *message, at int64) (outcome string, err error) {
	m.unlock()
	if coll != e.main {
		e.out.dead += ifReady(m)
		return outcomeActive, e.save(coll, m)
	}
	if m.expired(at) && !e.leavesExpired() {
		return outcomeExpired, e.expire(m)
	}
	if m.fail(e.config) {
		return outcomeDeadLettered, e.giveUp(m, at)
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

// giveUp moves a message to the dead-letter queue whose last delivery failed at an instant.
func (e *entity) giveUp(m *message, at int64) error {
	e.out.failed++
	if err := e.expired(at, ttl.DeadLettered).Delete(e.main, m.id); err != nil {
		return err
	}
	return e.storeDeadLetter(m, reasonDeliveries, descriptionDeliveries(e.config))
}

// expire removes an expired message of the queue, or moves it to the dead-letter queue.
func (e *entity) expire(m *message) error {
	if err := e.countExpired(m).Delete(e.main, m.id); err != nil || !e.config.DeadLetterOnExpiry {
		return err
	}
	return e.storeDeadLetter(m, reasonExpired, descriptionExpired)
}

// countExpired counts an expired message that is about to be removed, and returns the
// reason for the change log.
func (e *entity) countExpired(m *message) *ttl.Expired {
	cause := ttl.Dropped
	if e.config.DeadLetterOnExpiry {
		cause = ttl.DeadLettered
		e.out.expired++
	} else {
		e.out.dropped++
	}
	if e.out.lags == nil {
		e.out.lags = new(ttl.Lags)
	}
	e.out.lags.Observe(e.now - m.expires)
	return e.expired(m.expires, cause)
}

// expired returns why a message, or the queue, is removed, and since when it was due.
func (e *entity) expired(due int64, cause ttl.Cause) *ttl.Expired {
	return &ttl.Expired{Policy: ttl.Message, At: due, Removed: e.now, Cause: cause}
}

// update runs fn on an open queue in a writing transaction. If that is too much for it, it
// runs again without what is due, which is not the command's own.
func (b *Broker) update(ctx context.Context, s Store, ref Ref, now int64, fn func(*entity) error) error {
	processed := false
	err := b.write(ctx, s, ref, now, false, func(e *entity) error {
		err := fn(e)
		processed = e.changes.processed
		return err
	})
	if processed && mongoerr.Is(err, mongoerr.TransactionTooLarge) && !s.InTransaction() {
		err = b.write(ctx, s, ref, now, true, fn)
	}
	return err
}

func (b *Broker) write(ctx context.Context, s Store, ref Ref, now int64, leaveDue bool, fn func(*entity) error) error {
	return s.Update(ctx, func(tx storage.Tx, changes *Changes) error {
		e, err := b.open(tx, ref, now, changes)
		if err != nil {
			return err
		}
		if leaveDue {
			e.share = 0
		}
		return fn(e)
	})
}

// view runs fn on an open queue in a reading transaction.
func (b *Broker) view(ctx context.Context, s Store, ref Ref, now int64, fn func(*entity) error) error {
	return s.View(ctx, func(tx storage.Tx) error {
		e, err := b.open(tx, ref, now, b.Changes())
		if err != nil {
			return err
		}
		return fn(e)
	})
}
