package queue

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// # How messages pass on
//
// A topic keeps only scheduled messages: each message that becomes active in it is copied to
// the subscriptions whose rules select it. A queue or subscription with forwardTo keeps none
// either: a message goes on to another queue or topic. All of that happens in the
// transaction in which the message arrives, so that it is in all places or in none.
//
// A place further on may refuse a message: it is gone, one hop too far, or has a unique
// index of a user's. Its sender has nothing to do with that, so the message goes to a
// dead-letter queue, which never refuses one.

// maxHops is how often a message may be forwarded.
const maxHops = 4

// Reasons for which a message goes to a dead-letter queue on its way, with the descriptions
// of Service Bus where it has one.
const (
	reasonHops         = "MaxTransferHopCountExceeded"
	descriptionHops    = "The maximum number of allowed hops when forwarding between queues has been exceeded. This value is set to 4."
	reasonSession      = "Session ID is null."
	descriptionSession = "Session enabled entity doesn't allow a message whose session identifier is null."
	reasonTransfer     = "TransferFailed"
	reasonFilter       = "FilterEvaluationException"
)

// unit holds the queues that a command has opened on the way of its messages, by the names of
// their collections, so that each is opened once.
type unit map[string]*entity

// other opens another queue, topic or subscription of the database.
func (e *entity) other(name string) (*entity, error) {
	if e.unit == nil {
		e.unit = unit{}
		if !e.dead {
			e.unit[e.ns.Coll] = e
		}
	}
	if o := e.unit[name]; o != nil {
		return o, nil
	}
	o, err := e.broker.open(e.tx, Ref{Namespace: storage.Namespace{DB: e.ns.DB, Coll: name}}, e.now, e.changes)
	if err != nil {
		return nil, err
	}
	o.unit = e.unit
	e.unit[name] = o
	return o, nil
}

// passes reports whether active messages do not stay in the queue.
func (c *Config) passes() bool { return c.Kind == Topic || c.ForwardTo != "" }

// enqueue gives a message that becomes active at an instant its number, and stores it. A
// message that is refused leaves no gap.
func (e *entity) enqueue(m *message, at int64, store func() error) error {
	l, err := e.numbers()
	if err != nil {
		return err
	}
	m.enqueue(l.next, at)
	l.next++
	if err := store(); err != nil {
		l.next--
		return err
	}
	if e.config.Kind != Subscription { // what it gets from the topic is no activity
		used := min(at, e.now)
		l.activity = max(l.activity, used)
		e.out.activity = max(e.out.activity, used)
	}
	return l.write(e.uuid, e.now)
}

// pass hands on an active message.
func (e *entity) pass(m *message) error {
	if m.origin == 0 {
		m.origin = m.number
	}
	if e.config.Kind == Topic {
		return e.distribute(m)
	}
	return e.forward(m, e.config.ForwardTo)
}

// distribute copies a message to the subscriptions that select it.
func (e *entity) distribute(m *message) error {
	l, err := e.numbers()
	if err != nil {
		return err
	}
	for _, name := range l.subscriptions {
		s, err := e.other(name)
		if err != nil {
			return err
		}
		if err := s.selectFrom(m); err != nil {
			return err
		}
	}
	return nil
}

// selectFrom takes the copies of a message of the topic that the rules select.
func (e *entity) selectFrom(m *message) error {
	failed, err := e.config.Rules.eachCopy(m, e.now, e.changes, e.arrive)
	if err != nil || failed == nil || !e.config.DeadLetterOnFilter {
		return err
	}
	c := *m
	if err := e.changes.copied(&c); err != nil {
		return err
	}
	return e.enqueue(&c, e.now, func() error { return e.storeDeadLetter(&c, reasonFilter, mongoerr.From(failed).Error()) })
}

