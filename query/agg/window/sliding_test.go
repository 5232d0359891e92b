package window_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

// slidingOperators are the operators that take a window. The results of some are sums of
// doubles, which depend on the order of the additions; that of $addToSet has no order.
var slidingOperators = map[string]string{
	"sum": `"$sum": "$a"`, "avg": `"$avg": "$a"`, "pop": `"$stdDevPop": "$a"`, "samp": `"$stdDevSamp": "$a"`,
	"covPop": `"$covariancePop": ["$a", "$b"]`, "covSamp": `"$covarianceSamp": ["$a", "$b"]`, "integral": `"$integral": {"input": "$b"}`,
	"min": `"$min": "$a"`, "max": `"$max": "$a"`, "minN": `"$minN": {"n": 3, "input": "$a"}`, "maxN": `"$maxN": {"n": 40, "input": "$a"}`,
	"top": `"$top": {"sortBy": {"a": 1}, "output": "$_id"}`, "topN": `"$topN": {"n": 4, "sortBy": {"a": -1, "b": 1}, "output": "$_id"}`,
	"bottom": `"$bottom": {"sortBy": {"a": 1}, "output": "$a"}`, "bottomN": `"$bottomN": {"n": 5, "sortBy": {"a": 1}, "output": "$_id"}`,
	"firstN": `"$firstN": {"n": 3, "input": "$a"}`, "lastN": `"$lastN": {"n": 3, "input": "$a"}`, "first": `"$first": "$a"`, "last": `"$last": "$a"`,
	"median": `"$median": {"input": "$a", "method": "approximate"}`, "percentile": `"$percentile": {"input": "$a", "p": [0.1, 0.5, 1.0], "method": "approximate"}`,
	"push": `"$push": "$a"`, "addToSet": `"$addToSet": "$a"`, "count": `"$count": {}`,
}

// A window operator has the same result for a window that moves as for the documents of that
// window alone, whether the window is small or large.
func TestMovingWindows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(r, "documents")
		name := rapid.SampledFrom(slices.Sorted(func(yield func(string) bool) {
			for name := range slidingOperators {
				if !yield(name) {
					return
				}
			}
		})).Draw(r, "operator")
		values := []string{`1`, `-3`, `7`, `1.0`, `{"$numberLong": "4"}`, `0.5`, `2.25`, `1e15`, `{"$numberDecimal": "1.5"}`, `null`, `"x"`}
		if slices.Contains([]string{"pop", "samp", "covPop", "covSamp"}, name) { // beside it, the others are lost in rounding
			values = slices.DeleteFunc(values, func(v string) bool { return v == `1e15` })
		}
		values = values[:rapid.IntRange(1, len(values)).Draw(r, "kinds")]
		docs := make([]string, n)
		for i := range docs {
			docs[i] = fmt.Sprintf(`{"_id": %d, "a": %s, "b": %d}`, i, rapid.SampledFrom(values).Draw(r, "a"), rapid.IntRange(-5, 5).Draw(r, "b"))
		}
		lower, upper := rapid.IntRange(-90, 10).Draw(r, "lower"), rapid.IntRange(-10, 90).Draw(r, "upper")
		if lower > upper {
			lower, upper = upper, lower
		}
		hi := fmt.Sprint(upper)
		if rapid.IntRange(0, 3).Draw(r, "unbounded") == 0 {
			upper, hi = n, `"unbounded"`
		}
		pipeline := func(window string) string {
			return `[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": {` + slidingOperators[name] + window + `}}}}]`
		}
		moving := runWindow(t, docs, pipeline(fmt.Sprintf(`, "window": {"documents": [%d, %s]}`, lower, hi)))
		for _, i := range []int{0, n / 3, n / 2, n - 1, rapid.IntRange(0, n-1).Draw(r, "document")} {
			from, to := max(i+lower, 0), min(i+upper+1, n)
			if from >= to {
				continue
			}
			want := runWindow(t, docs[from:to], pipeline(`, "window": {"documents": ["unbounded", "unbounded"]}`))[0].Lookup("r")
			if name == "bottomN" { // of equal keys the latest, as in mongod's window function
				want = lastBy(aggtest.Docs(t, "["+strings.Join(docs[from:to], ",")+"]"), 5)
			}
			if got := moving[i].Lookup("r"); !alike(name, got, want) {
				r.Fatalf("%s of document %d over [%d, %s]: %s, want %s\n%s", name, i, lower, hi, got, want, strings.Join(docs, "\n"))
			}
		}
	})
}

func runWindow(t *testing.T, docs []string, pipeline string) []value.Doc {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, "["+strings.Join(docs, ",")+"]")
	out, err := aggtest.Run(t, h, pipeline)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alike reports whether two results are the same, up to the rounding of sums.
func alike(name string, a, b value.Value) bool {
	switch name {
	case "sum", "avg", "pop", "samp", "covPop", "covSamp", "integral":
		if a.IsNumber() && b.IsNumber() {
			x, y := a.AsDouble(), b.AsDouble()
			return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1) || name != "sum" && name != "avg" && math.Abs(x-y) <= 1e-6*max(math.Abs(x), math.Abs(y))
		}
	case "addToSet":
		return sorted(a) == sorted(b)
	}
	equal := value.Compare(a, b) == 0
	if name == "max" || name == "maxN" || name == "bottom" { // the latest of equal values, which may have another type
		return equal
	}
	return equal && a.Kind() == b.Kind()
}

// lastBy returns the _ids of the last n documents by a.
func lastBy(docs []value.Doc, n int) value.Value {
	slices.SortStableFunc(docs, func(a, b value.Doc) int { return value.Compare(a.Lookup("a"), b.Lookup("a")) })
	var ids []value.Value
	for _, d := range docs[max(len(docs)-n, 0):] {
		ids = append(ids, d.Lookup("_id"))
	}
	return value.NewArray(ids...)
}

func sorted(v value.Value) string {
	list := slices.Collect(v.Doc().Values())
	slices.SortFunc(list, value.Compare)
	return fmt.Sprint(list)
}
