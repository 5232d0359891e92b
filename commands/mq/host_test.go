package mq_test

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
)

// mqHost shows the monitor the queues of a service and nothing else.
type mqHost struct{ e *mqEnv }

func (h mqHost) Collections(ctx context.Context, _ *monitor.Schedule, _ int64) (l monitor.Listing, err error) {
	err = h.e.svc.Engine.View(ctx, func(tx storage.Tx) error {
		infos, err := tx.Collections("")
		l.Queues = h.e.svc.Queues.Targets(infos, h.e.svc.Engine)
		return err
	})
	return l, err
}

func (mqHost) View(context.Context, *monitor.Collection, func(storage.Collection, *ttl.Rules) error) error {
	return monitor.ErrGone
}

func (mqHost) Update(context.Context, *monitor.Collection, func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	return monitor.ErrGone
}

func (mqHost) Parameters() monitor.Parameters {
	return monitor.Parameters{Enabled: true, SleepSecs: 60, BatchDeletes: true, SubPassTargetSecs: 60, DeleteTargetMS: 1000, DeleteTargetDocs: 50000}
}

func (mqHost) Locked() bool { return false }

func (mqHost) ActiveOperations() int { return 0 }

func (mqHost) Operations() int64 { return 0 }
