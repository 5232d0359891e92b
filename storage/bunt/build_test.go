package bunt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
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
func buildOver(t *testing.T, n int, unique bool, keysOf func(i int) []string) (x *index, want []entry, steps int64, err error) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
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
	w := &work{report: func(int64, int64) {}}
	x, err = buildIndex(ctx, w, ns, "x", maker, list)
	return x, want, w.done.Load(), err
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