// forward sends a message on to another queue or topic.
func (e *entity) forward(m *message, to string) error {
	if m.hops >= maxHops {
		return e.keepDeadLetter(m, reasonHops, descriptionHops)
	}
	target, why, err := e.target(to)
	switch {
	case err != nil:
		return err
	case e.refusing:
		why = "it would have too many copies"
	}
	if why != "" {
		return e.keepDeadLetter(m, reasonTransfer, fmt.Sprintf("The message could not be forwarded to '%s': %s", to, why))
	}
	m.hops++
	return target.arrive(m)
}

// target opens what messages are forwarded to. why is not empty if there is no queue or topic
// of the name.
func (e *entity) target(name string) (t *entity, why string, err error) {
	t, err = e.other(name)
	switch {
	case mongoerr.Is(err, mongoerr.NamespaceNotFound), mongoerr.Is(err, mongoerr.IllegalOperation):
		return nil, mongoerr.From(err).Error(), nil
	case err != nil:
		return nil, "", err
	case t.dead || t.config.Kind == Subscription:
		return nil, "it is neither a queue nor a topic", nil
	}
	return t, "", nil
}

// arrive puts a message that comes from another queue or a topic into this one.
func (e *entity) arrive(m *message) error {
	if err := e.changes.copied(m); err != nil {
		return err
	}
	m.timeToLive = min(m.timeToLive, e.config.DefaultTimeToLive)
	m.deliveries = 0
	return e.once(m, func() error { return e.enqueue(m, e.now, func() error { return e.takeIn(m) }) })
}

// takeIn stores a message that has arrived, or hands it on.
func (e *entity) takeIn(m *message) error {
	switch {
	case e.config.RequiresSession && m.session == "":
		return e.storeDeadLetter(m, reasonSession, descriptionSession)
	case e.config.passes():
		return e.pass(m)
	}
	return e.settleIn(m)
}

// settleIn stores a message that the queue cannot refuse its sender.
func (e *entity) settleIn(m *message) error {
	err := e.reinsert(m)
	if why, refused := refusal(err); refused {
		return e.storeDeadLetter(m, reasonTransfer, fmt.Sprintf("The message could not be stored in '%s': %s", e.ns.Coll, why))
	}
	return err
}

// refusal is why an index of a user's refuses a message: because it is unique, or because it
// cannot have a value of the message. refused is false for other errors.
func refusal(err error) (why string, refused bool) {
	var taken *storage.DuplicateKeyError
	var unfit *mongoerr.Error
	switch {
	case errors.As(err, &taken):
		return fmt.Sprintf("a unique index has its value of '%s' already", taken.Index), true
	case errors.As(err, &unfit) && !unfit.Code.In(mongoerr.CategoryInterruption|mongoerr.CategoryShutdownError):
		return unfit.Message, true
	}
	return "", false
}

// reinsert stores a message in the queue. If the queue has another one with the same _id,
// which a queue of Service Bus would accept, the message gets a new _id.
func (e *entity) reinsert(m *message) error {
	if err := e.insertAnew(e.main, m, false); err != nil {
		return err
	}
	e.out.ready += ifReady(m)
	e.out.note(m, false)
	return nil
}

// storeDeadLetter puts a message that the queue loses into the dead-letter queue, or
// forwards it to where dead letters go. One that cannot be forwarded stays, with its reason.
func (e *entity) storeDeadLetter(m *message, reason, description string) error {
	forwards, err := e.forwardsDead()
	if err != nil {
		return err
	}
	if e.refusing && forwards {
		m.hops, forwards = maxHops, false
	}
	if !forwards || m.hops >= maxHops {
		return e.keepDeadLetter(m, reason, description)
	}
	m.markDead(reason, description, e.ns.Coll)
	return e.forwardDead(m)
}

// forwardsDead reports whether dead letters can be forwarded.
func (e *entity) forwardsDead() (bool, error) {
	if e.config.ForwardDeadTo == "" {
		return false, nil
	}
	_, why, err := e.target(e.config.ForwardDeadTo)
	return why == "", err
}

