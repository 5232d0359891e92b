package update

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// counting is a collation that counts its comparisons.
type counting struct{ n int }

func (c *counting) Compare(a, b string) int {
	c.n++
	return strings.Compare(a, b)
}

func (c *counting) AppendKey(dst []byte, s string) []byte { return append(dst, s...) }

// TestManyValues: n values against n elements take about n comparisons.
func TestManyValues(t *testing.T) {
	strs := func(from, to int) value.Value {
		var list []value.Value
		for i := from; i < to; i++ {
			list = append(list, value.String(fmt.Sprintf("s%d", i)))
		}
		return value.NewArray(list...)
	}
	each := func(v value.Value) value.Value { return value.Document(value.NewDoc("$each", v)) }
	for name, op := range map[string]func(n int) value.Doc{
		"$addToSet new":  func(n int) value.Doc { return value.NewDoc("a", each(strs(n, 2*n))) },
		"$addToSet half": func(n int) value.Doc { return value.NewDoc("a", each(strs(n/2, n+n/2))) },
		"$pullAll":       func(n int) value.Doc { return value.NewDoc("a", strs(n/2, 2*n)) },
	} {
		work := func(n int) (int, int) {
			c := &counting{}
			operator, _, _ := strings.Cut(name, " ")
			u, err := Compile(value.Document(value.NewDoc(operator, value.Document(op(n)))), Options{Collation: c})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := u.Apply(expr.NewEnv(0), value.NewDoc("a", strs(0, n)), ApplyOptions{Position: -1})
			if err != nil {
				t.Fatal(err)
			}
			return c.n, out.Lookup("a").Doc().Len()
		}
		few, _ := work(200)
		many, left := work(3200)
		if many > 16*3*few {
			t.Errorf("%s: %d comparisons for 200, %d for 3200", name, few, many)
		}
		if want := map[string]int{"$addToSet new": 6400, "$addToSet half": 4800, "$pullAll": 1600}[name]; left != want {
			t.Errorf("%s: %d elements, want %d", name, left, want)
		}
	}
}
