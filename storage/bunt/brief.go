package bunt

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// briefViews has the memory of Views that read once. It is used again when the View is over.
var briefViews = sync.Pool{New: func() any { return new(tx) }}

// ViewBriefly implements storage.BriefViewer: it does not allocate. fn must not keep the
// transaction, or a collection of it, as these serve another View later.
func (e *Engine) ViewBriefly(ctx context.Context, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root := e.root.Load()
	if root == nil {
		return storage.ErrClosed
	}
	t := briefViews.Get().(*tx)
	t.e, t.ctx, t.root, t.done = e, ctx, root, false
	defer t.forget()
	return fn(t)
}

// forget ends a View, and forgets the state that it has seen.
func (t *tx) forget() {
	for i := range t.opened {
		t.handles[i] = collection{}
	}
	t.opened, t.e, t.root, t.ctx, t.done = 0, nil, nil, nil, true
	briefViews.Put(t)
}
