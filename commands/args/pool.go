package args

import "sync"

// Pool keeps the arguments of a hot command for its next executions.
type Pool[T any] struct{ pool sync.Pool }

// Get returns zeroed arguments to decode into.
func (p *Pool[T]) Get() *T {
	if a, ok := p.pool.Get().(*T); ok {
		return a
	}
	return new(T)
}

// Put returns arguments to the pool when nothing refers to them any more.
func (p *Pool[T]) Put(a *T) {
	var zero T
	*a = zero
	p.pool.Put(a)
}
