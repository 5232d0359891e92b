package kv

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// briefViews has the memory of Views that read once. It is used again when the View is over.
var briefViews = sync.Pool{New: func() any { return new(Tx) }}

var _ storage.BriefViewer = (*Engine)(nil)

// ViewBriefly implements storage.BriefViewer: it does not allocate. fn must not keep the
// transaction, or a collection of it, as these serve another View later.
func (e *Engine) ViewBriefly(ctx context.Context, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	base, err := e.latest()
	if err != nil {
		return err
	}
	t := briefViews.Get().(*Tx)
	e.beginOn(t, ctx, base)
	defer t.forget()
	return fn(t)
}

// forget ends a View and forgets what it has seen.
func (t *Tx) forget() {
	t.End()
	*t = Tx{Done: true}
	briefViews.Put(t)
}
