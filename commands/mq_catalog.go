package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
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
	id, err := c.planIDIndex(a)
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

// modifyQueue applies the messageQueue option of collMod. Nothing else may be
// changed together with it that a queue cannot have.
func (m *collMod) modifyQueue() error {
	if err := queue.CheckOptions(m.c.Body); err != nil {
		return err
	}
	return m.c.svc.queues.Modify(m.tx, m.info.Namespace, m.args.MessageQueue, m.c.now)
}

// dropQueue drops a queue with all that belongs to it. The receivers that
// wait for its messages are told when the transaction has committed; see
// queueDropped.
func (c *Call) dropQueue(tx storage.Tx, info *storage.Info) error {
	return translate(info.Namespace, queue.Drop(tx, info.Namespace))
}

// queueDropped is called after a collection has been dropped.
func (c *Call) queueDropped(info *storage.Info) {
	if queue.IsQueue(info.Options) {
		c.svc.queues.Dropped(info)
	}
}

// touchQueue notes that a command has read a collection: what is read is not
// idle. Inside a transaction it is not noted.
func (c *Call) touchQueue(info *storage.Info) error {
	if info == nil || c.transaction() != nil || !queue.IsQueue(info.Options) {
		return nil
	}
	err := c.svc.queues.Touch(c.ctx, callStore{c}, info, c.now)
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) || errors.Is(err, storage.ErrNotFound) {
		return nil // it was dropped meanwhile, which the read will notice
	}
	return err
}
