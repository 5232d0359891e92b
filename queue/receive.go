package queue

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Limits of a receive.
const (
	MaxMessages = 1000
	MaxWait     = 60 * time.Second
	maxBytes    = 16 << 20 // size of the messages of one reply, without the first
)

// Request describes a receive.
type Request struct {
	Ref    Ref
	Delete bool          // receiveAndDelete instead of peekLock
	Max    int           // maximum number of messages, 1 to MaxMessages
	Wait   time.Duration // how long to wait for the first message
	// Session is the token of the session to receive from; nil: none.
	Session *[16]byte
	// Numbers asks for these deferred messages instead, all or none.
	Numbers []int64
	// Gone reports whether the client has disconnected; nil: unknown. A waiting
	// receiver calls it before it takes messages.
	Gone func() bool
}

var errGone = mongoerr.New(mongoerr.ClientDisconnect, "the receiver is gone")

var errNotFound = mongoerr.New(mongoerr.MessageNotFound, "The message does not exist or is locked")

// Receive delivers messages in the order of their sequence numbers. now is the
// instant of the command; a waiting receiver then follows the clock.
func (b *Broker) Receive(ctx context.Context, s Store, r Request, now int64) (docs []value.Doc, err error) {
	if r.Numbers != nil {
		return b.receiveNumbers(ctx, s, r, now)
	}
	err = b.await(ctx, s, patience{r.Ref, r.Wait, r.Gone}, now, func(now int64) (bool, int64, error) {
		var due int64
		docs, due, err = b.take(ctx, s, r, now)
		return len(docs) > 0, due, err
	})
	return docs, err
}

// patience is how long a receiver waits, and for what.
type patience struct {
	ref  Ref
	wait time.Duration
	gone func() bool // as [Request.Gone]
}

// await polls until there is something for the receiver, or its time is over. A poll reports
// whether there was, and otherwise the next instant at which there may be.
func (b *Broker) await(ctx context.Context, s Store, p patience, now int64, poll func(now int64) (found bool, due int64, err error)) error {
	if p.wait <= 0 {
		_, _, err := poll(now)
		return err
	}
	w, err := b.waitersOf(ctx, s, p.ref, now)
	if err != nil {
		return err
	}
	x := w.join()
	defer w.leave(x)
	ends := newDeadline(b, p.wait, now)
	for {
		if p.gone != nil && p.gone() {
			w.wake(1, 0) // the next waiting receiver takes its place
			return errGone
		}
		w.beginPoll(x)
		found, due, err := poll(now)
		w.endPoll(x, due, err == nil && !found)
		if err != nil && ctx.Err() != nil { // interrupted while it polled, not while it waited
			err = mongoerr.From(context.Cause(ctx))
		}
		if err != nil || found || ends.passed() || b.isClosed() {
			return err
		}
		fired, err := ends.wait(ctx, x, due)
		if err != nil {
			return err
		}
		if fired {
			w.timed(x)
		}
		now = b.clock.NowMillis()
	}
}

// waitersOf finds the receivers that wait for the same messages.
func (b *Broker) waitersOf(ctx context.Context, s Store, ref Ref, now int64) (w *waiters, err error) {
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		if w = &e.state.main; e.dead {
			w = &e.state.dead
		}
		if b.Shared {
			e.state.elsewhere.await(e.coll.Info().Namespace)
			if e.config.RequiresSession && !e.dead { // a session may be released without a change of its messages
				e.state.elsewhere.await(sessionsNamespace(e.ns.DB, e.uuid))
			}
		}
		return nil
	})
	return w, err
}

// deadline is the end of a receiver's wait. It has passed when it has passed
// on either clock.
type deadline struct {
	b            *Broker
	server, real int64
}

func newDeadline(b *Broker, d time.Duration, now int64) *deadline {
	return &deadline{b, now + d.Milliseconds(), b.real.NowMillis() + d.Milliseconds()}
}

func (d *deadline) passed() bool {
	return d.b.clock.NowMillis() >= d.server || d.b.real.NowMillis() >= d.real
}

