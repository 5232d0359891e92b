package mem

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// tableIndex has the keys of each record in a table.
type tableIndex struct {
	keys   map[storage.RecordID][]string
	unique bool
}

func (x *tableIndex) Keys(dst [][]byte, r storage.Record) ([][]byte, storage.Multikey, error) {
	for _, k := range x.keys[r.ID] {
		dst = append(dst, []byte(k))
	}
	return dst, 0, nil
}

func (x *tableIndex) Unique() bool { return x.unique }

func (x *tableIndex) Private() bool { return false }

// Order ignores what follows a bar.
func (x *tableIndex) Order(key []byte) []byte {
	if i := slices.Index(key, '|'); i >= 0 {
		return key[:i]
	}
	return key
}

// buildOver builds an index over n records in four parts.
func buildOver(t *testing.T, n int, unique bool, keysOf func(i int) []string) (x *made, want []entry, steps int64, err error) {
	t.Helper()
	maker, list := &tableIndex{keys: map[storage.RecordID][]string{}, unique: unique}, newRecords()
	for i := range n {
		id := storage.RecordID(i + 1)
		maker.keys[id] = keysOf(i)
		list.Set(id, "12345678")
		for _, k := range maker.keys[id] {
			want = append(want, entry{k, id})
		}
	}
	slices.SortFunc(want, compareEntries)
	var done atomic.Int64
	built, failed := newBuild(4, func(n int64) { done.Add(n) }, ns, list).run(ctx, []namedMaker{{"x", maker}})
	if failed != nil {
		return nil, want, done.Load(), failed.Err
	}
	return built[0], want, done.Load(), nil
}

