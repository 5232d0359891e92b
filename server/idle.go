package server

import (
	"runtime/debug"
	"runtime/metrics"
)

// idleRelease gives memory back to the system once a server that was busy has
// nothing to do. The collector alone would keep what a large request needed
// until it runs again, which an idle process does every two minutes, and return
// it slowly then.
type idleRelease struct {
	read func() (allocated, live uint64) // bytes since the start, and of the heap
	free func()

	last     uint64 // allocated, a second ago
	released uint64 // allocated, when memory was given back
	quiet    int    // seconds
}

const (
	quietBytes    = 4 << 20  // allocated in a quiet second, at most
	quietSeconds  = 3        // before memory is given back
	worthRelease  = 64 << 20 // allocated since the last time, at least,
	worthFraction = 2        // and so much of what is alive, which has to be looked at
)

func newIdleRelease() *idleRelease {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &idleRelease{free: debug.FreeOSMemory, read: func() (allocated, live uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}}
}

// step is called once a second.
func (r *idleRelease) step() {
	allocated, live := r.read()
	if allocated-r.last > quietBytes {
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
