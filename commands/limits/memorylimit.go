package limits

import (
	"runtime"
	rt "runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
)

// MemoryGuard keeps the data, which lives in memory, from taking more of it
// than the server may have. Writes that would pass the limit fail; reads and
// deletes go on.
//
// Asking the runtime costs more than a small write, so what was in use when
// it was last asked is added up with what was written since, and only a sum
// near the limit asks again.
type MemoryGuard struct {
	Limit int64 // 0: none
	clock clock.Clock
	Used  atomic.Int64 // estimate: measured, and written since
	full  atomic.Bool  // a write was refused, and there is not much room again
	log   *zerolog.Logger

	mu     sync.Mutex
	lastGC time.Time
	InUse  func() int64 // bytes of live and dead objects
	Gc     func()
}

// recordCost is about what a record takes beside its document: the entries of
// the trees and of the _id index.
const recordCost = 300

// entryCost is about what an entry of an index takes.
const entryCost = 100

// gcPause is the least time between collections that the guard asks for. A
// server at its limit must not spend its time looking for garbage.
const gcPause = 500 * time.Millisecond

func NewMemoryGuard(limit int64, real clock.Clock, log *zerolog.Logger) *MemoryGuard {
	g := &MemoryGuard{Limit: limit, clock: real, log: log, InUse: heapInUse, Gc: runtime.GC}
	if limit > 0 {
		g.Used.Store(g.InUse())
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

// Admit asks for room for a record of n bytes.
func (g *MemoryGuard) Admit(n int) error {
	if n <= 0 {
		return nil
	}
	return g.reserve(int64(n) + recordCost)
}

// AdmitEntries asks for room for an index with n entries.
func (g *MemoryGuard) AdmitEntries(n int64) error { return g.reserve(n * entryCost) }

func (g *MemoryGuard) reserve(cost int64) error {
	if g.Limit <= 0 || cost == 0 {
		return nil
	}
	if g.Used.Add(cost) <= g.Limit-g.Limit/8 {
		if g.full.Load() {
			g.note(false)
		}
		return nil
	}
	if g.measure()+cost <= g.Limit {
		g.Used.Add(cost)
		return nil
	}
	g.note(true)
	return mongoerr.Newf(mongoerr.ExceededMemoryLimit,
		"the server's memory limit of %d MB (--memoryLimit) is reached; reads and deletes go on", g.Limit>>20)
}

// note logs that the limit was reached, and that there is room again: an eighth
// of it, so that a server at its limit does not fill its log.
func (g *MemoryGuard) note(full bool) {
	if !g.full.CompareAndSwap(!full, full) {
		return
	}
	if full {
		g.log.Warn().Int64("usedMB", g.Used.Load()>>20).Int64("limitMB", g.Limit>>20).
			Msg("The memory limit (--memoryLimit) is reached: writes that need more memory are refused, reads and deletes go on")
		return
	}
	g.log.Info().Int64("usedMB", g.Used.Load()>>20).Int64("limitMB", g.Limit>>20).Msg("There is room below the memory limit again")
}

// measure asks the runtime, and collects garbage if that may make room.
func (g *MemoryGuard) measure() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.InUse()
	if now := g.clock.Now(); used > g.Limit-g.Limit/8 && now.Sub(g.lastGC) >= gcPause {
		g.Gc()
		used = g.InUse()
		g.lastGC = g.clock.Now()
	}
	g.Used.Store(used)
	return used
}

// Refresh corrects the estimate now and then.
func (g *MemoryGuard) Refresh() {
	if g.Limit > 0 {
		g.Used.Store(g.InUse())
	}
}

// MemoryBytes is the memory of the machine, 0 if that cannot be told.
func MemoryBytes() uint64 {
	n, err := memlimit.FromSystem()
	if err != nil {
		return 0
	}
	return n
}

// ProcessMemory is what the process took from the system, and what of it is
// in use, in bytes.
func ProcessMemory() (resident, virtual uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased, m.Sys
}
