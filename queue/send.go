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

// send takes a message of a sender. A duplicate of one that came before is dropped: it gets
// no number.
func (e *entity) send(d value.Doc) (number int64, id storage.RecordID, err error) {
	if e.dead {
		return 0, 0, mongoerr.Newf(mongoerr.IllegalOperation, "cannot send messages to the dead-letter queue of %s", e.ns)
	}
	if e.config.Kind == Subscription {
		return 0, 0, mongoerr.Newf(mongoerr.IllegalOperation, "cannot send messages to the message subscription %s: send them to its topic '%s'", e.ns, e.config.Topic)
	}
	var m message
	m.split(d)
	if err := m.readRequest(d, e.config); err != nil {
		return 0, 0, err
	}
	if e.config.RequiresSession && m.session == "" {
		return 0, 0, mongoerr.Newf(mongoerr.BadValue, "The %s %s requires sessions: the message needs '%s.sessionId'", e.config.Kind, e.ns, Field)
	}
	if err := e.activateDue(); err != nil {
		return 0, 0, err
	}
	err = e.once(&m, func() error { return e.enter(&m) })
	return m.number, m.id, err
}

// enter stores a new message, or hands it on, unless it is to be active later.
func (e *entity) enter(m *message) error {
	if at := m.due; at > e.now {
		return e.enqueue(m, at, func() error {
			m.state, m.due = scheduled, at
			return e.insert(m)
		})
	}
	return e.enqueue(m, e.now, func() error {
		if e.config.passes() {
			return e.pass(m)
		}
		return e.insert(m)
	})
}

// insert stores a message that its sender may be refused.
func (e *entity) insert(m *message) (err error) {
	if m.id, err = e.main.Insert(m.encode(stored, false), e.now); err != nil {
		return err
	}
	e.out.ready += ifReady(m)
	e.out.note(m, false)
	return nil
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

// readSettings reads _mq as the sender gives it. Fields of the server are refused.
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
		case "sessionId":
			if err := readID(&m.session, Field+"."+name, v); err != nil {
				return err
			}
		case "messageId":
			if err := readID(&m.name, Field+"."+name, v); err != nil {
				return err
			}
		default:
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s.%s' of a message is owned by the server and cannot be set; messages of a dump are restored by 'duskdb import'", Field, name)
		}
	}
	return nil
}

// readID reads the id of a session or message.
func readID(to *string, field string, v value.Value) error {
	if v.Kind() != value.KindString {
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s' is the wrong type '%s', expected type 'string'", field, v.Kind())
	}
	*to = v.Str()
	return CheckID(field, v.Str())
}

// CheckID refuses what cannot be the id of a session or message.
func CheckID(field, id string) error {
	if n := len(id); n == 0 || n > maxIDLength {
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must have 1 to %d bytes, found %d", field, maxIDLength, n)
	}
	return nil
}
