package geo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestInterrupted: comparisons of geometries with many edges end when they are interrupted.
func TestInterrupted(t *testing.T) {
	const n = 2000
	along := func(latitude float64) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "[%g, %g]", float64(i)*0.02, latitude+float64(i%2)*0.01)
		}
		return b.String()
	}
	shapes := map[string]*Geometry{
		"points":  stored(t, `{"type": "MultiPoint", "coordinates": [`+along(5)+`]}`),
		"line":    stored(t, `{"type": "LineString", "coordinates": [`+along(3)+`]}`),
		"polygon": stored(t, `{"type": "Polygon", "coordinates": [[`+along(1)+`, [39.98, -5], [0, -5], [0, 1]]]}`),
	}
	stop := errors.New("stop")
	for a, g := range shapes {
		for b, o := range shapes {
			weighed := 0
			weigh := func(bytes int) error {
				if weighed += bytes; weighed > n*edgeBytes {
					return stop
				}
				return nil
			}
			if _, err := g.IntersectsUnless(o, weigh); a != b && !errors.Is(err, stop) && weighed < n*edgeBytes/2 {
				t.Errorf("%s and %s: %v after %d bytes", a, b, err, weighed)
			}
			if a != "polygon" {
				continue
			}
			if ok, err := g.ContainsUnless(o, func(int) error { return stop }); ok || !errors.Is(err, stop) {
				t.Errorf("%s in %s: %v, %v", b, a, ok, err)
			}
		}
	}
}
