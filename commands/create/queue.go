package create

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planQueue plans a queue, topic or subscription, with its dead-letter queue if it has one.
func planQueue(c *kernel.Call, ns storage.Namespace, a *Args, kind queue.Kind, option value.Value) (*Plan, error) {
	if err := queue.CheckOptions(c.Body); err != nil {
		return nil, err
	}
	if err := ttl.CheckNamespace(ns, kind.Option()); err != nil {
		return nil, err
	}
	config, err := queue.ParseConfig("create", kind, option)
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
	plan := &Plan{Parts: []Part{
		{NS: ns, Options: queue.WithOption(options, &config), Indexes: append([]storage.IndexSpec{id}, queue.Indexes(&config)...)},
	}}
	if kind != queue.Topic {
		dead := storage.Namespace{DB: ns.DB, Coll: queue.DeadLetterName(ns.Coll)}
		plan.Parts = append(plan.Parts, Part{NS: dead, Options: queue.DeadLetterOptions(ns.Coll), Indexes: append([]storage.IndexSpec{queue.IDIndex()}, queue.DeadLetterIndexes()...)})
	}
	return plan, nil
}

// beginQueue completes the creation of a queue. Other collections need nothing.
func beginQueue(c *kernel.Call, tx storage.Tx, plan *Plan) error {
	if main := plan.Parts[0]; queue.IsQueue(main.Options) {
		return kernel.Translate(main.NS, c.Svc.Queues.Begin(tx, c.QueueChanges(), main.NS, c.Now))
	}
	return nil
}
