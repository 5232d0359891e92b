package agg

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// A window gives what the accumulator gives over just its documents.
func TestWindowsAgreeWithGroups(t *testing.T) {
	accs := []string{`"$sum": "$b"`, `"$avg": "$b"`, `"$min": "$b"`, `"$max": "$b"`, `"$push": "$b"`, `"$addToSet": "$b"`, `"$count": {}`, `"$stdDevPop": "$b"`,
		`"$firstN": {"input": "$b", "n": 2}`, `"$topN": {"output": "$_id", "sortBy": {"b": 1}, "n": 2}`, `"$median": {"input": "$b", "method": "approximate"}`}
	rapid.Check(t, func(rt *rapid.T) {
		var in []value.Doc
		for i := range rapid.IntRange(0, 12).Draw(rt, "docs") {
			in = append(in, genDoc(rt, i))
		}
		acc := rapid.SampledFrom(accs).Draw(rt, "acc")
		lower := rapid.IntRange(-4, 3).Draw(rt, "lower")
		upper := rapid.IntRange(lower, 5).Draw(rt, "upper")
		from, to := fmt.Sprint(lower), fmt.Sprint(upper)
		if rapid.IntRange(0, 4).Draw(rt, "left") == 0 {
			from, lower = `"unbounded"`, -100
		}
		if rapid.IntRange(0, 4).Draw(rt, "right") == 0 {
			to, upper = `"unbounded"`, 100
		}
		kind := rapid.SampledFrom([]string{"documents", "range"}).Draw(rt, "kind") // the same for consecutive _id
		h := newMemory()
		h.colls["test.c"] = in
		pipeline := fmt.Sprintf(`[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": {%s, "window": {%q: [%s, %s]}}}}}]`, acc, kind, from, to)
		got, err := run(t, h, pipeline)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range in {
			part := newMemory()
			part.colls["test.c"] = in[min(max(i+lower, 0), len(in)):min(max(i+upper+1, 0), len(in))]
			want := value.Value{}
			if len(part.colls["test.c"]) == 0 {
				continue
			}
			group, err := run(t, part, `[{"$group": {"_id": null, "r": {`+acc+`}}}]`)
			if err != nil {
				rt.Fatal(err)
			}
			want = group[0].Lookup("r")
			r := got[i].Lookup("r")
			deviation := r.Kind() == value.KindInt32 && strings.Contains(acc, "stdDev") // of one number in a window
			if (r.Kind() == value.KindDouble || deviation) && math.Abs(r.Double()-want.AsDouble()) < 1e-9 {
				continue
			}
			if r.JSON() != want.JSON() || r.Kind() != want.Kind() {
				rt.Fatalf("%s document %d: %s, want %s", pipeline, i, r.JSON(), want.JSON())
			}
		}
	})
}

// A document sorts by the least element of an array, descending by the
// greatest.
func TestSortKeysOfArrays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		desc := rapid.Bool().Draw(rt, "desc")
		dir, sign := 1, 1
		if desc {
			dir, sign = -1, -1
		}
		pattern, err := order.ParsePattern(value.MustJSON(fmt.Sprintf(`{"a": %d}`, dir)))
		if err != nil {
			rt.Fatal(err)
		}
		best := func(v value.Value) value.Value {
			switch {
			case v.IsMissing():
				return value.Null()
			case v.Kind() != value.KindArray:
				return v
			case v.Doc().IsEmpty():
				return value.Undefined()
			}
			out := v.Doc().Index(0)
			for e := range v.Doc().Values() {
				if value.Compare(e, out)*sign < 0 {
					out = e
				}
			}
			return out
		}
		x, y := genDoc(rt, 1), genDoc(rt, 2)
		kx, errx := pattern.AppendKey(nil, expr.NewEnv(0), x, nil)
		ky, erry := pattern.AppendKey(nil, expr.NewEnv(0), y, nil)
		if errx != nil || erry != nil {
			rt.Fatal(errx, erry)
		}
		want := value.Compare(best(x.Lookup("a")), best(y.Lookup("a"))) * sign
		if got := strings.Compare(string(kx), string(ky)); got != want {
			rt.Fatalf("%s, %s: %d, want %d", x, y, got, want)
		}
	})
}

// What was set is found again, and nothing else has changed.
func TestSetPath(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := genDoc(rt, 1)
		path := genPath(rt)
		v := value.MustJSON(`{"v": ` + genValue(rt, 1) + `}`).Lookup("v")
		got := stage.SetPath(d, strings.Split(path, "."), v)
		if err := value.Validate(got); err != nil {
			rt.Fatal(err)
		}
		if w := value.ParsePath(path).Get(got); w.JSON() != v.JSON() {
			rt.Fatalf("%s at %s of %s", w.JSON(), path, got)
		}
		for k, old := range d.All() {
			if k != stage.TopField(path) && got.Lookup(k).JSON() != old.JSON() {
				rt.Fatalf("%s changed: %s", k, got)
			}
		}
		if removed := stage.SetPath(got, strings.Split(path, "."), value.Value{}); !value.ParsePath(path).Get(removed).IsMissing() {
			rt.Fatalf("%s is still in %s", path, removed)
		}
	})
}
