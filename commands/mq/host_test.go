package mq_test

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// mqHost shows the monitor the queues of a service and nothing else.
type mqHost struct{ e *mqEnv }

func (h mqHost) Collections(ctx context.Context, _ *ttl.Agenda, _ int64) (l ttl.Listing, err error) {
	err = h.e.svc.Engine.View(ctx, func(tx storage.Tx) error {
		infos, err := tx.Collections("")
		l.Queues = h.e.svc.Queues.Targets(infos, h.e.svc.Engine)
		return err
	})
	return l, err
}

func (mqHost) View(context.Context, *ttl.Collection, func(storage.Collection, *ttl.Rules) error) error {
	return ttl.ErrGone
}

func (mqHost) Update(context.Context, *ttl.Collection, func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	return ttl.ErrGone
}

func (mqHost) Parameters() ttl.Parameters { return ttl.DefaultParameters() }

func (mqHost) Locked() bool { return false }

func (mqHost) ActiveOperations() int { return 0 }

func (mqHost) Operations() int64 { return 0 }
