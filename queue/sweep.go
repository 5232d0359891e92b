package queue

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// IsSwept reports whether a pass of the monitor visits a collection of these options:
// dead-letter queues are swept together with their queue.
func IsSwept(options value.Doc) bool { return IsQueue(options) && DeadLetterOf(options) == "" }

// Targets lists the queues for a pass of the monitor.
func (b *Broker) Targets(infos []*storage.Info, s Store) (list []monitor.Target) {
	for _, info := range infos {
		if IsSwept(info.Options) {
			list = append(list, &target{b, s, info})
		}
	}
	return list
}

// target is a queue as a target of a pass.
type target struct {
	broker *Broker
	store  Store
	info   *storage.Info
}

func (t *target) Policy() ttl.Policy           { return ttl.Message }
func (t *target) UUID() [16]byte               { return t.info.UUID }
func (t *target) Namespace() storage.Namespace { return t.info.Namespace }
func (t *target) String() string               { return t.info.Namespace.String() + " messages" }

// Sweep implements monitor.Target: it stores the new state of due messages, and
// deletes the queue if it has been idle for too long.
func (t *target) Sweep(ctx context.Context, v *monitor.Visit) error {
	work, idle, err := t.inspect(ctx, v.Now)
	for more := work; more && err == nil; {
		limit := v.Batch()
		if limit == 0 {
			return nil
		}
		more, err = t.process(ctx, v, limit)
		if errors.Is(err, storage.ErrConflict) && v.Again() {
			more, err = true, nil
		}
		if err != nil {
			break
		}
		if err = ctx.Err(); err == nil {
			v.Yield()
		}
	}
	for again := idle || work; again && err == nil; {
		err, again = t.deleteIdle(ctx, v), false
		if errors.Is(err, storage.ErrConflict) && v.Again() {
			err, again = ctx.Err(), true
		}
	}
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) || errors.Is(err, storage.ErrConflict) {
		return nil // dropped or renamed meanwhile, or written by an open transaction
	}
	return err
}

// inspect reports, in a read transaction, whether messages are due and whether
// the queue has been idle for too long. Its cost does not depend on the number
// of messages.
func (t *target) inspect(ctx context.Context, now int64) (work, idle bool, err error) {
	err = t.broker.view(ctx, t.store, t.ref(), now, func(e *entity) error {
		if err := t.check(e); err != nil {
			return err
		}
		e.sweeping = true
		if work, err = e.isDue(); err != nil {
			return err
		}
		over, unknown, err := e.tooIdle()
		idle = over || unknown
		return err
	})
	return work, idle, err
}

func (t *target) ref() Ref { return Ref{Namespace: t.info.Namespace} }

// check fails if the name now belongs to another queue.
func (t *target) check(e *entity) error {
	if e.uuid != t.info.UUID {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", t.info.Namespace)
	}
	return nil
}

// process processes up to limit due messages. If handing them on is too much for one
// transaction, it processes the first one alone, and if even that is, without handing it on.
func (t *target) process(ctx context.Context, v *monitor.Visit, limit int) (more bool, err error) {
	more, err = t.batch(ctx, v, limit, false)
	for _, refusing := range []bool{false, true} {
		if mongoerr.Is(err, mongoerr.TransactionTooLarge) {
			more, err = t.batch(ctx, v, 1, refusing)
		}
	}
	return more, err
}

// batch processes up to limit due messages in one transaction.
func (t *target) batch(ctx context.Context, v *monitor.Visit, limit int, refusing bool) (more bool, err error) {
	var r ttl.Removed
	err = t.broker.write(ctx, t.store, t.ref(), v.Now, false, func(e *entity) (err error) {
		if err := t.check(e); err != nil {
			return err
		}
		e.sweeping, e.refusing = true, refusing
		more, err = e.processDue(limit)
		r = ttl.Removed{MessagesDropped: e.out.dropped, MessagesDeadLettered: e.out.expired + e.out.failed}
		return err
	})
	if err == nil {
		v.Count(r)
	}
	return more, err
}

// tooIdle reports whether the queue has been idle for autoDeleteOnIdle.
// unknown reports whether its idle time has not started yet.
func (e *entity) tooIdle() (idle, unknown bool, err error) {
	if !e.config.idle() {
		return false, false, nil
	}
	last, ends, err := e.idleness()
	return ends != 0 && ends <= e.now, last == 0, err
}

// deleteIdle deletes the queue if it is too idle.
func (t *target) deleteIdle(ctx context.Context, v *monitor.Visit) error {
	gone := false
	err := t.broker.update(ctx, t.store, t.ref(), v.Now, func(e *entity) (err error) {
		if err := t.check(e); err != nil {
			return err
		}
		over, unknown, err := e.tooIdle()
		switch gone = over; {
		case err != nil:
			return err
		case unknown:
			return e.used(e.now)
		case over:
			_, ends, err := e.idleness()
			if err != nil {
				return err
			}
			return t.broker.drop(e.tx, e.changes, e.ns, e.now, e.expired(ends, ttl.Idle))
		}
		return nil
	})
	if err != nil || !gone {
		return err
	}
	t.broker.metrics.QueuesAutoDeleted.Add(1)
	v.Count(ttl.Removed{QueuesDropped: 1})
	return nil
}
