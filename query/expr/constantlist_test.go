package expr

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// folding is a collation that ignores case and counts its comparisons.
type folding struct{ n int }

func (c *folding) Compare(a, b string) int {
	c.n++
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

func (c *folding) AppendKey(dst []byte, s string) []byte { return append(dst, strings.ToLower(s)...) }

// TestConstantIn: $in gives the same result for a constant list as for a list in a
// document, also with a collation.
func TestConstantIn(t *testing.T) {
	values := []string{`1`, `1.0`, `{"$numberDecimal": "1"}`, `2`, `"a"`, `"A"`, `"b"`, `null`, `{"$undefined": true}`, `[1]`, `["A"]`, `{"k": "a"}`, `{"k": "A"}`, `{"$numberDouble": "NaN"}`, `true`, `{"$minKey": 1}`}
	rapid.Check(t, func(t *rapid.T) {
		var list []string
		for range rapid.IntRange(fewConstants-2, fewConstants+10).Draw(t, "n") {
			list = append(list, rapid.SampledFrom(values).Draw(t, "element"))
		}
		d := value.MustJSON(`{"list": [` + strings.Join(list, ", ") + `], "v": ` + rapid.SampledFrom(values).Draw(t, "value") + `}`)
		if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			d = value.NewDoc("list", d.Lookup("list"))
		}
		env := NewEnv(0)
		if rapid.Bool().Draw(t, "collation") {
			env.Collation = &folding{}
		}
		eval := func(list value.Value) value.Value {
			e, err := Compile(value.Document(value.NewDoc("$in", value.NewArray(value.String("$v"), list))), nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := e.Eval(env, d)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		constant := eval(value.Document(value.NewDoc("$literal", d.Lookup("list"))))
		if stored := eval(value.String("$list")); constant.Bool() != stored.Bool() {
			t.Fatalf("%s: %v in the constant list, %v in the stored one", d, constant, stored)
		}
	})
}

// TestManyConstants: a value is looked up in a long list with few comparisons.
func TestManyConstants(t *testing.T) {
	var list []value.Value
	for i := range 2500 {
		list = append(list, value.Int32(int32(2*i)))
	}
	e, err := Compile(value.Document(value.NewDoc("$in", value.NewArray(value.String("$v"), value.NewArray(list...)))), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := e.root.(*call)
	if !ok {
		t.Fatalf("%T", e.root)
	}
	if l, ok := c.data.(*constantList); !ok || len(l.values) != len(list) {
		t.Errorf("the list is not prepared: %T", c.data)
	}
	for i, want := range map[int32]bool{0: true, 1: false, 4998: true, 5000: false} {
		if v, err := e.Eval(NewEnv(0), value.NewDoc("v", value.Int32(i))); err != nil || v.Bool() != want {
			t.Errorf("%d: %v, %v", i, v, err)
		}
	}
}

// TestManyElements: $setDifference takes about as many comparisons as there
// are elements.
func TestManyElements(t *testing.T) {
	strs := func(n int) value.Value {
		var list []value.Value
		for i := range n {
			list = append(list, value.String(fmt.Sprintf("s%d", i*7919%n)))
		}
		return value.NewArray(list...)
	}
	e, err := Compile(value.MustJSON(`{"e": {"$setDifference": ["$a", "$b"]}}`).Lookup("e"), nil)
	if err != nil {
		t.Fatal(err)
	}
	work := func(n int) int {
		env, c := NewEnv(0), &folding{}
		env.Collation = c
		v, err := e.Eval(env, value.NewDoc("a", strs(n), "b", strs(n/2)))
		if err != nil || v.Doc().Len() != n-n/2 {
			t.Fatal(v.Doc().Len(), err)
		}
		return c.n
	}
	if few, many := work(200), work(3200); many > 16*4*few {
		t.Errorf("%d comparisons for 200, %d for 3200", few, many)
	}
}
