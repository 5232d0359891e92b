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
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// MemoryGuard keeps the data, which lives in memory, below the memory limit. Writes
// that would pass the limit fail with ExceededMemoryLimit (146); reads and deletes
// go on.
//
// Asking the runtime for its memory costs more than a small write. So the guard adds the
// bytes written since then to the last measurement, and measures again only when the sum
// comes near the limit.
type MemoryGuard struct {
	Limit int64 // bytes; 0: unlimited
	clock clock.Clock
	Used  atomic.Int64 // estimate: the last measurement, and bytes written since
	// Written is the memory of all that was ever admitted; 0 without a limit.
	Written atomic.Int64
	full    atomic.Bool // a write was refused, and there is not enough room yet
	log     *zerolog.Logger

	mu      sync.Mutex
	lastGC  time.Time
	InUse   func() int64 // bytes of live and dead objects; tests replace it
	Collect func()       // garbage collection; tests replace it
}

// recordCost is the approximate memory of a record besides its document: the entries in
// the trees and in the _id index.
const recordCost = 300

// entryCost is the approximate memory of an index entry.
const entryCost = 100

// gcPause is the least time between two garbage collections that the guard starts. A server
// at its limit must not spend all its time on garbage collection.
const gcPause = 500 * time.Millisecond

// NewMemoryGuard returns a guard of a limit in bytes, 0 for none. It measures by the
// real clock, which no test of expiry moves.
func NewMemoryGuard(limit int64, real clock.Clock, log *zerolog.Logger) *MemoryGuard {
	g := &MemoryGuard{Limit: limit, clock: real, log: log, InUse: heapInUse, Collect: runtime.GC}
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

// Admit reserves room for a record that is n bytes larger than before, or fails with
// ExceededMemoryLimit.
func (g *MemoryGuard) Admit(n int) error {
	if n <= 0 {
		return nil
	}
	return g.reserve(int64(n) + recordCost)
}

// AdmitEntries reserves room for an index of n entries, or fails with
// ExceededMemoryLimit.
func (g *MemoryGuard) AdmitEntries(n int64) error { return g.reserve(n * entryCost) }

func (g *MemoryGuard) reserve(cost int64) error {
	if g.Limit <= 0 || cost == 0 {
		return nil
	}
	g.Written.Add(cost)
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

// note logs that the limit was reached, and that there is room again. It does the latter
// only when an eighth of the limit is free, so that it does not log too often.
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

// measure asks the runtime for its memory, and collects garbage if that may help.
func (g *MemoryGuard) measure() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.InUse()
	if now := g.clock.Now(); used > g.Limit-g.Limit/8 && now.Sub(g.lastGC) >= gcPause {
		g.Collect()
		used = g.InUse()
		g.lastGC = g.clock.Now()
	}
	g.Used.Store(used)
	return used
}

// Refresh replaces the estimate by a measurement; the server calls it now and then.
func (g *MemoryGuard) Refresh() {
	if g.Limit > 0 {
		g.Used.Store(g.InUse())
	}
}

// MemoryBytes returns the memory of the machine in bytes, 0 if it is unknown.
func MemoryBytes() uint64 {
	n, err := memlimit.FromSystem()
	if err != nil {
		return 0
	}
	return n
}

// ProcessMemory returns how much memory the process has taken from the system, in
// bytes: what it still holds, and all of its address space.
func ProcessMemory() (resident, virtual uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased, m.Sys
}
