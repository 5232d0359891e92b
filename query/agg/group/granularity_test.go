package group

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// Rounding goes strictly up and down, and stays within a decade.
func TestRoundersBracketNumbers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.Float64Range(1e-6, 1e12).Draw(rt, "f")
		v := value.Double(f)
		if rapid.Bool().Draw(rt, "decimal") {
			v = value.DecimalValue(value.DecimalFromDouble(f))
		}
		for name, r := range rounders {
			up, down := r.up(v), r.down(v)
			if value.Compare(up, v) <= 0 || value.Compare(down, v) >= 0 || up.AsDouble() > 10*f || down.AsDouble() < f/10 {
				rt.Fatalf("%s: %s < %s < %s", name, down, v, up)
			}
			if r.series == nil { // $pow makes integers of integers
				continue
			}
			if up.Kind() != v.Kind() || down.Kind() != v.Kind() {
				rt.Fatalf("%s: types %s, %s", name, up.Kind(), down.Kind())
			}
		}
	})
}
