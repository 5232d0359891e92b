package expr

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// BenchmarkLargeArrays measures operators that sort a million numbers.
func BenchmarkLargeArrays(b *testing.B) {
	for _, s := range []string{
		`{"$sortArray": {"input": {"$range": ["$zero", 1000000]}, "sortBy": -1}}`,
		`{"$setUnion": [{"$range": ["$zero", 1000000]}, {"$range": [500000, 1500000]}]}`,
	} {
		v := value.MustJSON(fmt.Sprintf(`{"e": %s}`, s))
		e, err := Compile(v.Lookup("e"), nil)
		if err != nil {
			b.Fatal(err)
		}
		name, _ := v.Lookup("e").Doc().First()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(NewEnv(0), value.NewDoc("zero", value.Int32(0))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
