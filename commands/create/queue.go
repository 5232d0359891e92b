package create

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// planQueue plans a message queue and its dead-letter queue.
func planQueue(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
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
	options, err := planOptions(c, a)
	if err != nil {
		return nil, err
	}
	id, err := a.planIDIndex(ns)
	if err != nil {
		return nil, err
	}
	dead := storage.Namespace{DB: ns.DB, Coll: queue.DeadLetterName(ns.Coll)}
	return &Plan{Parts: []Part{
		{NS: ns, Options: queue.WithOption(options, config.Doc()), Indexes: append([]storage.IndexSpec{id}, queue.Indexes(false)...)},
		{NS: dead, Options: queue.DeadLetterOptions(ns.Coll), Indexes: append([]storage.IndexSpec{queue.IDIndex()}, queue.Indexes(true)...)},
	}}, nil
}

// beginQueue completes the creation of a queue: its idle clock runs from now.
// Other collections need nothing.
func beginQueue(c *kernel.Call, tx storage.Tx, plan *Plan) error {
	if main := plan.Parts[0]; queue.IsQueue(main.Options) {
		return queue.Begin(tx, main.NS, c.Now)
	}
	return nil
}
