package queue

import (
	"context"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Resubmission describes dead letters that return to their queue.
type Resubmission struct {
	Ref     Ref
	Numbers []int64   // the dead letters, all or none; nil: all that are not locked
	Set     value.Doc // fields of the sender to replace
	Unset   []string  // fields of the sender to remove
	Options value.Doc // timeToLive, scheduledEnqueueTimeUtc and sessionId, as in a message that is sent
}

// Resubmit moves dead letters back to the end of their queue: each becomes a new message
// with the next sequence number, enqueued now, never delivered, and without the reason
// for which it was dead-lettered. A message is moved in one transaction, listed ones all
// in the same, and all of a queue in transactions of a limited number. numbers are the
// new ones of listed messages; n counts the moved messages, also if there is an error.
func (b *Broker) Resubmit(ctx context.Context, s Store, r *Resubmission, now int64) (numbers []int64, n int64, err error) {
	if err := r.check(); err != nil {
		return nil, 0, err
	}
	ref := r.Ref
	ref.Dead = true
	if r.Numbers == nil {
		n, err = b.manage(ctx, s, ref, Selection{}, now, func(e *entity, list []picked) error {
			for _, p := range list {
				m, ok, err := e.deadLetter(p.number)
				if err != nil {
					return err
				}
				if !ok || m.id != p.id {
					continue // taken meanwhile
				}
				if _, err := e.resubmit(&m, r); err != nil {
					return err
				}
			}
			return nil
		})
		return nil, n, err
	}
	err = b.update(ctx, s, ref, now, func(e *entity) error {
		numbers = numbers[:0]
		for i, number := range r.Numbers {
			m, ok, err := e.deadLetter(number)
			if err != nil {
				return err
			}
			if !ok || slices.Contains(r.Numbers[:i], number) {
				return errNotFound
			}
			next, err := e.resubmit(&m, r)
			if err != nil {
				return err
			}
			numbers = append(numbers, next)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return numbers, int64(len(numbers)), nil
}

// check refuses changes of fields that belong to the server.
func (r *Resubmission) check() error {
	if err := checkSet(r.Set); err != nil {
		return err
	}
	for _, name := range r.Unset {
		if name == Field {
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s' of a message is owned by the server", Field)
		}
		if name == "_id" {
			return mongoerr.New(mongoerr.ImmutableField, "The field '_id' of a message cannot be changed")
		}
	}
	return nil
}

// deadLetter finds a message of the dead-letter queue that is not locked.
func (e *entity) deadLetter(number int64) (m message, ok bool, err error) {
	m, ok, err = find(e.coll, number)
	return m, ok && !m.held(e.now), err
}

// resubmit moves one dead letter to the queue and returns its new number.
func (e *entity) resubmit(m *message, r *Resubmission) (number int64, err error) {
	if err := e.activateDue(); err != nil {
		return 0, err
	}
	if err := remove(e.coll, m.id); err != nil {
		return 0, err
	}
	if err := m.renew(r, e.config); err != nil {
		return 0, err
	}
	at, late := max(m.due, e.now), m.due > e.now
	err = e.enqueue(m, at, func() error {
		switch {
		case late:
			m.state, m.due = scheduled, at
		case e.config.passes():
			return e.pass(m)
		}
		return e.reinsert(m)
	})
	e.out.managed++
	return m.number, err
}

// renew makes a new message of a dead letter: the fields of the sender with the requested
// changes, and the time to live that it was sent with, or another.
func (m *message) renew(r *Resubmission, c *Config) error {
	m.unlock()
	m.reason, m.description, m.source = "", "", ""
	m.origin, m.rule, m.hops = 0, "", 0
	m.deliveries, m.due = 0, 0
	live := min(m.timeToLive, c.DefaultTimeToLive)
	if !r.Options.IsEmpty() {
		m.timeToLive = live
		if err := m.readSettings(value.Document(r.Options), c); err != nil {
			return err
		}
		live = m.timeToLive
	}
	if c.RequiresSession && m.session == "" { // that may be why it is a dead letter
		return mongoerr.Newf(mongoerr.BadValue, "The %s requires sessions: the message %d needs a sessionId", c.Kind, m.number)
	}
	m.timeToLive = live
	m.unset(r.Unset)
	if err := m.set(r.Set); err != nil {
		return err
	}
	if n := len(m.head) + len(m.tail); n > maxDocument {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "Resulting message is larger than %d bytes: %d", maxDocument, n)
	}
	return nil
}

// unset removes fields of the sender.
func (m *message) unset(names []string) {
	if len(names) == 0 {
		return
	}
	b := value.NewBuilder()
	for _, part := range [][]byte{m.head, m.tail} {
		d := value.CloseDoc(append(value.OpenDoc(make([]byte, 0, len(part)+5)), part...), 0)
		for it := value.Doc(d).Iter(); it.Next(); {
			if !slices.Contains(names, it.Key()) {
				b.Raw(it.Element())
			}
		}
	}
	d := b.Doc()
	m.head, m.tail = d[4:len(d)-1], nil
}
