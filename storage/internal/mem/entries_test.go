package mem

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

func entryList(t *entries) (list []entry) {
	t.each(entryRange{}, false, func(k []byte, id storage.RecordID) bool {
		list = append(list, entry{string(k), id})
		return true
	})
	return list
}

// entryModel is a version of a tree and what must be in it, in order.
type entryModel struct {
	tree *entries
	want []entry
}

func (m *entryModel) find(e entry) (int, bool) {
	return slices.BinarySearchFunc(m.want, e, compareEntries)
}

func (m *entryModel) check(t *rapid.T) {
	t.Helper()
	if got := entryList(m.tree); !slices.Equal(got, m.want) || m.tree.Len() != len(m.want) {
		t.Fatalf("%d entries %v, want %v", m.tree.Len(), got, m.want)
	}
	var down []entry
	m.tree.each(entryRange{}, true, func(k []byte, id storage.RecordID) bool { down = append(down, entry{string(k), id}); return true })
	slices.Reverse(down)
	if !slices.Equal(down, m.want) {
		t.Fatalf("backwards %v, want %v", down, m.want)
	}
	if m.tree.root != nil {
		m.tree.root.check(t, true)
	}
}

// check looks at the invariants of the nodes; it returns the height.
func (n *entryNode) check(t *rapid.T, top bool) int {
	for i := range n.len() {
		if i > 0 && !entryLess(n.at(i-1), n.at(i)) {
			t.Fatal("entries out of order")
		}
		if n.slots[i].head != headOf(n.rest(i)) {
			t.Fatal("a wrong head")
		}
	}
	if n.children == nil {
		if n.live() == 0 || n.len() > leafSize || n.dead>>n.len() != 0 || n.dead != 0 && !n.shared {
			t.Fatalf("a leaf of %d, of which %b are dead", n.len(), n.dead)
		}
		return 0
	}
	if len(n.children) != n.len()+1 || len(n.children) > branchSize || top && len(n.children) < 2 {
		t.Fatalf("a branch of %d kids and %d separators", len(n.children), n.len())
	}
	height := n.children[0].check(t, false)
	for _, k := range n.children[1:] {
		if k.check(t, false) != height {
			t.Fatal("leaves at different heights")
		}
	}
	return height + 1
}

// genKey draws keys that share prefixes, extend each other, or are long.
var genKey = rapid.Custom(func(t *rapid.T) string {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"", "a", "a\x00", "a\x00\x00\x00\x00\x00", "ab", "b", "b\xff"}).Draw(t, "key")
	case 1:
		return strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "len"))
	default:
		return fmt.Sprintf("key%04d", rapid.IntRange(0, 3000).Draw(t, "n"))
	}
})

var genEntry = rapid.Custom(func(t *rapid.T) entry {
	return entry{genKey.Draw(t, "key"), storage.RecordID(rapid.IntRange(1, 4).Draw(t, "id"))}
})

