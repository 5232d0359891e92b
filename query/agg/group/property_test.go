package group_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

// groupKeys are keys of which several are equal although their types differ.
var groupKeys = []value.Value{
	{}, value.Null(), value.Undefined(), value.Int32(0), value.Double(0), value.MustJSON(`{"v": -0.0}`).Lookup("v"), decimal("0"), decimal("-0E+3"), decimal("0.0"),
	value.Int32(5), value.Int64(5), value.Double(5), decimal("5"), decimal("5.00"), decimal("5E+0"), value.Double(5.5), decimal("5.5"), value.Double(0.1), decimal("0.1"),
	value.Int64(1 << 53), value.Int64(1<<53 + 1), value.Double(1 << 53), value.Int64(1<<63 - 1), value.Double(1 << 63), decimal("9223372036854775808"), decimal("9223372036854775807"),
	decimal("NaN"), value.MustJSON(`{"v": {"$numberDouble": "NaN"}}`).Lookup("v"), decimal("Infinity"), value.MustJSON(`{"v": {"$numberDouble": "Infinity"}}`).Lookup("v"),
	value.String("5"), value.String(""), value.Symbol("5"), value.String("é"), value.Bool(true), value.DateTime(5), value.Timestamp(0, 5), value.MinKey(),
	value.Document(value.NewDoc("a", value.Int32(1))), value.Document(value.NewDoc("a", value.Int64(1))), value.NewArray(value.Int32(1)), value.NewArray(value.Double(1)),
}

func decimal(s string) value.Value {
	return value.MustJSON(`{"v": {"$numberDecimal": "` + s + `"}}`).Lookup("v")
}

// summands are numbers whose sums are exact, and what is no number.
var summands = []value.Value{
	{}, value.Null(), value.String("1"), value.NewArray(value.Int32(1)), value.Int32(1), value.Int32(-7), value.Int32(1<<31 - 1), value.Int64(3), value.Int64(1<<63 - 1),
	value.Int64(-1 << 63), value.Double(0.5), value.Double(-2), decimal("1.5"), decimal("-3"),
}

// The groups of a $group are the sets of equal keys, and their sums have the widest type
// of their numbers.
func TestGroupsAgainstReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var docs []value.Doc
		keys := rapid.SliceOfN(rapid.SampledFrom(groupKeys), 1, 6).Draw(rt, "keys")
		numbers := rapid.SliceOfN(rapid.SampledFrom(summands), 1, 4).Draw(rt, "numbers")
		for range rapid.IntRange(0, 40).Draw(rt, "documents") {
			fields := []string{"k", "v", "other", "k", "v"}[:rapid.IntRange(2, 5).Draw(rt, "fields")]
			b := value.NewBuilder()
			for _, name := range rapid.Permutation(fields).Draw(rt, "order") {
				v := rapid.SampledFrom(numbers).Draw(rt, "v")
				if name == "k" {
					v = rapid.SampledFrom(keys).Draw(rt, "k")
				}
				if !v.IsMissing() {
					b.Append(name, v)
				}
			}
			docs = append(docs, b.Doc())
		}
		h := aggtest.NewHost()
		h.Colls["test.c"] = docs
		got, err := aggtest.Run(t, h, `[{"$group": {"_id": "$k", "n": {"$sum": 1}, "sum": {"$sum": "$v"}, "avg": {"$avg": "$v"}, "first": {"$first": "$v"}, "most": {"$max": "$v"}}}]`)
		if err != nil {
			rt.Fatal(err)
		}
		checkGroups(rt, docs, got)
	})
}

func checkGroups(t *rapid.T, docs, got []value.Doc) {
	for _, g := range got {
		id := g.Lookup("_id")
		var members, vs []value.Value
		docs = slices.DeleteFunc(docs, func(d value.Doc) bool {
			k := d.Lookup("k")
			if k.IsMissing() {
				k = value.Null()
			}
			if !value.Equal(k, id) {
				return false
			}
			members, vs = append(members, k), append(vs, d.Lookup("v"))
			return true
		})
		if len(members) == 0 || int(g.Lookup("n").Int64()) != len(members) || !value.Identical(members[0], id) {
			t.Fatalf("%s: its members are %v", g, members)
		}
		first, most := vs[0], value.Value{}
		if first.IsMissing() {
			first = value.Null()
		}
		for _, v := range vs {
			if !v.IsNullish() && (most.IsMissing() || value.Compare(v, most) > 0) {
				most = v
			}
		}
		if most.IsMissing() {
			most = value.Null()
		}
		if !value.Identical(g.Lookup("first"), first) || !value.Equal(g.Lookup("most"), most) {
			t.Fatalf("%s: of %v", g, vs)
		}
		checkSum(t, g, vs)
	}
	if len(docs) > 0 {
		t.Fatalf("no group has %v", docs)
	}
}

// checkSum compares a sum and a mean with those of exact fractions.
func checkSum(t *rapid.T, g value.Doc, vs []value.Value) {
	kind, sum, dec, n := value.KindInt32, new(big.Rat), value.DecimalValue(value.DecimalZero), int64(0)
	rank := func(k value.Kind) int {
		return slices.Index([]value.Kind{value.KindInt32, value.KindInt64, value.KindDouble, value.KindDecimal}, k)
	}
	for _, v := range vs {
		if !v.IsNumber() {
			continue
		}
		n++
		dec, _ = value.Add(dec, v)
		if v.Kind() == value.KindDouble {
			sum.Add(sum, new(big.Rat).SetFloat64(v.Double()))
		} else if v.Kind() != value.KindDecimal {
			sum.Add(sum, new(big.Rat).SetInt64(v.Int64()))
		}
		if rank(v.Kind()) > rank(kind) {
			kind = v.Kind()
		}
	}
	approximate, _ := sum.Float64()
	want, mean := value.Double(approximate), value.Null()
	switch {
	case kind == value.KindDecimal:
		want = dec
	case kind != value.KindDouble && sum.Num().IsInt64():
		want = value.Int64(sum.Num().Int64())
		if kind == value.KindInt32 {
			want = value.Int(sum.Num().Int64())
		}
	}
	if n > 0 {
		mean = value.Double(approximate / float64(n))
	}
	if s := g.Lookup("sum"); s.Kind() != want.Kind() || !value.Equal(s, want) {
		t.Fatalf("the sum of %v is %s (%s), want %s (%s)", vs, s, s.Kind(), want, want.Kind())
	}
	if a := g.Lookup("avg"); kind != value.KindDecimal && !value.Equal(a, mean) {
		t.Fatalf("the mean of %v is %s, want %s", vs, a, mean)
	}
}
