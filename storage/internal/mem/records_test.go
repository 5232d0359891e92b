package mem

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// recordModel is a version of a tree and what must be in it.
type recordModel struct {
	tree *records
	want map[storage.RecordID]string
}

func (m *recordModel) check(t *rapid.T) {
	t.Helper()
	ids := slices.Sorted(maps.Keys(m.want))
	var up, down []storage.RecordID
	m.tree.Scan(func(id storage.RecordID, v string) bool {
		if v != m.want[id] {
			t.Fatalf("record %d is %q, want %q", id, v, m.want[id])
		}
		up = append(up, id)
		return true
	})
	m.tree.Descend(1<<63-1, func(id storage.RecordID, _ string) bool { down = append(down, id); return true })
	slices.Reverse(down)
	if !slices.Equal(up, ids) || !slices.Equal(down, ids) || m.tree.Len() != len(ids) {
		t.Fatalf("ids %v, backwards %v, want %v", up, down, ids)
	}
	if m.tree.root != nil {
		m.tree.root.check(t, m.tree.height*radixBits)
	}
	last, _, ok := m.tree.Max()
	if ok != (len(ids) > 0) || ok && last != ids[len(ids)-1] {
		t.Fatalf("max is %d, %v", last, ok)
	}
}

// check looks at the invariants of the nodes.
func (n *recordNode) check(t *rapid.T, shift uint) {
	set := bits.OnesCount32(n.bits)
	if shift == 0 {
		if len(n.vals) != set || n.children != nil {
			t.Fatalf("a leaf with %d values, %d bits, %d kids", len(n.vals), set, len(n.children))
		}
		return
	}
	if len(n.children) != set || n.vals != nil {
		t.Fatalf("a branch with %d children, %d bits, %d values", len(n.children), set, len(n.vals))
	}
	for _, k := range n.children {
		if k.bits == 0 {
			t.Fatal("an empty node")
		}
		k.check(t, shift-radixBits)
	}
}

// TestRecordTree compares versions of a tree with maps while they are
// changed, forked and frozen.
func TestRecordTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := []*recordModel{{newRecords(), map[storage.RecordID]string{}}}
		var frozen []*recordModel
		step := 0
		pick := func() *recordModel { return rapid.SampledFrom(versions).Draw(t, "version") }
		anyID := rapid.Custom(func(t *rapid.T) storage.RecordID {
			top := rapid.SampledFrom([]int64{40, 200, 5000, 1 << 40, 1<<63 - 1}).Draw(t, "top")
			return storage.RecordID(rapid.Int64Range(1, top).Draw(t, "id"))
		})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				m := pick()
				if m.tree.high > 1<<62 {
					t.Skip()
				}
				for range rapid.IntRange(1, 70).Draw(t, "n") {
					step++
					id := m.tree.high + 1
					m.tree.Set(id, fmt.Sprint(step))
					m.want[id] = fmt.Sprint(step)
				}
			},
			"set": func(t *rapid.T) {
				m, id := pick(), anyID.Draw(t, "id")
				step++
				old, replaced := m.tree.Set(id, fmt.Sprint(step))
				if want, ok := m.want[id]; replaced != ok || old != want {
					t.Fatalf("set %d: got %q, %v", id, old, replaced)
				}
				m.want[id] = fmt.Sprint(step)
			},
			"delete": func(t *rapid.T) {
				m, id := pick(), anyID.Draw(t, "id")
				if ids := slices.Sorted(maps.Keys(m.want)); len(ids) > 0 && rapid.Bool().Draw(t, "there") {
					id = rapid.SampledFrom(ids).Draw(t, "which")
				}
				old, ok := m.tree.Delete(id)
				if want, there := m.want[id]; ok != there || old != want {
					t.Fatalf("delete %d: got %q, %v", id, old, ok)
				}
				delete(m.want, id)
			},
			"trim": func(t *rapid.T) {
				m := pick()
				ids := slices.Sorted(maps.Keys(m.want))
				for _, id := range ids[:rapid.IntRange(0, len(ids)).Draw(t, "n")] {
					m.tree.Delete(id)
					delete(m.want, id)
				}
			},
			"get": func(t *rapid.T) {
				m, id := pick(), anyID.Draw(t, "id")
				got, ok := m.tree.Get(id)
				if want, there := m.want[id]; ok != there || got != want {
					t.Fatalf("get %d: %q, %v", id, got, ok)
				}
			},
			"scan": func(t *rapid.T) {
				m, from := pick(), anyID.Draw(t, "from")
				up, down := storage.RecordID(0), storage.RecordID(0)
				m.tree.Ascend(from, func(id storage.RecordID, _ string) bool { up = id; return false })
				m.tree.Descend(from, func(id storage.RecordID, _ string) bool { down = id; return false })
				wantUp, wantDown := storage.RecordID(0), storage.RecordID(0)
				for id := range m.want {
					if id >= from && (wantUp == 0 || id < wantUp) {
						wantUp = id
					}
					if id <= from {
						wantDown = max(wantDown, id)
					}
				}
				if up != wantUp || down != wantDown {
					t.Fatalf("from %d: up %d, down %d; want %d, %d", from, up, down, wantUp, wantDown)
				}
			},
			"fork": func(t *rapid.T) {
				i := rapid.IntRange(0, len(versions)-1).Draw(t, "version")
				m := versions[i]
				frozen = append(frozen, m)
				versions[i] = &recordModel{m.tree.fork(), maps.Clone(m.want)}
				if len(versions) < 3 {
					versions = append(versions, &recordModel{m.tree.fork(), maps.Clone(m.want)})
				}
			},
			"freeze": func(t *rapid.T) {
				m := pick()
				frozen = append(frozen, &recordModel{m.tree.freeze(), maps.Clone(m.want)})
			},
			"": func(t *rapid.T) {
				for _, m := range versions {
					m.check(t)
				}
				for _, m := range frozen {
					m.check(t)
				}
				frozen = frozen[max(0, len(frozen)-3):]
			},
		})
	})
}

// TestRecordsShared lets writers append to forks of one tree at the same time, while
// others read it: none sees what another wrote.
func TestRecordsShared(t *testing.T) {
	base := newRecords()
	for i := range storage.RecordID(5) {
		base.Set(i+1, "base")
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			f, name := base.fork(), fmt.Sprint(w)
			for i := range storage.RecordID(100) {
				f.Set(i+6, name)
			}
			n := 0
			f.Scan(func(id storage.RecordID, v string) bool {
				n++
				if want := name; id > 5 && v != want || id <= 5 && v != "base" {
					t.Errorf("fork %d has %q at %d", w, v, id)
				}
				return true
			})
			if n != 105 || f.Len() != 105 || base.Len() != 5 {
				t.Errorf("%d records", n)
			}
		})
	}
	wg.Wait()
}

func BenchmarkRecords(b *testing.B) {
	const n = 1_000_000
	full := newRecords()
	for i := range storage.RecordID(n) {
		full.Set(i+1, "v")
	}
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		t := full
		for i := range b.N {
			t = t.fork()
			t.Set(storage.RecordID(n+1+i), "v")
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		t := full
		for i := range b.N {
			t = t.fork()
			t.Set(storage.RecordID(i*7919%n+1), "w")
		}
	})
	b.Run("get", func(b *testing.B) {
		for i := range b.N {
			full.Get(storage.RecordID(i*7919%n + 1))
		}
	})
}
