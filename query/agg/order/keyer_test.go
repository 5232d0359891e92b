package order_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

// A sort with a limit gives the first documents of the sort without one.
func TestLimitedSortIsPrefix(t *testing.T) {
	t.Parallel()
	number := func(s string) value.Value { return value.MustJSON(`{"v": ` + s + `}`).Lookup("v") }
	values := []value.Value{
		{}, value.Null(), value.Undefined(), value.Int32(1), value.Int32(2), value.Int64(2), value.Int32(3), value.Double(2.5), value.Double(-1), number("-0.0"), value.Int32(0),
		number(`{"$numberDouble": "NaN"}`), number(`{"$numberDecimal": "2.5"}`), number(`{"$numberDecimal": "NaN"}`), value.String("a"), value.String("b"), value.DateTime(1), value.DateTime(2),
		value.Timestamp(1, 1), value.Bool(true), value.NewArray(value.Int32(1), value.Int32(3)), value.NewArray(), value.Document(value.NewDoc("a", value.Int32(1))), value.MinKey(),
	}
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(values), 1, 5).Draw(rt, "values")
		h := aggtest.NewHost()
		for i := range rapid.IntRange(0, 30).Draw(rt, "documents") {
			b := value.NewBuilder().Int32("_id", int32(i))
			for _, name := range []string{"a", "b", "a"} {
				if v := rapid.SampledFrom(list).Draw(rt, name); !v.IsMissing() && (name == "a" || v.Kind() != value.KindArray) {
					b.Append(name, v)
				}
			}
			h.Colls["test.c"] = append(h.Colls["test.c"], b.Doc())
		}
		sort := rapid.SampledFrom([]string{`{"a": 1}`, `{"a": -1}`, `{"a": 1, "b": -1}`, `{"b": -1, "_id": -1}`, `{"a": 1, "b": 1, "_id": 1}`}).Draw(rt, "sort")
		limit := rapid.IntRange(1, 8).Draw(rt, "limit")
		all, err := aggtest.Run(t, h, `[{"$sort": `+sort+`}]`)
		if err != nil {
			rt.Fatal(err)
		}
		some, err := aggtest.Run(t, h, fmt.Sprintf(`[{"$sort": %s}, {"$limit": %d}]`, sort, limit))
		if want := all[:min(limit, len(all))]; err != nil || aggtest.Canonical(some) != aggtest.Canonical(want) {
			rt.Fatalf("%s: %v, got\n%swant\n%s", sort, err, aggtest.Canonical(some), aggtest.Canonical(want))
		}
	})
}

// Two arrays are refused in every document, also behind those that are returned.
func TestLimitedSortRefusesParallelArrays(t *testing.T) {
	t.Parallel()
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"a": 1}, {"a": 2}, {"a": 3, "b": [1, 2], "c": [1, 2]}]`)
	_, err := aggtest.Run(t, h, `[{"$sort": {"a": 1, "b": 1, "c": 1}}, {"$limit": 1}]`)
	aggtest.CheckError(t, err, "2: cannot sort with keys that are parallel arrays")
}
