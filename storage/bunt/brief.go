package bunt

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// briefView is the memory of a View that reads once, with the handle on the collection that
// it opens. It is used again when the View is over.
type briefView struct {
	tx   tx
	coll collection
}

var briefViews = sync.Pool{New: func() any { return new(briefView) }}

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
	v := briefViews.Get().(*briefView)
	v.tx = tx{e: e, ctx: ctx, root: root, spare: &v.coll}
	defer v.release()
	return fn(&v.tx)
}

// release ends the View, and forgets the state that it has seen.
func (v *briefView) release() {
	v.tx, v.coll = tx{done: true}, collection{}
	briefViews.Put(v)
}