// wait returns when the receiver is woken, a message is due, or the deadline
// has come. fired reports whether that was due to the time.
func (d *deadline) wait(ctx context.Context, x *waiter, due int64) (fired bool, err error) {
	server := timerAt(d.b.clock, min(due, d.server))
	defer server.Stop()
	real := timerAt(d.b.real, d.real)
	defer real.Stop()
	select {
	case <-x.ch:
	case <-server.C():
		return true, nil
	case <-real.C():
		return true, nil
	case <-ctx.Done():
		return false, mongoerr.From(context.Cause(ctx))
	}
	return false, nil
}

func timerAt(c clock.Clock, ms int64) clock.Timer {
	left := max(ms-c.NowMillis(), 0)
	return c.NewTimer(time.Duration(min(left, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond)
}

// take delivers the messages that can be received now. Without any, due is the
// next instant at which there may be some.
func (b *Broker) take(ctx context.Context, s Store, r Request, now int64) (docs []value.Doc, due int64, err error) {
	for share := b.share; ; share = 0 {
		from, found, due, err := b.poll(ctx, s, r, now)
		if err != nil || !found {
			return nil, due, err
		}
		var ended bool
		err = b.update(ctx, s, r.Ref, now, func(e *entity) error {
			docs = docs[:0]
			if _, err := e.processDue(min(share, e.share)); err != nil {
				return err
			}
			if docs, ended, err = e.deliver(r, from, docs); err != nil {
				return err
			}
			if err := e.used(now); err != nil || len(docs) > 0 {
				return err
			}
			due, err = e.nextDueFor(r)
			return err
		})
		// If other receivers took the messages found, there may be more after a
		// backlog of expired ones.
		if err != nil || len(docs) > 0 || ended {
			return docs, due, err
		}
	}
}

// poll checks in a read transaction whether there is anything to deliver or to
// store, so that polling an empty queue does not block writers. from is the
// number of the first message that can be received.
func (b *Broker) poll(ctx context.Context, s Store, r Request, now int64) (from int64, found bool, due int64, err error) {
	idle, ended, work := false, false, false
	var of delivery
	err = b.view(ctx, s, r.Ref, now, func(e *entity) error {
		if of, err = e.delivery(r); err != nil {
			return err
		}
		e.state.used(now)
		idle = e.config.idle()
		if from, found, ended, err = e.first(of.lane, b.share); found || err != nil {
			return err
		}
		if work, err = e.isDue(); work || err != nil {
			return err
		}
		due, err = e.nextDueFor(r)
		return err
	})
	if err == nil && !found && !ended {
		from, err = b.skipExpired(ctx, s, r.Ref, of.lane, now)
	}
	if err != nil || found || work || !idle {
		return from, found || work, due, err
	}
	return from, false, due, b.update(ctx, s, r.Ref, now, func(e *entity) error { return e.used(now) })
}

// delivery is what a receiver may take from a queue.
type delivery struct {
	lane    lane
	session string // the id of its session; "": none
	until   int64  // the end of its locks
}

// delivery checks that the receiver may receive: from a queue that keeps its messages, with
// a session if the queue has sessions.
func (e *entity) delivery(r Request) (d delivery, err error) {
	d = delivery{lane: allReady, until: after(e.now, e.config.LockDuration)}
	switch {
	case e.dead:
		if r.Session != nil {
			err = errNoSessions
		}
		return d, err
	case e.config.Kind == Topic:
		return d, mongoerr.Newf(mongoerr.IllegalOperation, "cannot receive from the message topic %s: receive from its subscriptions", e.ns)
	case e.config.ForwardTo != "":
		return d, mongoerr.Newf(mongoerr.IllegalOperation, "cannot receive from %s, which forwards its messages to '%s'", e.ns, e.config.ForwardTo)
	case e.config.RequiresSession && r.Session == nil:
		return d, errNeedsSession
	case r.Session == nil:
		return d, nil
	}
	_, s, err := e.hold(*r.Session)
	return delivery{sessionLane(s.id), s.id, s.until}, err
}

// nextDueFor is the next time at which the receiver should look again.
func (e *entity) nextDueFor(r Request) (int64, error) {
	due, err := e.nextDue()
	if err == nil && r.Session != nil {
		var d delivery
		d, err = e.delivery(r)
		due = min(due, d.until)
	}
	return due, err
}

// deliver delivers the first ready messages from a number on. It skips at most
// as many expired ones as a command may process; ended reports whether there
// were no more.
func (e *entity) deliver(r Request, from int64, docs []value.Doc) (_ []value.Doc, ended bool, err error) {
	of, err := e.delivery(r)
	if err != nil {
		return nil, false, err
	}
	switch low := e.out.lowest; {
	case e.dead || of.session != "":
		from = 0 // dead letters arrive with any number
	case low != 0:
		from = min(from, low) // a lock has lapsed
	}
	ready, _, ended, err := e.receivable(of.lane, from, r.Max, e.broker.share)
	if err != nil {
		return nil, false, err
	}
	bytes := 0
	for i := range ready {
		d, err := e.deliverOne(&ready[i], r.Delete, of.until)
		if err != nil {
			return nil, false, err
		}
		docs = append(docs, d)
		if bytes += len(d); bytes > maxBytes {
			break
		}
	}
	return docs, ended, nil
}

// deliverOne locks a message until an instant, or with removed removes it.
func (e *entity) deliverOne(m *message, removed bool, until int64) (value.Doc, error) {
	if removed {
		m.deliveries = max(m.deliveries, 1)
		return m.encode(browsed, e.dead), remove(e.coll, m.id)
	}
	m.lock(until)
	return m.encode(delivered, e.dead), e.save(e.coll, m)
}

// nextDue returns the next time at which a message may become receivable, or the
// last possible time if no message will.
func (e *entity) nextDue() (int64, error) {
	next := int64(math.MaxInt64)
	look := func(coll storage.Collection, index string, at func(*message) int64) error {
		first, err := heads(coll, index, storage.KeyRange{}, 1)
		for i := range first {
			next = min(next, at(&first[i]))
		}
		return err
	}
	lapses := func(m *message) int64 { return m.lockedUntil }
	if err := look(e.main, bySchedule, func(m *message) int64 { return m.due }); err != nil {
		return 0, err
	}
	if err := look(e.main, byLock, lapses); err != nil || !e.dead {
		return next, err
	}
	if err := look(e.main, byExpiry, func(m *message) int64 { return m.expires }); err != nil {
		return 0, err
	}
	return next, look(e.coll, byLock, lapses)
}

// receiveNumbers delivers deferred messages, all or none. A message that has
// expired is processed as such.
func (b *Broker) receiveNumbers(ctx context.Context, s Store, r Request, now int64) (docs []value.Doc, err error) {
	var refused error
	err = b.update(ctx, s, r.Ref, now, func(e *entity) (err error) {
		docs, refused = nil, nil
		of, err := e.delivery(r)
		if err != nil {
			return err
		}
		if err := e.used(now); err != nil {
			return err
		}
		if _, err := e.processDue(e.share); err != nil {
			return err
		}
		messages, ok, err := e.deferred(r.Numbers, of.session)
		if err != nil {
			return err
		}
		if !ok {
			refused = errNotFound
			return nil
		}
		for i := range messages {
			d, err := e.deliverOne(&messages[i], r.Delete, of.until)
			if err != nil {
				return err
			}
			docs = append(docs, d)
		}
		return nil
	})
	if err == nil {
		err = refused
	}
	return docs, err
}

// deferred finds deferred messages that are not locked, of the session unless that is "". ok
// is false if one of them cannot be received; expired ones are processed.
func (e *entity) deferred(numbers []int64, session string) (messages []message, ok bool, err error) {
	ok = true
	for i, n := range numbers {
		m, found, err := e.findCurrent(n)
		switch {
		case err != nil:
			return nil, false, err
		case !found, m.state != deferred, m.locked, session != "" && m.session != session, slices.Contains(numbers[:i], n):
			ok = false
		case !e.dead && m.expired(e.now):
			ok = false
			if err := e.expire(&m); err != nil {
				return nil, false, err
			}
		}
		messages = append(messages, m)
	}
	return messages, ok, nil
}

// findCurrent finds a message and ends its lock first if the lock has lapsed.
func (e *entity) findCurrent(number int64) (m message, found bool, err error) {
	m, found, err = find(e.coll, number)
	if err != nil || !found || !m.locked || m.held(e.now) {
		return m, found, err
	}
	if err := e.lapse(e.coll, &m); err != nil {
		return m, false, err
	}
	return find(e.coll, number)
}
