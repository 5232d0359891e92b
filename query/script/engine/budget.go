package engine

import "sync/atomic"

// Budget is the memory limit of all scopes that share it.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// Used returns the bytes that scopes have at present.
func (b *Budget) Used() int64 { return b.used.Load() }

// smallBytes is up to which size a scope gets all that is left. A larger one leaves
// as much as it has to others, so that a few never take everything.
const smallBytes = 4 << 20

// take gives more bytes to a scope that has some.
func (b *Budget) take(more, has int64) bool {
	for {
		used := b.used.Load()
		left := b.Limit - used
		if more > left || has+more > smallBytes && has+more > left {
			return false
		}
		if b.used.CompareAndSwap(used, used+more) {
			return true
		}
	}
}

func (b *Budget) giveBack(n int64) { b.used.Add(-n) }
