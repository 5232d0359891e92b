package queue

import (
	"context"
	"errors"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Restore stores messages as readers saw them, with their numbers, times and counts:
// those of a dump. They are not locked, because a reader does not see who holds a
// lock. The numbers of new messages continue behind the highest. The documents have
// their _id first. It returns the errors of single messages, by their place.
func (b *Broker) Restore(ctx context.Context, s Store, ref Ref, docs []value.Doc, now int64) (failed map[int]error, err error) {
	err = b.update(ctx, s, ref, now, func(e *entity) error {
		failed = map[int]error{}
		l, err := e.numbers()
		if err != nil {
			return err
		}
		for i, d := range docs {
			err := e.restore(d, l)
			var refused *mongoerr.Error
			var taken *storage.DuplicateKeyError
			if errors.As(err, &refused) || errors.As(err, &taken) {
				failed[i] = err
			} else if err != nil {
				return err
			}
		}
		l.activity = max(l.activity, e.now)
		return l.write(e.uuid, e.now)
	})
	return failed, err
}

// restore stores one message.
func (e *entity) restore(d value.Doc, l *ledger) error {
	var m message
	mq := m.split(d)
	if err := m.readShown(mq); err != nil {
		return err
	}
	if dead := m.isDead(); dead != e.dead {
		return mongoerr.Newf(mongoerr.BadValue, "The field '%s.deadLetterSource' belongs to the messages of a dead-letter queue, and to each of them", Field)
	}
	if e.dead {
		m.source = e.ns.Coll
	}
	switch {
	case e.config.Kind == Topic && m.state != scheduled:
		return mongoerr.Newf(mongoerr.BadValue, "The message topic %s keeps scheduled messages alone", e.ns)
	case e.config.RequiresSession && !e.dead && m.session == "":
		return mongoerr.Newf(mongoerr.BadValue, "The %s %s requires sessions: the message needs '%s.sessionId'", e.config.Kind, e.ns, Field)
	}
	if _, err := e.coll.Insert(m.encode(stored, e.dead), e.now); err != nil {
		return err
	}
	l.next = max(l.next, m.number+1)
	e.out.activity = max(e.out.activity, e.now)
	if e.dead {
		e.out.dead++
	} else {
		e.out.ready += ifReady(&m)
	}
	e.out.note(&m, e.dead)
	return nil
}

// shownFields are the fields of _mq that readers see, with their types.
var shownFields = map[string]value.Kind{
	"sequenceNumber": value.KindInt64, "enqueuedTimeUtc": value.KindDateTime, "timeToLive": value.KindInt64,
	"expiresAtUtc": value.KindDateTime, "scheduledEnqueueTimeUtc": value.KindDateTime, "state": value.KindString,
	"deliveryCount": value.KindInt32, "deadLetterReason": value.KindString,
	"deadLetterErrorDescription": value.KindString, "deadLetterSource": value.KindString, "deadLetterForwarded": value.KindBool,
	"sessionId": value.KindString, "messageId": value.KindString, "enqueuedSequenceNumber": value.KindInt64, "ruleName": value.KindString,
}

// readShown reads _mq in the form that readers see.
func (m *message) readShown(mq value.Value) error {
	if mq.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s' of a message is the wrong type '%s', expected type 'object'", Field, mq.Kind())
	}
	for name, v := range mq.Doc().All() {
		kind, known := shownFields[name]
		switch {
		case !known:
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s.%s' of a message cannot be restored", Field, name)
		case v.Kind() != kind:
			return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s.%s' is the wrong type '%s', expected type '%s'", Field, name, v.Kind(), kind)
		}
	}
	m.read(mq.Doc())
	switch {
	case m.number < 1 || m.timeToLive < 1 || m.deliveries < 0:
		return mongoerr.Newf(mongoerr.BadValue, "The field '%s' of a message needs a sequenceNumber, a timeToLive and a deliveryCount that a queue can have", Field)
	case !slices.Contains([]state{active, deferred, scheduled}, m.state):
		return mongoerr.Newf(mongoerr.BadValue, "The field '%s.state' of a message cannot be '%s'", Field, m.state)
	case (m.state == scheduled) != mq.Doc().Has("scheduledEnqueueTimeUtc"):
		return mongoerr.Newf(mongoerr.BadValue, "The field '%s.scheduledEnqueueTimeUtc' belongs to scheduled messages, and to each of them", Field)
	}
	return nil
}
