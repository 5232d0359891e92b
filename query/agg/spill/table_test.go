package spill

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// All numbers of a hash are found, in whatever blocks they are.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	hashes := []uint64{0, 1, 2, 3, 1000, 1 << 40, 1<<64 - 1}
	rapid.Check(t, func(t *rapid.T) {
		table := &Table{Dir: dir}
		defer table.Close()
		want := map[uint64][]uint64{}
		n := uint64(0)
		for _, hash := range hashes {
			for range rapid.SampledFrom([]int{0, 1, 10, blockPairs - 1, blockPairs, 3 * blockPairs}).Draw(t, "numbers") {
				if err := table.Add(hash, n); err != nil {
					t.Fatal(err)
				}
				want[hash] = append(want[hash], n)
				n++
			}
		}
		if err := table.Flush(); err != nil || table.Size() != int64(n)*pairSize {
			t.Fatal(table.Size(), err)
		}
		for range 20 {
			hash := rapid.SampledFrom(append(slices.Clone(hashes), 4, 999, 1<<63)).Draw(t, "hash")
			if got, err := table.Find(nil, hash); err != nil || !slices.Equal(got, want[hash]) {
				t.Fatalf("hash %d: %v, %v, want %v", hash, got, err, want[hash])
			}
		}
	})
}

func TestTableWithoutDirectory(t *testing.T) {
	table := Table{Dir: "/does/not/exist"}
	if found, err := table.Find(nil, 1); len(found) > 0 || err != nil || table.Flush() != nil {
		t.Error(found, err)
	}
	if err := table.Add(1, 1); err == nil {
		t.Error("no error")
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}