// TestEntryTree compares versions of a tree with sorted lists while they are
// changed, forked and frozen.
func TestEntryTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := []*entryModel{{tree: newEntries()}}
		var frozen []*entryModel
		next := 0
		pick := func() *entryModel { return rapid.SampledFrom(versions).Draw(t, "version") }
		add := func(t *rapid.T, m *entryModel, e entry) {
			i, there := m.find(e)
			if m.tree.Add(e) == there {
				t.Fatalf("add %q: there is %v", e.key, there)
			}
			if !there {
				m.want = slices.Insert(m.want, i, e)
			}
		}
		remove := func(t *rapid.T, m *entryModel, e entry) {
			i, there := m.find(e)
			if m.tree.Delete(e) != there {
				t.Fatalf("delete %q: there is %v", e.key, there)
			}
			if there {
				m.want = slices.Delete(m.want, i, i+1)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) { add(t, pick(), genEntry.Draw(t, "entry")) },
			"add many": func(t *rapid.T) {
				m, rnd := pick(), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					add(t, m, entry{fmt.Sprintf("key%d", rnd.IntN(1e6)), 1})
				}
			},
			"append": func(t *rapid.T) {
				m := pick()
				late := rapid.IntRange(0, 5).Draw(t, "late")
				for i := range rapid.IntRange(1, 200).Draw(t, "n") {
					next++
					n := next
					if late > 0 && i%7 == 0 {
						n = max(0, next-late*3)
					}
					add(t, m, entry{"z" + string(binary.BigEndian.AppendUint32(nil, uint32(n))), storage.RecordID(next)})
				}
			},
			"delete": func(t *rapid.T) {
				m, e := pick(), genEntry.Draw(t, "entry")
				if len(m.want) > 0 && rapid.Bool().Draw(t, "there") {
					e = rapid.SampledFrom(m.want).Draw(t, "which")
				}
				remove(t, m, e)
			},
			"delete many": func(t *rapid.T) {
				m := pick()
				if len(m.want) == 0 {
					t.Skip()
				}
				from := rapid.IntRange(0, len(m.want)-1).Draw(t, "from")
				for range rapid.IntRange(0, len(m.want)-from).Draw(t, "n") {
					remove(t, m, m.want[from])
				}
			},
			"delete scattered": func(t *rapid.T) {
				m, rnd := pick(), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				share := rapid.SampledFrom([]float64{0.01, 0.1, 0.5, 0.9}).Draw(t, "share")
				fork := rapid.Bool().Draw(t, "fork")
				for _, e := range slices.Clone(m.want) {
					if rnd.Float64() < share {
						remove(t, m, e)
						if fork && rnd.IntN(8) == 0 {
							frozen = append(frozen, &entryModel{m.tree, slices.Clone(m.want)})
							m.tree = m.tree.fork()
						}
					}
				}
			},
			"find": func(t *rapid.T) {
				m, key := pick(), genKey.Draw(t, "key")
				if len(m.want) > 0 && rapid.Bool().Draw(t, "there") {
					key = rapid.SampledFrom(m.want).Draw(t, "which").key
				}
				p, at := m.tree.seek(entry{key: key})
				i, _ := m.find(entry{key: key})
				if (p == nil) != (i == len(m.want)) {
					t.Fatalf("seek %q: nothing is %v", key, p == nil)
				}
				if p != nil && (p.at(at) != m.want[i] || p.is(at, key) != (m.want[i].key == key) ||
					p.begins(at, key) != strings.HasPrefix(m.want[i].key, key)) {
					t.Fatalf("seek %q: %v, want %v", key, p.at(at), m.want[i])
				}
			},
			"scan": func(t *rapid.T) {
				m := pick()
				r := entryRange{from: genEntry.Draw(t, "from"), end: genEntry.Draw(t, "end"), ends: rapid.Bool().Draw(t, "ends")}
				i, _ := m.find(r.from)
				end := len(m.want)
				if r.ends {
					end, _ = m.find(r.end)
				}
				want := slices.Clone(m.want[i:max(i, end)])
				most := rapid.IntRange(1, len(want)+1).Draw(t, "most")
				for _, reverse := range []bool{false, true} {
					var got []entry
					m.tree.each(r, reverse, func(k []byte, id storage.RecordID) bool {
						got = append(got, entry{string(k), id})
						return len(got) < most
					})
					if !slices.Equal(got, want[:min(most, len(want))]) {
						t.Fatalf("%v, backwards %v, %d at most: %v, want %v", r, reverse, most, got, want)
					}
					slices.Reverse(want)
				}
			},
			"fork": func(t *rapid.T) {
				i := rapid.IntRange(0, len(versions)-1).Draw(t, "version")
				m := versions[i]
				frozen = append(frozen, m)
				versions[i] = &entryModel{m.tree.fork(), slices.Clone(m.want)}
				if len(versions) < 3 {
					versions = append(versions, &entryModel{m.tree.fork(), slices.Clone(m.want)})
				}
			},
			"freeze": func(t *rapid.T) {
				m := pick()
				frozen = append(frozen, &entryModel{m.tree.freeze(), slices.Clone(m.want)})
			},
			"repack": func(t *rapid.T) {
				m := pick()
				from, leaves := genEntry.Draw(t, "from"), rapid.SampledFrom([]int{1, 50, 1000}).Draw(t, "leaves")
				whole := rapid.Bool().Draw(t, "whole")
				if whole {
					from = entry{}
				}
				for more := true; more; {
					var tree *entries
					last := from
					if tree, from, more = m.tree.repack(from, leaves); more && !entryLess(last, from) {
						t.Fatalf("from %v on to %v", last, from)
					}
					if tree != nil {
						frozen = append(frozen, &entryModel{m.tree, slices.Clone(m.want)})
						m.tree = tree
					}
				}
				if again, _, _ := m.tree.repack(entry{}, 1e6); whole && again != nil {
					t.Fatal("leaves do not lie together")
				}
			},
			"rebuild": func(t *rapid.T) {
				m := pick()
				var b entryBuilder
				for _, e := range m.want {
					b.add(e)
				}
				m.tree = b.tree()
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

// TestEntriesShared lets writers append to forks of one tree at the same time: none sees
// what another wrote.
func TestEntriesShared(t *testing.T) {
	key := func(i int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(i))) }
	base := newEntries()
	for i := range 5 {
		base.Add(entry{key(i), 1})
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			f := base.fork()
			for i := range 100 {
				f.Add(entry{key(i*4 + 5 + w), storage.RecordID(w)})
			}
			for i, e := range entryList(f)[5:] {
				if want := (entry{key(i*4 + 5 + w), storage.RecordID(w)}); e != want {
					t.Errorf("fork %d has %v at %d", w, e, i)
				}
			}
			if f.Len() != 105 || len(entryList(base)) != 5 {
				t.Errorf("%d entries, %d", f.Len(), len(entryList(base)))
			}
		})
	}
	wg.Wait()
}

