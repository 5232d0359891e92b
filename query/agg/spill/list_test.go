package spill

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Records can be read in any order, also while more are added.
func TestListGivesBackRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		l := &List{Dir: dir}
		defer l.Close()
		var want [][]byte
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(want) > 0 && rapid.Bool().Draw(t, "get") {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				got, err := l.Get(i)
				if err != nil || !bytes.Equal(got, want[i]) {
					t.Fatalf("record %d is %q, %v, want %q", i, got, err, want[i])
				}
				continue
			}
			record := bytes.Repeat([]byte{byte(len(want))}, rapid.SampledFrom([]int{0, 1, 100, 40_000, 70_000}).Draw(t, "size"))
			if err := l.Add(record); err != nil {
				t.Fatal(err)
			}
			want = append(want, record)
		}
		if l.Len() != len(want) {
			t.Fatalf("%d records, want %d", l.Len(), len(want))
		}
	})
}
