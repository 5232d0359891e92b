package mem

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"unsafe"

	"github.com/duskdb/duskdb/storage"
)

// repackAtOnce is how many leaves are copied at a time.
const repackAtOnce = 512

// scattered is a tree of random keys whose leaves were copied often.
func scattered(n int) *entries {
	t, rnd := newEntries(), rand.New(rand.NewPCG(1, 2))
	for i := range n {
		if i%100 == 0 {
			t = t.fork()
		}
		t.Add(entry{fmt.Sprintf("%016x", rnd.Uint64()), storage.RecordID(i + 1)})
	}
	return t
}

// whole repacks all of a tree.
func whole(t *entries) *entries {
	for from, more := (entry{}), true; more; {
		var packed *entries
		if packed, from, more = t.repack(from, repackAtOnce); packed != nil {
			t = packed
		}
	}
	return t
}

// TestRepackedTogether: the leaves below a branch lie one after the other, without room
// between them.
func TestRepackedTogether(t *testing.T) {
	tree := scattered(20_000)
	want := entryList(tree)
	tree = whole(tree)
	if !slices.Equal(entryList(tree), want) {
		t.Fatal("the entries have changed")
	}
	leaves := 0
	var walk func(n *entryNode)
	walk = func(n *entryNode) {
		for i, c := range n.children {
			if c.children != nil {
				walk(c)
				continue
			}
			leaves++
			if i == 0 {
				continue
			}
			before := n.children[i-1]
			if unsafe.Pointer(unsafe.SliceData(c.slots)) != unsafe.Add(unsafe.Pointer(unsafe.SliceData(before.slots)), len(before.slots)*int(unsafe.Sizeof(slot{}))) ||
				unsafe.Pointer(unsafe.SliceData(c.keys)) != unsafe.Add(unsafe.Pointer(unsafe.SliceData(before.keys)), len(before.keys)) {
				t.Fatal("a leaf lies apart")
			}
		}
	}
	walk(tree.root)
	if leaves < 20_000/leafSize {
		t.Errorf("%d leaves", leaves)
	}
}

// TestRepackFrees: the memory that repacking a tree leaves becomes free, the more so as the
// tree was changed by many writers.
func TestRepackFrees(t *testing.T) {
	used := func() uint64 { // pages with objects
		runtime.GC()
		samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64() + samples[1].Value.Uint64()
	}
	empty := used()
	tree := scattered(100_000)
	before := used() - empty
	tree = whole(tree)
	after := used() - empty
	runtime.KeepAlive(tree)
	t.Logf("%d KB of pages, before %d", after>>10, before>>10)
	if after > before*2/3 {
		t.Error("little became free")
	}
}
