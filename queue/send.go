package queue

import (
	"context"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Send puts messages into a queue, all or none, and returns their sequence
// numbers. The documents have their _id first.
func (b *Broker) Send(ctx context.Context, s Store, ref Ref, docs []value.Doc, now int64) (numbers []int64, err error) {
	err = b.update(ctx, s, ref, now, func(e *entity) error {
		numbers = make([]int64, 0, len(docs))
		for _, d := range docs {
			n, _, err := e.send(d)
			if err != nil {
				return err
			}
			numbers = append(numbers, n)
		}
		return nil
	})
	return numbers, err
}

// Insert sends one message within a transaction of the caller, for an ordinary insert into
// a queue. The document has its _id first.
func (b *Broker) Insert(tx storage.Tx, changes *Changes, ns storage.Namespace, d value.Doc, now int64) (storage.RecordID, error) {
	e, err := b.open(tx, Ref{Namespace: ns}, now, changes)
	if err != nil {
		return 0, err
	}
	_, id, err := e.send(d)
	return id, err
}

// send stores a message and gives it its number, in this order, so that a
// message that is refused leaves no gap.
func (e *entity) send(d value.Doc) (number int64, id storage.RecordID, err error) {
	if e.dead {
		return 0, 0, mongoerr.Newf(mongoerr.IllegalOperation, "cannot send messages to the dead-letter queue of %s", e.ns)
	}
	var m message
	m.split(d)
	if err := m.readRequest(d, e.config); err != nil {
		return 0, 0, err
	}
	if err := e.activateDue(); err != nil {
		return 0, 0, err
	}
	l, err := e.numbers()
	if err != nil {
		return 0, 0, err
	}
	at := m.due
	if m.enqueue(l.next, e.now); at > e.now {
		m.enqueue(l.next, at)
		m.state, m.due = scheduled, at
	}
	if id, err = e.main.Insert(m.encode(stored, false), e.now); err != nil {
		return 0, 0, err
	}
	l.next++
	l.activity = max(l.activity, e.now)
	e.out.activity = max(e.out.activity, e.now)
	e.out.ready += ifReady(&m)
	e.out.note(&m, false)
	return m.number, id, l.write(e.uuid, e.now)
}

// readRequest reads the properties that the sender may set.
func (m *message) readRequest(d value.Doc, c *Config) error {
	m.timeToLive, m.due, m.deliveries = c.DefaultTimeToLive, 0, 0
	seen := false
	for it := d.Iter(); it.Next(); {
		if it.Key() != Field {
			continue
		}
		if seen {
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s' of a message must not be repeated", Field)
		}
		seen = true
		if err := m.readSettings(it.Value(), c); err != nil {
			return err
		}
	}
	return nil
}

// readSettings reads _mq as the sender gives it: timeToLive and
// scheduledEnqueueTimeUtc. Other fields of _mq are refused.
func (m *message) readSettings(v value.Value, c *Config) error {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s' of a message is the wrong type '%s', expected type 'object'", Field, v.Kind())
	}
	for name, v := range v.Doc().All() {
		switch name {
		case "timeToLive":
			ms, err := parseDuration(Field+".timeToLive", v)
			if err != nil {
				return err
			}
			if ms <= 0 {
				return mongoerr.Newf(mongoerr.BadValue, "The value of '%s.timeToLive' must be greater than zero, found %s", Field, v)
			}
			m.timeToLive = min(ms, c.DefaultTimeToLive)
		case "scheduledEnqueueTimeUtc":
			if v.Kind() != value.KindDateTime {
				return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s.scheduledEnqueueTimeUtc' is the wrong type '%s', expected type 'date'", Field, v.Kind())
			}
			m.due = v.DateTime()
		default:
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s.%s' of a message is owned by the server and cannot be set; messages of a dump are restored by 'duskdb import'", Field, name)
		}
	}
	return nil
}
