package mem

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// TestRecordScan compares scans of records with a look-up for each entry of the range.
func TestRecordScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, records := newEntries(), newRecords()
		for id := range storage.RecordID(rapid.IntRange(0, 300).Draw(t, "records")) {
			tree.Add(entry{fmt.Sprintf("key%03d", rapid.IntRange(0, 99).Draw(t, "key")), id + 1})
			records.Set(id+1, strings.Repeat("\x01", 8)+fmt.Sprint(id)+strings.Repeat("d", rapid.SampledFrom([]int{0, 50, 56, 57, 600}).Draw(t, "size")))
		}
		for _, id := range rapid.SliceOfN(rapid.IntRange(1, 300), 0, 20).Draw(t, "gone") {
			records.Delete(storage.RecordID(id))
		}
		r := storage.KeyRange{
			Lo: []byte(rapid.SampledFrom([]string{"", "key03", "key050"}).Draw(t, "lo")), Hi: []byte(rapid.SampledFrom([]string{"", "key05", "key09"}).Draw(t, "hi")),
			Reverse: rapid.Bool().Draw(t, "reverse"),
		}
		if rapid.Bool().Draw(t, "resumed") {
			r.AfterKey, r.AfterID = []byte("key055"), storage.RecordID(rapid.IntRange(0, 300).Draw(t, "after"))
		}
		most := rapid.IntRange(1, 300).Draw(t, "most")
		var got, want []string
		take := func(list *[]string) func([]byte, storage.Record) bool {
			return func(key []byte, r storage.Record) bool {
				*list = append(*list, fmt.Sprintf("%s %d %d %s", key, r.ID, r.TS, r.Doc))
				return len(*list) < most
			}
		}
		scanEntries(tree, r, func(key []byte, id storage.RecordID) bool {
			stored, ok := records.Get(id)
			return !ok || take(&want)(key, record(id, stored))
		})
		scan := newRecordScan(records, r.Reverse, take(&got))
		tree.parts(rangeOf(&r), r.Reverse, scan.part)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v, %d at most: %q, want %q", r, most, got, want)
		}
	})
}
