package flow_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// allocated returns how many bytes fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestUnwindIsLinear: the documents that $unwind returns contain no copy of the array,
// with or without its index, nor of what a joined $lookup found.
func TestUnwindIsLinear(t *testing.T) {
	for _, spec := range []string{`"$r"`, `{"path": "$r", "includeArrayIndex": "i"}`, `{"path": "$in.r"}`} {
		work := func(n int) uint64 {
			elements := make([]value.Value, n)
			for i := range elements {
				elements[i] = value.Int32(int32(i))
			}
			r := value.NewArray(elements...)
			in := value.NewDoc("_id", value.Int32(1), "r", r)
			if strings.Contains(spec, "in.r") {
				in = value.NewDoc("_id", value.Int32(1), "in", value.Document(in))
			}
			p, err := agg.Compile(aggtest.Array(t, `[{"$unwind": `+spec+`}]`), stage.Options{DB: "test", Coll: "c"})
			if err != nil {
				t.Fatal(err)
			}
			return allocated(func() {
				it, err := p.Run(aggtest.Exec(nil), stage.Docs(in))
				if err != nil {
					t.Fatal(err)
				}
				count := 0
				for d, err := it.Next(); d != nil || err != nil; d, err = it.Next() {
					if err != nil {
						t.Fatal(err)
					}
					count++
				}
				if count != n {
					t.Fatalf("%d documents, want %d", count, n)
				}
			})
		}
		if few, many := work(500), work(8000); many > 16*3*few {
			t.Errorf("%s: %d bytes for 500 elements, %d for 8000", spec, few, many)
		}
	}
}
