package queue

import (
	"context"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxDocument is the largest size of a message.
const maxDocument = 16 << 20

var errLockLost = mongoerr.New(mongoerr.MessageLockLost, "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.")

// Lock is the lock of a message, by which its receiver settles it.
type Lock struct {
	Ref   Ref      // the queue
	Token [16]byte // the lockToken that came with the message
}

// settle runs fn on the message that has the lock.
func (b *Broker) settle(ctx context.Context, s Store, lock Lock, now int64, fn func(*entity, *message) error) error {
	return b.update(ctx, s, lock.Ref, now, func(e *entity) error {
		r, ok, err := e.coll.Get(token(lock.Token).record())
		if err != nil {
			return err
		}
		if !ok {
			return errLockLost
		}
		m := decode(r)
		if !m.held(now) || m.token != lock.Token {
			return errLockLost
		}
		if err := e.used(now); err != nil {
			return err
		}
		return fn(e, &m)
	})
}

// Complete removes a processed message.
func (b *Broker) Complete(ctx context.Context, s Store, lock Lock, now int64) error {
	return b.settle(ctx, s, lock, now, func(e *entity, m *message) error { return remove(e.coll, m.id) })
}

// Abandon releases the lock of a message, which counts as a failed delivery.
// It may change fields of the sender. The outcome is "active", "expired" or
// "deadLettered".
func (b *Broker) Abandon(ctx context.Context, s Store, lock Lock, set value.Doc, now int64) (outcome string, err error) {
	err = b.settle(ctx, s, lock, now, func(e *entity, m *message) (err error) {
		if err := m.set(set); err != nil {
			return err
		}
		if n := len(m.head) + len(m.tail); n > maxDocument {
			return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "Resulting message is larger than %d bytes: %d", maxDocument, n)
		}
		outcome, err = e.release(e.coll, m, now)
		return err
	})
	return outcome, err
}

// Defer defers a message, which can then only be received by its number. It
// counts as a failed delivery, possibly the last one; the outcome is
// "deferred" or "deadLettered".
func (b *Broker) Defer(ctx context.Context, s Store, lock Lock, now int64) (number int64, outcome string, err error) {
	err = b.settle(ctx, s, lock, now, func(e *entity, m *message) error {
		m.unlock()
		m.state = deferred
		number, outcome = m.number, outcomeDeferred
		if e.dead {
			return e.save(e.coll, m)
		}
		if m.fail(e.config) {
			outcome = outcomeDeadLettered
			return e.giveUp(m, now)
		}
		return e.save(e.coll, m)
	})
	return number, outcome, err
}

// DeadLetter moves a message to the dead-letter queue.
func (b *Broker) DeadLetter(ctx context.Context, s Store, lock Lock, reason, description string, now int64) error {
	for _, text := range []string{reason, description} {
		if n := len(text); n > maxDescription {
			return mongoerr.Newf(mongoerr.BadValue, "The reason and the description of a dead letter may have at most %d bytes, found %d", maxDescription, n)
		}
	}
	return b.settle(ctx, s, lock, now, func(e *entity, m *message) error {
		if e.dead {
			return mongoerr.Newf(mongoerr.IllegalOperation, "a message in the dead-letter queue of %s cannot be dead-lettered again", e.ns)
		}
		if err := remove(e.main, m.id); err != nil {
			return err
		}
		return e.storeDeadLetter(m, reason, description)
	})
}

// RenewLock extends a lock to one lock duration from now, and returns its new
// end.
func (b *Broker) RenewLock(ctx context.Context, s Store, lock Lock, now int64) (until int64, err error) {
	err = b.settle(ctx, s, lock, now, func(e *entity, m *message) error {
		if e.config.RequiresSession && !e.dead {
			return errLocksOfOthers
		}
		until = after(now, e.config.LockDuration)
		m.lockedUntil = until
		return e.save(e.coll, m)
	})
	return until, err
}

// CancelScheduled removes a message that is not due yet.
func (b *Broker) CancelScheduled(ctx context.Context, s Store, ref Ref, number, now int64) error {
	return b.update(ctx, s, ref, now, func(e *entity) error {
		m, ok, err := find(e.coll, number)
		if err != nil {
			return err
		}
		if !ok || m.state != scheduled || m.due <= now {
			return errNotFound
		}
		if err := e.used(now); err != nil {
			return err
		}
		return remove(e.coll, m.id)
	})
}
