package expr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestLargeArrays: arrays that are large enough to be kept as positions give the same
// results as small ones.
func TestLargeArrays(t *testing.T) {
	const n = 40_000
	r := rand.New(rand.NewPCG(1, 2))
	var a, b []value.Value
	for i := range n {
		a = append(a, value.Int32(r.Int32N(n)))
		b = append(b, value.Double(float64(i*2)))
	}
	inA, inB := map[int64]bool{}, map[int64]bool{}
	for i := range n {
		inA[a[i].Int64()], inB[int64(i*2)] = true, true
	}
	union, both, onlyA := 0, 0, 0
	for x := range inA {
		if inB[x] {
			both++
		} else {
			onlyA++
		}
	}
	union = len(inA) + len(inB) - both
	d := value.NewDoc("a", value.NewArray(a...), "b", value.NewArray(b...))
	if len(d.Lookup("a").Doc()) < manyBytes {
		t.Fatal("the arrays are small")
	}
	eval := func(e string) value.Value {
		x, err := Compile(value.MustJSON(`{"e": `+e+`}`).Lookup("e"), nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := x.Eval(NewEnv(0), d)
		if err != nil {
			t.Fatal(e, err)
		}
		if v.Kind() == value.KindArray {
			if err := value.Validate(value.NewDoc("v", v)); err != nil {
				t.Fatal(e, err)
			}
		}
		return v
	}
	for e, want := range map[string]int{
		`{"$setUnion": ["$a", "$b"]}`: union, `{"$setIntersection": ["$a", "$b"]}`: both, `{"$setDifference": ["$a", "$b"]}`: onlyA,
		`{"$reverseArray": "$a"}`: n, `{"$sortArray": {"input": "$a", "sortBy": -1}}`: n, `{"$maxN": {"n": 17, "input": "$a"}}`: 17,
	} {
		if got := eval(e).Doc().Len(); got != want {
			t.Errorf("%s has %d elements, want %d", e, got, want)
		}
	}
	sorted := slices.Collect(eval(`{"$sortArray": {"input": "$a", "sortBy": -1}}`).Doc().Values())
	if !slices.IsSortedFunc(sorted, func(x, y value.Value) int { return value.Compare(y, x) }) {
		t.Error("$sortArray is not in order")
	}
	if first := eval(`{"$first": {"$reverseArray": "$a"}}`); !value.Equal(first, a[n-1]) {
		t.Errorf("reversed, the first is %s, want %s", first, a[n-1])
	}
	if !eval(`{"$setEquals": ["$a", {"$reverseArray": "$a"}]}`).Bool() || eval(`{"$setIsSubset": ["$a", "$b"]}`).Bool() || !eval(`{"$setIsSubset": [{"$setIntersection": ["$a", "$b"]}, "$b"]}`).Bool() {
		t.Error("$setEquals or $setIsSubset")
	}
}

// TestExpressionsEnd: every expression over a large array checks regularly whether it was
// interrupted, and then ends soon.
func TestExpressionsEnd(t *testing.T) {
	const n = 50_000
	over := errors.New("over")
	var a []value.Value
	for i := range n {
		a = append(a, value.Int32(int32(i*7919%n)))
	}
	d := value.NewDoc("a", value.NewArray(a...), "s", value.String(strings.Repeat("ab", n)))
	for _, e := range []string{
		`{"$sortArray": {"input": "$a", "sortBy": 1}}`, `{"$setUnion": ["$a", "$a"]}`, `{"$setIntersection": ["$a", "$a"]}`, `{"$setDifference": ["$a", [1]]}`,
		`{"$setEquals": ["$a", "$a"]}`, `{"$setIsSubset": ["$a", "$a"]}`, `{"$reverseArray": "$a"}`, `{"$concatArrays": ["$a", "$a"]}`, `{"$in": [-1, "$a"]}`,
		`{"$indexOfArray": ["$a", -1]}`, `{"$zip": {"inputs": ["$a", "$a"]}}`, `{"$sum": "$a"}`, `{"$max": "$a"}`, `{"$maxN": {"n": 5, "input": "$a"}}`,
		`{"$range": [0, {"$add": [50000, {"$first": "$a"}]}]}`, `{"$split": ["$s", "b"]}`, `{"$regexFindAll": {"input": "$s", "regex": "a"}}`,
		`{"$regexFindAll": {"input": "$s", "regex": "a(?=b)"}}`, `{"$map": {"input": "$a", "in": 1}}`, `{"$filter": {"input": "$a", "cond": true}}`,
		`{"$reduce": {"input": "$a", "initialValue": 0, "in": "$$this"}}`,
	} {
		x, err := Compile(value.MustJSON(fmt.Sprintf(`{"e": %s}`, e)).Lookup("e"), nil)
		if err != nil {
			t.Fatal(e, err)
		}
		asked := 0
		env := NewEnv(0)
		env.Interrupt = func() error { asked++; return nil }
		if _, err := x.Eval(env, d); err != nil {
			t.Fatal(e, err)
		}
		if asked < n/2048 {
			t.Errorf("%s: checked %d times for an interruption", e, asked)
		}
		asked = 0
		env.Interrupt = func() error {
			if asked++; asked > 3 {
				return over
			}
			return nil
		}
		if _, err := x.Eval(env, d); !errors.Is(err, over) || asked > 6 {
			t.Errorf("%s: %v after %d checks for an interruption", e, err, asked)
		}
	}
}