// TestBuildInParallel: an index has the same entries in the same order,
// however its keys are distributed over the parts that are built in parallel.
func TestBuildInParallel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 3 * smallBuild
	for name, keysOf := range map[string]func(i int) []string{
		"growing":    func(i int) []string { return []string{fmt.Sprintf("key%08d", i)} },
		"falling":    func(i int) []string { return []string{fmt.Sprintf("key%08d", n-i)} },
		"random":     func(int) []string { return []string{fmt.Sprintf("%016x", random.Uint64())} },
		"equal":      func(int) []string { return []string{"same"} },
		"few values": func(int) []string { return []string{fmt.Sprint(random.IntN(3))} },
		"sparse":     func(i int) []string { return []string{"k"}[:boolInt(i%100 == 0)] },
		"none":       func(int) []string { return nil },
		"one part":   func(i int) []string { return []string{fmt.Sprintf("key%08d", i)}[:boolInt(i < 100)] },
		"several":    func(i int) []string { return []string{fmt.Sprintf("a%d", i%7), fmt.Sprintf("b%d", random.IntN(n))} },
		"short keys": func(int) []string { return []string{"k\x00\x00\x00"[:1+random.IntN(4)]} },
		"long keys": func(i int) []string {
			return []string{strings.Repeat(fmt.Sprintf("%04d", random.IntN(3000)), 25+i%50)}
		},
		"longer than a chunk": func(i int) []string {
			if i%1000 == 0 {
				return []string{strings.Repeat("k", chunkBytes+i)}
			}
			return []string{fmt.Sprint("k", random.IntN(n))}
		},
		"long common prefix": func(int) []string {
			return []string{fmt.Sprintf("a very long prefix of all keys %04d and an end", random.IntN(5000))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, want, steps, err := buildOver(t, n, false, keysOf)
			must(t, err)
			var got []entry
			bytes := int64(0)
			x.entries.each(entryRange{}, false, func(key []byte, id storage.RecordID) bool {
				got = append(got, entry{string(key), id})
				bytes += int64(len(key)) + entryOverhead
				return true
			})
			if !slices.Equal(got, want) || x.entries.Len() != len(want) || x.bytes != bytes {
				t.Errorf("%d entries of %d bytes, want %d, or in another order", x.entries.Len(), x.bytes, len(want))
			}
			for _, e := range want[:min(len(want), 500)] {
				if x.entries.Add(e) || !x.entries.Delete(e) || !x.entries.Add(e) {
					t.Fatalf("%v is not found", e)
				}
			}
			if most := int64(2 * n); steps > most || len(want) > 0 && steps < most-most/100 {
				t.Errorf("%d steps of %d reported", steps, most)
			}
		})
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestBuildFindsDuplicates: a unique index is refused with its first duplicate
// key, and it does not matter where the keys are divided.
func TestBuildFindsDuplicates(t *testing.T) {
	const n = 2 * smallBuild
	places := []int{1, 100, n - 3}
	for quarter := range 3 { // where the ranges of keys begin
		for i := range 9 {
			places = append(places, (quarter+1)*n/4-2+i)
		}
	}
	for _, at := range places {
		twice := fmt.Sprintf("key%08d", at-1)
		_, _, _, err := buildOver(t, n, true, func(i int) []string {
			switch i {
			case at:
				return []string{twice + "|another key of the same order"}
			case n - 1: // a later one
				return []string{fmt.Sprintf("key%08d", n-2)}
			}
			return []string{fmt.Sprintf("key%08d", i)}
		})
		var dup *storage.DuplicateKeyError
		if !errors.As(err, &dup) {
			t.Fatalf("duplicate at %d: %v", at, err)
		}
		if at < n-2 && (string(dup.Key) != twice+"|another key of the same order" || dup.Existing != storage.RecordID(at) || dup.Index != "x") {
			t.Errorf("duplicate at %d: %q of %d", at, dup.Key, dup.Existing)
		}
	}
	if _, _, _, err := buildOver(t, n, true, func(i int) []string { return []string{fmt.Sprintf("key%08d", i)} }); err != nil {
		t.Error(err)
	}
}

// TestBuildSeveral: more indexes than are built in one pass are the same as if they had
// been built one after the other, and an error names its index.
func TestBuildSeveral(t *testing.T) {
	t.Parallel()
	const n, several = smallBuild + 100, 2*builtAtOnce + 1
	l := NewLoader()
	makers := make([]*tableIndex, several)
	build := func(s *Store, threads int, from, to int) (*kv.Build, *kv.BuildError) {
		b := &kv.Build{Namespace: ns, Num: 1, Threads: threads}
		for k := from; k < to; k++ {
			b.Indexes = append(b.Indexes, &kv.Index{Num: uint32(k + 10), Maker: makers[k]})
			b.Names = append(b.Names, fmt.Sprint("x", k))
		}
		f := s.latest.Load().fork()
		install, failed := f.Build(ctx, b)
		if failed == nil {
			install(f)
			s.latest.Store(f.finish())
		}
		return b, failed
	}
	sound := func(failed *kv.BuildError) {
		if failed != nil {
			t.Fatal(failed.Err)
		}
	}
	for k := range makers {
		makers[k] = &tableIndex{keys: map[storage.RecordID][]string{}, unique: true}
	}
	for i := range n {
		id := storage.RecordID(i + 1)
		must(t, l.Set(kv.Row{Kind: kv.RowRecord, Num: 1, ID: id}, []byte("12345678")))
		for k := range makers {
			makers[k].keys[id] = []string{fmt.Sprintf("%d-%d", k, (i*7919+k)%n)}
		}
	}
	together := l.Store()
	apart := New()
	apart.latest.Store(together.latest.Load())
	of, failed := build(together, 2, 0, several)
	sound(failed)
	for k := range makers {
		one, failed := build(apart, 1, k, k+1)
		sound(failed)
		got, want := together.latest.Load().entries(1, uint32(k+10)), apart.latest.Load().entries(1, uint32(k+10))
		if !slices.Equal(entryList(got), entryList(want)) || of.Indexes[k].Bytes() != one.Indexes[0].Bytes() || of.Indexes[k].Entries != n {
			t.Errorf("index %d has other entries", k)
		}
	}
	makers[6].keys[77] = makers[6].keys[78]
	var dup *storage.DuplicateKeyError
	if _, failed := build(together, 2, 0, several); failed == nil || !errors.As(failed.Err, &dup) || dup.Index != "x6" || failed.Index != "x6" {
		t.Errorf("a duplicate in x6: %+v", failed)
	}
}

// TestSortHeads: entries are sorted by their heads, and those with the same keep their order.
func TestSortHeads(t *testing.T) {
	t.Parallel()
	var room sortRoom
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{0, 1, 8, 9, 33, 64}).Draw(t, "bits")
		shift := rapid.IntRange(0, 64-bits).Draw(t, "shift")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		list := make([]keyed, rapid.SampledFrom([]int{0, 1, 2, smallSort - 1, smallSort, 3 * smallSort}).Draw(t, "n"))
		for i := range list {
			list[i] = keyed{head: random.Uint64() >> (64 - bits) << shift, id: storage.RecordID(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b keyed) int { return cmp.Compare(a.head, b.head) })
		room.sortHeads(list)
		if !slices.Equal(list, want) {
			t.Fatal("in another order")
		}
	})
}
