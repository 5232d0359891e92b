package server

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// # Memory accounting
//
// All data is in memory, so one limit (Config.MemoryLimit) bounds the process.
// By default it is a part of the machine's memory, or of its control group's.
// Five mechanisms keep the process below it:
//
//   - limits.MemoryGuard (package commands/limits) refuses writes that would
//     exceed the limit (146, ExceededMemoryLimit). It does not sum up what each
//     record needs: it reads the size of the heap from the runtime and adds an
//     estimate of the writes made since. Only near the limit does it read the
//     heap again, because that costs more than a small write. Reads and deletes
//     are never refused.
//   - inFlight (limits.go) is the budget of large messages, an eighth of the
//     limit: a connection waits for its share before it allocates a buffer.
//     A reply with documents of more than a megabyte waits for one of a number of slots
//     before it is written, one of an exhaust stream again for each reply, so that all of
//     them take no more than a quarter of that budget, and garbage is collected more often
//     while several are taken. checkReplies (watch.go) closes connections that keep large replies
//     unread while others wait or these exceed it.
//   - Sorts, groups and windows have their own limits, as in mongod, and spill
//     to disk.
//   - limits.Turns lets long operations go on one after the other while what they
//     have claimed or allocated exceeds a share of the limit. Expressions (expr.Memory)
//     and stages (stage.Claim) claim large arrays, groups and sorts before they allocate,
//     and large commands what they are compiled to (kernel.Call.ClaimCompiled).
//   - gcTuner passes the limit to the Go runtime, which then collects garbage
//     more often near it, and idleRelease (idle.go) returns freed memory to the
//     system when the server is idle.
//
// The limit is thus exact to within the garbage that a collection would free.
// The guard forces a collection before it refuses a write, but not more often
// than every half second, so that a server at its limit still does other work.

// defaultMemory is the default memory limit, as a percentage of the machine's
// memory.
const defaultMemory = "80%"

// noMemoryLimit is Config.MemoryLimit without a limit.
const noMemoryLimit = "none"

// parseMemory reads a limit: bytes, with a unit (KB, MB, GB, …, of 1024) or
// without, a percentage of total, or "none" (0). If total is not known (0), a
// percentage means no limit.
func parseMemory(text string, total int64) (int64, error) {
	if text == "" {
		text = defaultMemory
	}
	if text == noMemoryLimit || text == "0" {
		return 0, nil
	}
	bad := fmt.Errorf("memoryLimit must be bytes, such as 512MB or 2GB, a percentage or none, not %q", text)
	if number, ok := strings.CutSuffix(text, "%"); ok {
		p, err := strconv.ParseFloat(number, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return 0, bad
		}
		return int64(float64(total) * p / 100), nil
	}
	number := strings.TrimRight(strings.ToUpper(text), "KMGTIB")
	shift, ok := map[string]int{"": 0, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text[len(number):]), "B"), "I")]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n > 0) || n*math.Pow(2, float64(shift)) >= math.MaxInt64 {
		return 0, bad
	}
	return int64(n * math.Pow(2, float64(shift))), nil
}

// machineMemory returns the memory that the process may use: the machine's, or
// less if its control group, or a parent of it, has a limit; 0 if it is
// unknown.
func machineMemory() int64 { return minMemory(memlimit.FromSystem, memlimit.FromCgroup) }

// minMemory returns the smallest limit that any of the sources reports; 0 if
// none does.
func minMemory(sources ...memlimit.Provider) (limit int64) {
	for _, source := range sources {
		n, err := source()
		if err == nil && n > 0 && n < math.MaxInt64 && (limit == 0 || int64(n) < limit) {
			limit = int64(n)
		}
	}
	return limit
}

// gcTuner configures the garbage collector of the process for a server. It
// sets the memory limit of the Go runtime, and lets a small heap grow to
// several times its size before a collection. With 16 clients this gives a
// third more inserts than Go's default, and uses memory that a machine can
// spare; a large heap is collected as by default. With an engine that reads its
// data through a cache, the garbage is a part of that, so that the memory of the
// process follows the size of the cache. It does not override settings from the
// environment.
//
// It adjusts the collector at the end of each collection, because a few large commands
// can let the heap grow to many times its size within a second, and passes the size of the
// live heap to limits.Turns. When operations claim much memory, it does not wait for that.
type gcTuner struct {
	fixed  bool // GOGC is given
	bounds gcBounds
	idle   *idleRelease
	ended  atomic.Bool
	// collected takes the size of the live heap and reports whether memory is short; nil: it never is.
	collected atomic.Pointer[func(live int64) bool]

	mu      sync.Mutex
	percent int
}

// gcBounds are the amount of garbage that the tuner allows, and bounds for the
// percentage of the live heap that this is.
type gcBounds struct {
	garbage  int64 // bytes
	min, max int64 // percent
}

const (
	gcDefault  = 100 // percent, as Go has it
	gcDistance = 20  // smallest difference of percentages that is worth a change, or a fifth of a small one
)

// gcInMemory is for data in memory.
var gcInMemory = gcBounds{garbage: 256 << 20, min: gcDefault, max: 400}

// gcScarce is for data in memory while operations have to wait for memory.
var gcScarce = gcBounds{garbage: 32 << 20, min: 20, max: gcDefault}

// gcCached is for data that are read through a cache of a size. The cache can be most
// of the live heap, and has no pointers, so that a collection costs little.
func gcCached(cache int64) gcBounds {
	return gcBounds{garbage: min(gcInMemory.garbage, cache/4), min: 20, max: gcInMemory.max}
}

// newGCTuner makes a tuner. cache is the size of the engine's cache; 0: all data are
// in memory.
func newGCTuner(memoryLimit, cache int64) *gcTuner {
	g := &gcTuner{fixed: os.Getenv("GOGC") != "", percent: gcDefault, bounds: gcInMemory, idle: newIdleRelease()}
	if cache > 0 {
		g.bounds = gcCached(cache)
	}
	if memoryLimit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	g.tune()
	g.follow()
	return g
}

// follow calls tune after each garbage collection: an object that nothing refers to is
// finalized then, and the finalizer makes the next one.
func (g *gcTuner) follow() {
	type sentinel struct{ g *gcTuner }
	runtime.SetFinalizer(&sentinel{g}, func(s *sentinel) {
		if !s.g.ended.Load() {
			s.g.tune()
			s.g.follow()
		}
	})
}

// end stops what follow has begun.
func (g *gcTuner) end() { g.ended.Store(true) }

// tune adjusts the percentage to the live heap.
func (g *gcTuner) tune() {
	g.mu.Lock()
	defer g.mu.Unlock()
	live := liveHeap()
	bounds := g.bounds
	if fn := g.collected.Load(); fn != nil && (*fn)(live) {
		bounds = gcScarce
	}
	if g.fixed {
		return
	}
	g.set(bounds.percent(live))
}

// tighten adjusts the percentage at once to operations that take much memory.
func (g *gcTuner) tighten() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fixed {
		return
	}
	if percent := gcScarce.percent(liveHeap()); percent < g.percent {
		g.set(percent)
	}
}

// set sets the percentage if the difference is worth a change.
func (g *gcTuner) set(percent int) {
	if d, limit := percent-g.percent, min(gcDistance, g.percent/5); d > limit || d < -limit {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// liveHeap returns the size of the live heap after the last collection.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// percent returns the percentage by which a heap with live bytes may grow.
func (b gcBounds) percent(live int64) int {
	return int(min(max(b.garbage*100/max(live, 1), b.min), b.max))
}
