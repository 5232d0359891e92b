package growth

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// heapPeak is the largest memory of live objects that a collection of garbage has found.
type heapPeak struct {
	most atomic.Int64
	done atomic.Bool
}

// now is the live memory at the last collection of garbage.
func (*heapPeak) now() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// watch notes the live memory after each collection of garbage.
func (h *heapPeak) watch() {
	if h.done.Load() {
		return
	}
	h.most.Store(max(h.most.Load(), h.now()))
	runtime.AddCleanup(new([16]byte), func(h *heapPeak) { h.watch() }, h)
}

// during returns how much more memory is live at most while fn runs. Garbage is collected as
// often as possible.
func (h *heapPeak) during(fn func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	runtime.GC()
	runtime.GC()
	before := h.now()
	h.watch()
	fn()
	h.most.Store(max(h.most.Load(), h.now()))
	h.done.Store(true)
	return h.most.Load() - before
}
