package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planQueue plans a message queue and its dead-letter queue.
func (c *Call) planQueue(ns storage.Namespace, a *createArgs) (*creation, error) {
	if err := queue.CheckOptions(c.Body); err != nil {
		return nil, err
	}
	if err := ttl.CheckNamespace(ns, queue.Option); err != nil {
		return nil, err
	}
	config, err := queue.ParseConfig("create", a.MessageQueue)
	if err != nil {
		return nil, err
	}
	options, err := c.planOptions(a)
	if err != nil {
		return nil, err
	}
	id, err := a.planIDIndex(ns)
	if err != nil {
		return nil, err
	}
	dead := storage.Namespace{DB: ns.DB, Coll: queue.DeadLetterName(ns.Coll)}
	return &creation{parts: []creationPart{
		{ns: ns, options: queue.WithOption(options, config.Doc()), indexes: append([]storage.IndexSpec{id}, queue.Indexes(false)...)},
		{ns: dead, options: queue.DeadLetterOptions(ns.Coll), indexes: append([]storage.IndexSpec{queue.IDIndex()}, queue.Indexes(true)...)},
	}}, nil
}

// beginQueue completes the creation of a queue: its idle clock runs from now.
// Other collections need nothing.
func (c *Call) beginQueue(tx storage.Tx, plan *creation) error {
	if main := plan.parts[0]; queue.IsQueue(main.options) {
		return queue.Begin(tx, main.ns, c.now)
	}
	return nil
}

// modifyQueue applies the messageQueue option of collMod. Nothing may be
// changed that a queue cannot have. Any collMod of a queue is an activity.
func (m *collMod) modifyQueue() error {
	v := m.args.MessageQueue
	if v.IsMissing() && !m.meta.isQueue {
		return nil
	}
	if err := queue.CheckOptions(m.c.Body); err != nil {
		return err
	}
	if m.meta.isQueue && m.args.Index != nil {
		if err := queue.CheckIndex(m.info, m.args.Index); err != nil {
			return err
		}
	}
	if v.IsMissing() {
		return nil
	}
	return m.c.svc.queues.Modify(m.tx, m.info.Namespace, v, m.c.now)
}

// queueChanges is what an engine transaction does to queues, beside its
// writes: it takes effect when the transaction has committed.
type queueChanges struct {
	sender  *queue.Sender
	dropped []*storage.Info
	broker  *queue.Broker
}

// begin forgets what an attempt did that is made anew.
func (q *queueChanges) begin() {
	if q.broker != nil {
		q.sender.Reset()
		q.dropped = nil
	}
}

// committed wakes the receivers that wait.
func (q *queueChanges) committed() {
	if q.broker == nil {
		return
	}
	q.sender.Committed()
	for _, info := range q.dropped {
		q.broker.Dropped(info)
	}
	q.dropped = nil
}

// queueChanges is where the running engine transaction notes what it does to
// queues: the command's own, or that of its multi-document transaction.
func (c *Call) queueChanges() *queueChanges {
	q := &c.sends
	if t := c.transaction(); t != nil {
		q = &t.sends
	}
	if q.broker == nil {
		q.broker, q.sender = c.svc.queues, c.svc.queues.Sender()
	}
	return q
}

// send is an insert into a queue.
func (w *writer) send(d value.Doc) (storage.RecordID, error) {
	id, err := w.c.queueChanges().sender.Insert(w.tx, w.ns, d, w.c.now)
	return id, w.translate(err, d)
}

// noteQueueDrop has the receivers told that a queue is gone.
func (c *Call) noteQueueDrop(info *storage.Info) {
	if queue.IsQueue(info.Options) {
		q := c.queueChanges()
		q.dropped = append(q.dropped, info)
	}
}

// dropQueue drops a queue with all that belongs to it.
func (c *Call) dropQueue(tx storage.Tx, info *storage.Info) error {
	c.noteQueueDrop(info)
	return translate(info.Namespace, queue.Drop(tx, info.Namespace))
}

// refuseQueue refuses commands that would change messages.
func (c *Call) refuseQueue(ns storage.Namespace) error {
	info, err := c.lookup(ns)
	if err != nil || info == nil {
		return err
	}
	return queue.CheckUpdate(info)
}

// noteRead notes that a command reads a collection: a change log that is read
// keeps more, and a queue that is read is not idle. Inside a transaction the
// latter is not noted.
func (c *Call) noteRead(info *storage.Info) error {
	if info != nil && info.Namespace == oplogNS {
		c.svc.oplog.noteReader(c.ctx)
	}
	if info == nil || c.transaction() != nil || !queue.IsQueue(info.Options) {
		return nil
	}
	err := c.svc.queues.Touch(c.ctx, callStore{c}, info, c.now)
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) || errors.Is(err, storage.ErrNotFound) {
		return nil // it was dropped meanwhile, which the read will notice
	}
	return err
}
