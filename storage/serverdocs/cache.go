package serverdocs

import (
	"context"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Cache holds a value derived from the documents of a collection, and derives
// it again after any change of the documents. It is safe for concurrent use.
type Cache[T any] struct {
	ns     storage.Namespace
	derive func(docs []value.Doc) *T
	held   atomic.Pointer[derived[T]]
}

// derived is what was made of the documents.
type derived[T any] struct {
	stamp uint64 // stamp of the collection, from before it was read
	of    *T
}

// NewCache makes a cache. derive gets the documents in the order in which they
// were made, and what it returns is not changed any more.
func NewCache[T any](ns storage.Namespace, derive func(docs []value.Doc) *T) *Cache[T] {
	return &Cache[T]{ns: ns, derive: derive}
}

// Held returns the value for the present documents if that needs no read, else nil.
func (c *Cache[T]) Held(engine storage.Engine) (*T, error) {
	of, _, err := c.present(engine)
	return of, err
}

func (c *Cache[T]) present(engine storage.Engine) (of *T, stamp uint64, err error) {
	if stamp, err = engine.Stamp(c.ns); err != nil {
		return nil, 0, err
	}
	if held := c.held.Load(); held != nil && held.stamp == stamp {
		of = held.of
	}
	return of, stamp, nil
}

// Get returns the value for the present documents. After an error of a read
// the next Get tries again.
func (c *Cache[T]) Get(ctx context.Context, engine storage.Engine) (*T, error) {
	of, stamp, err := c.present(engine)
	if err != nil || of != nil {
		return of, err
	}
	var docs []value.Doc
	err = engine.View(ctx, func(tx storage.Tx) (err error) {
		docs, err = All(tx, c.ns)
		return err
	})
	if err != nil {
		return nil, err
	}
	// The documents may be newer than the stamp, but never older. If they are
	// newer, or if another goroutine has stored newer ones meanwhile, the next Get
	// finds another stamp and reads again.
	of = c.derive(docs)
	c.held.Store(&derived[T]{stamp: stamp, of: of})
	return of, nil
}
