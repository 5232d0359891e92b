package text

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

func BenchmarkTerms(b *testing.B) {
	ix := index(b, `{"a": 1}`)
	d := value.NewDoc("a", value.String("Wrote the first published algorithm for the Analytical Engine of Charles Babbage"))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = ix.Terms(d)
	}
}
