package queue

import (
	"crypto/rand"
	"encoding/binary"
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Field is the root field of a message that belongs to the server.
const Field = "_mq"

// state is the stored state of a message. A locked message is active or
// deferred, too.
type state string

const (
	active    state = "active"
	deferred  state = "deferred"
	scheduled state = "scheduled"
)

// token identifies a lock. It is a UUID of version 8: ten random bytes, but
// for version and variant, and the id of the record, so that a settlement
// finds its message without an index.
type token [16]byte

func newToken(id storage.RecordID) (t token) {
	_, _ = rand.Read(t[:10]) // never fails
	t[6] = t[6]&0x0f | 0x80
	t[8] = t[8]&0x3f | 0x80
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	copy(t[10:], b[2:])
	return t
}

// record returns the id of the record that the token was created for.
func (t token) record() storage.RecordID {
	var b [8]byte
	copy(b[2:], t[10:])
	return storage.RecordID(binary.BigEndian.Uint64(b[:]))
}

// message is a decoded record.
type message struct {
	id         storage.RecordID
	head, tail []byte // elements of the document before and after _mq

	number     int64
	enqueued   int64
	timeToLive int64
	hasExpiry  bool  // whether the message has an expiry
	expires    int64 // if hasExpiry
	due        int64 // instant a scheduled message is due
	state      state
	deliveries int32 // failed deliveries + 1; 0 before the first delivery

	session string // the sender's sessionId; "" if there is none
	name    string // the sender's messageId; "" if there is none
	origin  int64  // the number that the message got where it was sent to; 0: here
	rule    string // the rule whose action changed it; "" if there is none
	hops    int32  // how often it has been forwarded

	locked      bool
	token       token
	lockedUntil int64

	reason, description, source string

	forwardedDead bool // whether it is a dead letter that has been forwarded to this queue
}

// isDead reports whether the message is in a dead-letter queue.
func (m *message) isDead() bool { return m.source != "" && !m.forwardedDead }

// decode decodes a stored message.
func decode(r storage.Record) (m message) {
	m.id = r.ID
	m.read(m.split(r.Doc).Doc())
	return m
}

// split stores the fields before and after _mq, and returns _mq.
func (m *message) split(d value.Doc) value.Value {
	offset := 4
	for it := d.Iter(); it.Next(); {
		if it.Key() == Field {
			m.head, m.tail = d[4:offset], it.Rest()
			return it.Value()
		}
		offset += len(it.Element())
	}
	m.head, m.tail = d[4:offset], nil
	return value.Value{}
}

// read decodes the fields of _mq into the message.
func (m *message) read(mq value.Doc) {
	for it := mq.Iter(); it.Next(); {
		v := it.Value()
		switch it.Key() {
		case "sequenceNumber":
			m.number = v.Int64()
		case "enqueuedTimeUtc":
			m.enqueued = v.DateTime()
		case "timeToLive":
			m.timeToLive = v.Int64()
		case "expiresAtUtc":
			m.hasExpiry, m.expires = true, v.DateTime()
		case "scheduledEnqueueTimeUtc":
			m.due = v.DateTime()
		case "state":
			m.state = state(v.Str())
		case "deliveryCount":
			m.deliveries = v.Int32()
		case "sessionId":
			m.session = v.Str()
		case "messageId":
			m.name = v.Str()
		case "enqueuedSequenceNumber":
			m.origin = v.Int64()
		case "ruleName":
			m.rule = v.Str()
		case "hops":
			m.hops = v.Int32()
		case "lockToken":
			_, b := v.Binary()
			m.locked = copy(m.token[:], b) == len(m.token)
		case "lockedUntilUtc":
			m.lockedUntil = v.DateTime()
		case "deadLetterReason":
			m.reason = v.Str()
		case "deadLetterErrorDescription":
			m.description = v.Str()
		case "deadLetterSource":
			m.source = v.Str()
		case "deadLetterForwarded":
			m.forwardedDead = v.Bool()
		}
	}
}

// form selects the fields of _mq that encode writes.
type form uint8

const (
	stored    form = iota // all fields, also those that only indexes read
	delivered             // the fields for the holder of the lock
	browsed               // the fields for all other readers
)

// encode encodes the message.
func (m *message) encode(f form, dead bool) value.Doc {
	var b value.Builder
	b.Reset(make([]byte, 0, len(m.head)+len(m.tail)+320))
	b.Raw(m.head)
	b.Raw(m.tail)
	b.StartDocument(Field)
	b.Int64("sequenceNumber", m.number)
	b.Date("enqueuedTimeUtc", m.enqueued)
	b.Int64("timeToLive", m.timeToLive)
	if m.hasExpiry {
		b.Date("expiresAtUtc", m.expires)
	}
	if m.state == scheduled {
		b.Date("scheduledEnqueueTimeUtc", m.due)
	}
	b.String("state", string(m.state))
	b.Int32("deliveryCount", m.deliveries)
	m.appendOrigin(&b, f)
	if m.locked && f != browsed {
		b.Append("lockToken", value.Binary(4, m.token[:]))
		b.Date("lockedUntilUtc", m.lockedUntil)
	}
	if m.source != "" {
		m.appendDeadLetterReason(&b)
	}
	if f == stored {
		m.appendOrders(&b, dead)
	}
	b.End()
	return b.Doc()
}

// appendOrigin writes what the sender called the message, and the way that it came.
func (m *message) appendOrigin(b *value.Builder, f form) {
	if m.session != "" {
		b.String("sessionId", m.session)
	}
	if m.name != "" {
		b.String("messageId", m.name)
	}
	if m.origin != 0 {
		b.Int64("enqueuedSequenceNumber", m.origin)
	}
	if m.rule != "" {
		b.String("ruleName", m.rule)
	}
	if m.hops != 0 && f == stored {
		b.Int32("hops", m.hops)
	}
}

// appendDeadLetterReason writes the reason for which a message was
// dead-lettered, and its source.
func (m *message) appendDeadLetterReason(b *value.Builder) {
	if m.reason != "" {
		b.String("deadLetterReason", m.reason)
	}
	if m.description != "" {
		b.String("deadLetterErrorDescription", m.description)
	}
	b.String("deadLetterSource", m.source)
	if m.forwardedDead {
		b.Bool("deadLetterForwarded", true)
	}
}

// appendOrders writes the hidden fields that put an unlocked message into
// the indexes it belongs to; see Indexes.
func (m *message) appendOrders(b *value.Builder, dead bool) {
	switch {
	case m.locked:
		if m.session != "" {
			b.String("heldSession", m.session)
		}
	case m.state == scheduled:
	case m.state == deferred:
		b.Int64("deferred", m.number)
	default:
		b.Int64("ready", m.number)
		if m.session != "" && !dead {
			b.String("readySession", m.session)
		}
		if m.hasExpiry && !dead {
			b.Date("expiry", m.expires)
		}
	}
}

// expired reports whether the message has expired.
func (m *message) expired(now int64) bool { return m.hasExpiry && m.expires <= now }

// held reports whether a receiver holds a lock that has not lapsed.
func (m *message) held(now int64) bool { return m.locked && m.lockedUntil > now }

// enqueue sets the fields that depend on the instant at which the message
// becomes active.
func (m *message) enqueue(number, at int64) {
	m.number, m.enqueued, m.state, m.due = number, at, active, 0
	if m.hasExpiry = m.timeToLive < Unlimited; m.hasExpiry {
		m.expires = after(at, m.timeToLive)
	}
}

// after returns the instant ms milliseconds after at, or the last instant if
// the sum overflows.
func after(at, ms int64) int64 {
	if at > math.MaxInt64-ms {
		return math.MaxInt64
	}
	return at + ms
}

// lock locks the message until an instant.
func (m *message) lock(until int64) {
	m.locked, m.token, m.lockedUntil = true, newToken(m.id), until
	m.deliveries = max(m.deliveries, 1)
}

func (m *message) unlock() { m.locked, m.token, m.lockedUntil = false, token{}, 0 }

// fail counts a failed delivery and reports whether it was the last one
// allowed.
func (m *message) fail(c *Config) (last bool) {
	m.deliveries = max(m.deliveries, 1) + 1
	return m.deliveries > c.MaxDeliveryCount
}

// sent is the document of the sender, without _mq.
func (m *message) sent() value.Doc {
	d := value.OpenDoc(make([]byte, 0, len(m.head)+len(m.tail)+5))
	return value.Doc(value.CloseDoc(append(append(d, m.head...), m.tail...), 0))
}

// set replaces fields of the sender, which are all placed before _mq.
func (m *message) set(fields value.Doc) error {
	if fields.IsEmpty() {
		return nil
	}
	if err := checkSet(fields); err != nil {
		return err
	}
	old, b := m.sent(), value.NewBuilder()
	for it := old.Iter(); it.Next(); {
		if v, replaced := fields.Get(it.Key()); replaced {
			b.Append(it.Key(), v)
		} else {
			b.Raw(it.Element())
		}
	}
	for it := fields.Iter(); it.Next(); {
		if !old.Has(it.Key()) {
			b.Raw(it.Element())
		}
	}
	d := b.Doc()
	m.head, m.tail = d[4:len(d)-1], nil
	return nil
}

func checkSet(fields value.Doc) error {
	for name := range fields.All() {
		switch {
		case name == Field:
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s' of a message is owned by the server", Field)
		case name == "_id":
			return mongoerr.New(mongoerr.ImmutableField, "The field '_id' of a message cannot be changed")
		case len(name) > 0 && name[0] == '$':
			return mongoerr.Newf(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' is not allowed in a message", name)
		}
	}
	return nil
}
