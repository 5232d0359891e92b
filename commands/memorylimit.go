package commands

import (
	"runtime"
	rt "runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
)

// memoryGuard keeps the data, which lives in memory, from taking more of it
// than the server may have. Writes that would pass the limit fail; reads and
// deletes go on.
//
// Asking the runtime costs more than a small write, so what was in use when
// it was last asked is added up with what was written since, and only a sum
// near the limit asks again.
type memoryGuard struct {
	limit int64 // 0: none
	clock clock.Clock
	used  atomic.Int64 // estimate: measured, and written since
	full  atomic.Bool  // a write was refused, and there is not much room again
	log   *zerolog.Logger

	mu     sync.Mutex
	lastGC time.Time
	inUse  func() int64 // bytes of live and dead objects
	gc     func()
}

// recordCost is about what a record takes beside its document: the entries of
// the trees and of the _id index.
const recordCost = 300

// entryCost is about what an entry of an index takes.
const entryCost = 100

// gcPause is the least time between collections that the guard asks for. A
// server at its limit must not spend its time looking for garbage.
const gcPause = 500 * time.Millisecond

func newMemoryGuard(limit int64, real clock.Clock, log *zerolog.Logger) *memoryGuard {
	g := &memoryGuard{limit: limit, clock: real, log: log, inUse: heapInUse, gc: runtime.GC}
	if limit > 0 {
		g.used.Store(g.inUse())
	}
	return g
}

// heapInUse is the memory of all objects, with those that are dead but not
// collected yet.
func heapInUse() int64 {
	sample := []rt.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	rt.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// admit asks for room for a record of n bytes.
func (g *memoryGuard) admit(n int) error {
	if n <= 0 {
		return nil
	}
	return g.reserve(int64(n) + recordCost)
}

// admitEntries asks for room for an index with n entries.
func (g *memoryGuard) admitEntries(n int64) error { return g.reserve(n * entryCost) }

func (g *memoryGuard) reserve(cost int64) error {
	if g.limit <= 0 || cost == 0 {
		return nil
	}
	if g.used.Add(cost) <= g.limit-g.limit/8 {
		if g.full.Load() {
			g.note(false)
		}
		return nil
	}
	if g.measure()+cost <= g.limit {
		g.used.Add(cost)
		return nil
	}
	g.note(true)
	return mongoerr.Newf(mongoerr.ExceededMemoryLimit,
		"the server's memory limit of %d MB (--memoryLimit) is reached; reads and deletes go on", g.limit>>20)
}

// note logs that the limit was reached, and that there is room again: an eighth
// of it, so that a server at its limit does not fill its log.
func (g *memoryGuard) note(full bool) {
	if !g.full.CompareAndSwap(!full, full) {
		return
	}
	if full {
		g.log.Warn().Int64("usedMB", g.used.Load()>>20).Int64("limitMB", g.limit>>20).
			Msg("The memory limit (--memoryLimit) is reached: writes that need more memory are refused, reads and deletes go on")
		return
	}
	g.log.Info().Int64("usedMB", g.used.Load()>>20).Int64("limitMB", g.limit>>20).Msg("There is room below the memory limit again")
}

// measure asks the runtime, and collects garbage if that may make room.
func (g *memoryGuard) measure() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.inUse()
	if now := g.clock.Now(); used > g.limit-g.limit/8 && now.Sub(g.lastGC) >= gcPause {
		g.gc()
		used = g.inUse()
		g.lastGC = g.clock.Now()
	}
	g.used.Store(used)
	return used
}

// refresh corrects the estimate now and then.
func (g *memoryGuard) refresh() {
	if g.limit > 0 {
		g.used.Store(g.inUse())
	}
}