// forwardDead sends a dead letter on. There it lives as long as messages do by default: its
// own time may be over.
func (e *entity) forwardDead(m *message) error {
	m.forwardedDead, m.timeToLive = true, Unlimited
	if m.origin == 0 {
		m.origin = m.number
	}
	return e.forward(m, e.config.ForwardDeadTo)
}

// markDead notes on a message why it is a dead letter.
func (m *message) markDead(reason, description, source string) {
	m.unlock()
	m.state, m.due = active, 0
	m.reason, m.description, m.source = reason, shorten(description), source
}

// maxDescription bounds the reason and the description of a dead letter, as in the clients of
// Service Bus. The text of an error, which may show a whole message, is cut.
const maxDescription = 4096

// shorten cuts a text between characters.
func shorten(s string) string {
	n := min(len(s), maxDescription)
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// keepDeadLetter inserts a message that the queue loses into its dead-letter queue.
func (e *entity) keepDeadLetter(m *message, reason, description string) error {
	dead, err := e.deadLetters()
	if err != nil {
		return err
	}
	m.markDead(reason, description, e.ns.Coll)
	m.forwardedDead = false
	if err := e.insertAnew(dead, m, true); err != nil {
		return err
	}
	e.out.dead++
	return nil
}

// insertAnew inserts a message into the queue or the dead-letter queue. If another one there has
// the same _id, it gets a new one, so that both are kept.
func (e *entity) insertAnew(coll storage.Collection, m *message, dead bool) (err error) {
	d := m.encode(stored, dead)
	m.id, err = coll.Insert(d, e.now)
	var taken *storage.DuplicateKeyError
	if errors.As(err, &taken) && taken.Index == reserved.IDIndex {
		m.id, err = coll.Insert(withNewID(d, e.now), e.now)
	}
	return err
}

// withNewID replaces the _id of a document.
func withNewID(d value.Doc, now int64) value.Doc {
	b := value.NewBuilder()
	b.Append("_id", value.ObjectID(value.NewOID(now)))
	for it := d.Iter(); it.Next(); {
		if it.Key() != "_id" {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

// # Strays
//
// Strays are the messages and dead letters that came before the queue forwarded, or before
// what it forwards to existed. The next pass or receiver hands them on.

// stray is a collection that may have some.
type stray struct {
	coll storage.Collection
	pass func(*message) error
	stay bool // whether messages stay that have been forwarded too often
}

func (e *entity) strays() (list []stray, err error) {
	if e.config.ForwardTo != "" {
		list = append(list, stray{coll: e.main, pass: e.passStray})
	}
	forwards, err := e.forwardsDead()
	if forwards && e.deadColl != nil {
		list = append(list, stray{coll: e.deadColl, pass: e.passDead, stay: true})
	}
	return list, err
}

// next finds the first strays, at most n.
func (s *stray) next(n int) (found []message, err error) {
	if n <= 0 {
		return nil, nil
	}
	err = walk(s.coll, byReady, storage.KeyRange{}, func(m *message) bool {
		if !s.stay || m.hops < maxHops {
			found = append(found, *m)
		}
		return len(found) < n
	})
	return found, err
}

// passOn hands on strays, at most limit of them.
func (e *entity) passOn(limit int) (n int, err error) {
	strays, err := e.strays()
	for _, s := range strays {
		var list []message
		if err == nil {
			list, err = s.next(limit - n)
		}
		for i := range list {
			if err != nil || !e.changes.room() {
				return limit, err
			}
			err = s.pass(&list[i])
			n++
		}
	}
	return n, err
}

// passStray hands on a message. If it has expired it goes the way of those that do.
func (e *entity) passStray(m *message) error {
	if m.expired(e.now) {
		return e.expire(m)
	}
	if err := remove(e.main, m.id); err != nil {
		return err
	}
	return e.pass(m)
}

// passDead hands on a dead letter.
func (e *entity) passDead(m *message) error {
	if e.refusing {
		m.hops = maxHops
		return e.save(e.deadColl, m)
	}
	if err := remove(e.deadColl, m.id); err != nil {
		return err
	}
	return e.forwardDead(m)
}
