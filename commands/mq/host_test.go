package mq_test

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// mqHost shows the monitor the queues of a service and nothing else.
type mqHost struct{ e *mqEnv }

func (mqHost) Collections(context.Context) ([]ttl.Collection, error) { return nil, nil }

func (h mqHost) Targets(ctx context.Context) ([]ttl.Target, error) {
	return h.e.svc.Queues.Targets(ctx, h.e.svc.Engine)
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