func BenchmarkEntries(b *testing.B) {
	const n = 1_000_000
	key := func(i int) string { return string(binary.BigEndian.AppendUint64([]byte("num"), uint64(i))) }
	keys := make([]string, n)
	var build entryBuilder
	for i := range keys {
		keys[i] = key(i * 2)
		build.add(entry{keys[i], storage.RecordID(i + 1)})
	}
	full := build.tree()
	more := make([]string, 1<<16)
	add := func(name string, nth func(i int) string) {
		b.Run(name, func(b *testing.B) {
			for i := range more {
				more[i] = nth(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var t *entries
			for i := range b.N {
				if i&(1<<16-1) == 0 {
					t = full
				}
				t = t.fork()
				t.Add(entry{more[i&(1<<16-1)], 1})
			}
		})
	}
	add("append", func(i int) string { return key(2*n + i) })
	add("insert", func(i int) string { return key(i*7919%n*2 + 1) })
	b.Run("find", func(b *testing.B) {
		for i := range b.N {
			full.seek(entry{key: keys[i*7919%n]})
		}
	})
}

// BenchmarkEntriesScattered adds entries anywhere in a tree that has 400,000, so many to a
// version, as a load of documents does to an index on random values.
func BenchmarkEntriesScattered(b *testing.B) {
	const n, more = 400_000, 200_000
	rnd := rand.New(rand.NewPCG(1, 2))
	list := make([]entry, n+more)
	for i := range list {
		key := binary.BigEndian.AppendUint64(nil, rnd.Uint64())
		list[i] = entry{string(binary.BigEndian.AppendUint32(key, rnd.Uint32())), storage.RecordID(i)}
	}
	add := func(t *entries, list []entry, batch int) *entries {
		for part := range slices.Chunk(list, batch) {
			t = t.fork()
			for _, e := range part {
				t.Add(e)
			}
		}
		return t
	}
	full := add(newEntries(), list[:n], 1000)
	for _, batch := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			b.ReportAllocs()
			for done := 0; done < b.N; done += more {
				add(full, list[n:n+min(more, b.N-done)], batch)
			}
		})
	}
}

// What is removed in front of a list, as messages leave a queue, does not stay
// in memory, whether each change is a version of its own or all are one.
func TestEntriesForgetTheFront(t *testing.T) {
	key := func(i int) entry { return entry{fmt.Sprintf("message %08d", i), storage.RecordID(i)} }
	for _, versions := range []bool{true, false} {
		for _, waiting := range []int{1, 10, 200} {
			tree := newEntries()
			for i := range 5000 {
				tree.Add(key(i))
				if i < waiting {
					continue
				}
				if versions {
					tree = tree.fork()
				}
				tree.Delete(key(i - waiting))
				if versions {
					tree = tree.fork()
				}
			}
			if tree.Len() != waiting {
				t.Fatalf("%d entries, want %d", tree.Len(), waiting)
			}
			if got, most := tree.tail.keyBytes()+tree.root.keyBytes(), 4*(waiting+leafSize)*len(key(0).key); got > most {
				t.Errorf("versions %v, %d waiting: %d bytes of keys, want at most %d", versions, waiting, got, most)
			}
		}
	}
}

func (x *entryTail) keyBytes() int { return cap(x.keys) }

func (n *entryNode) keyBytes() int {
	if n == nil {
		return 0
	}
	sum := cap(n.keys)
	for _, child := range n.children {
		sum += child.keyBytes()
	}
	return sum
}
