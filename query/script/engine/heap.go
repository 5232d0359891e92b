package engine

import "math/bits"

const (
	// unit is the granularity of allocation. The engine divides blocks of 4 KB for
	// its small objects by itself.
	unit = 512
	// growBytes is by how much a heap grows at least.
	growBytes = 1 << 20
	// sizeClasses is the number of lists of free runs: by powers of two.
	sizeClasses = 32
	// nowhere is the end of a list.
	nowhere = -1
	// reserveUnits is the size of the run for the error when memory is used up.
	reserveUnits = 64
)

// heap is the memory of one scope. It is a range of addresses, of which more and
// more is in use; its bookkeeping is outside, where scripts cannot damage it.
//
// The range is divided into runs of units. The first and the last unit of each
// know its length, so that neighbours that are free become one.
type heap struct {
	memory  memory
	base    uintptr
	limit   int // bytes
	budget  *Budget
	usable  int // bytes that are accessible, and taken from the budget
	used    uint64
	reserve int32 // a run for the error when memory is used up
	denied  bool  // memory was used up

	length     []int32 // the length of the run that begins or ends with a unit; negative: it is free
	next, prev []int32 // the neighbours in the list of free runs, by their first units
	free       [sizeClasses]int32
}

func newHeap(limit int64, budget *Budget) (*heap, error) {
	limit = (limit + growBytes - 1) / growBytes * growBytes
	m, err := reserveMemory(int(limit))
	if err != nil {
		return nil, ErrMemory
	}
	h := &heap{memory: m, base: m.base(), limit: int(limit), budget: budget}
	for i := range h.free {
		h.free[i] = nowhere
	}
	if !h.grow(reserveUnits) {
		_ = m.release()
		return nil, ErrMemory
	}
	h.unlink(0)
	h.occupy(0, reserveUnits, -h.length[0])
	return h, nil
}

// release gives the memory back.
func (h *heap) release() {
	h.budget.giveBack(int64(h.usable))
	h.usable = 0
	_ = h.memory.release()
}

// allocate returns the address of some bytes, or 0.
func (h *heap) allocate(bytes uint64) uintptr {
	n := h.units(bytes)
	if n == 0 {
		return 0
	}
	run := h.find(n)
	if run == nowhere {
		if !h.grow(n) {
			h.deny()
			return 0
		}
		run = h.find(n)
	}
	h.unlink(run)
	h.occupy(run, n, -h.length[run])
	return h.base + uintptr(run)*unit
}

// deny makes room for the error that the script gets.
func (h *heap) deny() {
	h.denied = true
	if h.reserve != nowhere {
		h.deallocate(h.base + uintptr(h.reserve)*unit)
		h.reserve = nowhere
	}
}

// deallocate frees what allocate has returned.
func (h *heap) deallocate(p uintptr) {
	run := h.run(p)
	h.used -= uint64(h.length[run]) * unit
	h.add(run, h.length[run])
}

// resize makes a run longer or shorter where it is, if that is possible.
func (h *heap) resize(p uintptr, bytes uint64) bool {
	run, n := h.run(p), h.units(bytes)
	if n == 0 {
		return false
	}
	has := h.length[run]
	room := has
	if after := run + has; int(after) < len(h.length) && h.length[after] < 0 {
		room -= h.length[after]
	}
	if n > room && int(run+room) == len(h.length) && h.grow(n-has) {
		room = int32(len(h.length)) - run
	}
	if n > room {
		return false
	}
	if n > has {
		h.unlink(run + has)
	} else {
		room = has
	}
	h.used -= uint64(has) * unit
	h.occupy(run, n, room)
	return true
}

// size is how many bytes there are at an address that allocate has returned.
func (h *heap) size(p uintptr) uint64 { return uint64(h.length[h.run(p)]) * unit }

func (h *heap) run(p uintptr) int32 { return int32((p - h.base) / unit) }

// units is how many units some bytes take; 0 if they are too many.
func (h *heap) units(bytes uint64) int32 {
	if bytes > uint64(h.limit) {
		return 0
	}
	return int32(max(1, (bytes+unit-1)/unit))
}

// grow makes memory accessible so that a run of n units is free at the end.
func (h *heap) grow(n int32) bool {
	if last := len(h.length); last > 0 && h.length[last-1] < 0 {
		n += h.length[last-1] // some of it is free already
	}
	bytes := (max(1, int(n)*unit) + growBytes - 1) / growBytes * growBytes
	if bytes > h.limit-h.usable || !h.budget.take(int64(bytes), int64(h.usable)) {
		return false
	}
	if h.memory.use(h.usable, h.usable+bytes) != nil {
		h.budget.giveBack(int64(bytes))
		return false
	}
	h.usable += bytes
	at, more := int32(len(h.length)), bytes/unit
	h.length = append(h.length, make([]int32, more)...)
	h.next = append(h.next, make([]int32, more)...)
	h.prev = append(h.prev, make([]int32, more)...)
	h.add(at, int32(more))
	return true
}

// occupy marks n units of a run as used, and what is left of it as free.
func (h *heap) occupy(run, n, has int32) {
	h.mark(run, n)
	h.used += uint64(n) * unit
	if has > n {
		h.add(run+n, has-n)
	}
}

// mark notes the length of a run that is used.
func (h *heap) mark(run, n int32) { h.length[run], h.length[run+n-1] = n, n }

// class is the list of runs of n units or more, up to twice as many.
func class(n int32) int { return bits.Len32(uint32(n)) - 1 }

// tries is how many runs of the class of the size that is wanted are looked at.
const tries = 8

// find returns a free run of at least n units.
func (h *heap) find(n int32) int32 {
	c := class(n)
	for run, i := h.free[c], 0; run != nowhere && i < tries; run, i = h.next[run], i+1 {
		if -h.length[run] >= n {
			return run
		}
	}
	for c++; c < sizeClasses; c++ {
		if h.free[c] != nowhere {
			return h.free[c]
		}
	}
	return nowhere
}

// add makes a run free, together with its free neighbours.
func (h *heap) add(run, n int32) {
	if after := run + n; int(after) < len(h.length) && h.length[after] < 0 {
		h.unlink(after)
		n -= h.length[after]
	}
	if run > 0 && h.length[run-1] < 0 {
		before := run + h.length[run-1]
		h.unlink(before)
		n, run = n+run-before, before
	}
	h.length[run], h.length[run+n-1] = -n, -n
	c := class(n)
	first := h.free[c]
	h.next[run], h.prev[run] = first, nowhere
	if first != nowhere {
		h.prev[first] = run
	}
	h.free[c] = run
}

// unlink takes a run from the list of free runs.
func (h *heap) unlink(run int32) {
	next, prev := h.next[run], h.prev[run]
	if next != nowhere {
		h.prev[next] = prev
	}
	if prev != nowhere {
		h.next[prev] = next
	} else {
		h.free[class(-h.length[run])] = next
	}
}
