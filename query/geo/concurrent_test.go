package geo

import (
	"sync"
	"testing"
)

// TestConcurrentUse uses one geometry in many goroutines: its spatial index is built on
// first use.
func TestConcurrentUse(t *testing.T) {
	g := shape(t, holed)
	inside, hole := stored(t, point(`[2,2]`)), stored(t, point(`[5,5]`))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if !g.Contains(inside) || g.Intersects(hole) {
					t.Error("wrong answer")
					return
				}
				if _, ok := g.QueryRanges(QueryCover); !ok {
					t.Error("no ranges")
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkContains(b *testing.B) {
	g, p := shape(b, square), stored(b, point(`[5,5]`))
	b.ReportAllocs()
	for b.Loop() {
		g.Contains(p)
	}
}
