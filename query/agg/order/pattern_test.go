package order_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// A document sorts by the least element of an array; in descending order, by the
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
		x, y := aggtest.GenDoc(rt, 1), aggtest.GenDoc(rt, 2)
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

// Every kind of metadata of mongod sorts in descending order; when a document expires
// sorts in ascending order.
func TestDirectionOfMetadata(t *testing.T) {
	for _, name := range []string{"geoNearDistance", "randVal", "searchScore", "textScore", "vectorSearchScore", "expiresAt"} {
		pattern, err := order.ParsePattern(value.MustJSON(`{"x": {"$meta": "` + name + `"}}`))
		if err != nil || !pattern[0].Meta || pattern[0].Desc != (name != "expiresAt") {
			t.Errorf("%s: %+v, %v", name, pattern, err)
		}
	}
}
