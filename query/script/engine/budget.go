package engine

import "sync/atomic"

// Budget is the memory limit of all scopes that share it.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// Used returns the bytes reserved by scopes at present.
func (b *Budget) Used() int64 { return b.used.Load() }

// leastBytes is the memory that a scope gets even if the budget is used up:
// less would not run the simplest script.
const leastBytes = 4 << 20

// take reserves up to want bytes, as many as are left.
func (b *Budget) take(want int64) int64 {
	for {
		used := b.used.Load()
		got := max(min(want, b.Limit-used), leastBytes)
		if b.used.CompareAndSwap(used, used+got) {
			return got
		}
	}
}

func (b *Budget) giveBack(n int64) { b.used.Add(-n) }
