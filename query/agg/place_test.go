package agg

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// TestPlace: a place that is filled in is the document with the field set.
func TestPlace(t *testing.T) {
	docs := []string{
		`{}`, `{"a": 1}`, `{"_id": 1, "a": [1, 2, 3], "z": "behind"}`, `{"a": {"b": [1], "c": 2}, "z": 1}`, `{"a": {"b": {"c": {"d": 1}}}, "b": 2}`,
		`{"x": 1, "a": {"x": {"b": 1}, "b": {"x": 1, "c": "long enough"}, "y": 1}, "b": {}}`, `{"ab": 1, "b": {"a": 1}}`,
	}
	values := []string{`1`, `"text"`, `null`, `{"k": [1, 2]}`, `[]`, `{"$numberLong": "5"}`, `{"$numberDecimal": "1.5"}`, `{"$minKey": 1}`, `true`, `{"$binary": {"base64": "AAE=", "subType": "02"}}`}
	rapid.Check(t, func(t *rapid.T) {
		d := value.MustJSON(rapid.SampledFrom(docs).Draw(t, "doc"))
		parts := strings.Split(rapid.SampledFrom([]string{"a", "b", "a.b", "a.b.c", "z", "new", "new.deep"}).Draw(t, "path"), ".")
		p := newPlace(d, parts)
		for range 3 {
			v := value.MustJSON(`{"v": ` + rapid.SampledFrom(values).Draw(t, "value") + `}`).Lookup("v")
			got := p.with(v)
			if err := value.Validate(got); err != nil {
				t.Fatal(err)
			}
			if want := setPath(d, parts, v); string(got) != string(want) {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	})
}

// allocated returns how many bytes fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestUnwindIsLinear: what $unwind gives does not carry the array along, with
// its index or without, nor what a joined $lookup found.
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
			p, err := Compile(array(t, `[{"$unwind": `+spec+`}]`), Options{DB: "test", Coll: "c"})
			if err != nil {
				t.Fatal(err)
			}
			return allocated(func() {
				it, err := p.Run(newExec(nil), Docs(in))
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
