package server

import (
	"runtime/debug"
	"runtime/metrics"
)

// idleRelease returns memory to the system when a busy server has become idle.
// The garbage collector alone would keep the memory of a large request until
// its next cycle, which an idle process runs every two minutes, and then
// return it slowly.
type idleRelease struct {
	read func() (allocated, live uint64) // bytes allocated since the start, and bytes in use
	free func()

	last     uint64 // allocated, a second ago
	released uint64 // value of allocated when memory was last returned
	quiet    int    // seconds
}

const (
	quietBytes    = 4 << 20  // allocated in a quiet second, at most
	quietSeconds  = 3        // before memory is returned
	worthRelease  = 64 << 20 // allocated since the last time, at least,
	worthFraction = 4        // and this fraction of the live heap, because a collection scans it
)

func newIdleRelease() *idleRelease {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &idleRelease{free: debug.FreeOSMemory, read: func() (allocated, live uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}}
}

// step is called once a second. busy reports whether an operation has claimed memory: it may
// allocate nothing for seconds, and what it holds could not be freed yet.
func (r *idleRelease) step(busy bool) {
	allocated, live := r.read()
	if allocated-r.last > quietBytes || busy {
		r.quiet = 0
	} else {
		r.quiet++
	}
	r.last = allocated
	if r.quiet < quietSeconds || allocated-r.released < max(worthRelease, live/worthFraction) {
		return
	}
	r.released = allocated
	r.free()
}
