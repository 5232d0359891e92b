package engine

import (
	"math/rand/v2"
	"testing"

	"modernc.org/libc"
)

// block is what a test has allocated, filled with one byte.
type block struct {
	p    uintptr
	size uint64
	fill byte
}

func (b block) write() {
	m := libc.GoBytes(b.p, int(b.size))
	for i := range m {
		m[i] = b.fill
	}
}

func (b block) holds(t *testing.T, n uint64) {
	t.Helper()
	for i, c := range libc.GoBytes(b.p, int(min(n, b.size))) {
		if c != b.fill {
			t.Fatalf("byte %d of %d at %x is %d, want %d", i, b.size, b.p, c, b.fill)
		}
	}
}

// Blocks that are allocated, resized and freed at random never overlap, and when all are
// free, they are one run again.
func TestHeap(t *testing.T) {
	budget := &Budget{Limit: 64 << 20}
	h, err := newHeap(32<<20, budget)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	size := func() uint64 { return rnd.Uint64N(1 << rnd.UintN(21)) }
	var all []block
	refused := 0
	for i := range 20_000 {
		k := 0
		if len(all) > 0 {
			k = rnd.IntN(len(all))
		}
		switch op := rnd.IntN(10); {
		case op < 5 || len(all) == 0:
			b := block{size: size(), fill: byte(i)}
			if b.p = h.allocate(b.size); b.p == 0 {
				refused++
				continue
			}
			if b.p%16 != 0 || h.size(b.p) < b.size {
				t.Fatal(b, h.size(b.p))
			}
			b.write()
			all = append(all, b)
		case op < 7:
			if n := size(); h.resize(all[k].p, n) {
				all[k].holds(t, n)
				all[k].size = n
				all[k].write()
			}
		default:
			all[k].holds(t, all[k].size)
			h.deallocate(all[k].p)
			all[k] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		if budget.Used() != int64(h.usable) || h.usable > h.limit {
			t.Fatal(budget.Used(), h.usable)
		}
	}
	if refused == 0 || !h.denied {
		t.Error("the heap was never full")
	}
	for _, b := range all {
		b.holds(t, b.size)
		h.deallocate(b.p)
	}
	if h.used != 0 || -int(h.length[0])*unit != h.usable || h.find(int32(len(h.length))) != 0 {
		t.Errorf("%d bytes are used, the first run has %d units of %d", h.used, h.length[0], len(h.length))
	}
	h.release()
	if budget.Used() != 0 {
		t.Error(budget.Used())
	}
}

// A scope gets what is left, but for the large ones, which leave as much as they have.
func TestBudget(t *testing.T) {
	const mb = 1 << 20
	b := &Budget{Limit: 64 * mb}
	grow := func() (has int64) {
		for b.take(mb, has) {
			has += mb
		}
		return has
	}
	for i, want := range []int64{32, 16, 8, 4, 4, 0} {
		if got := grow(); got != want*mb {
			t.Errorf("scope %d has %d MB, want %d", i, got/mb, want)
		}
	}
	b.giveBack(64 * mb)
	if b.Used() != 0 {
		t.Error(b.Used())
	}
}
