// Package versus compares, in a benchmark, an engine with what it is built on.
package versus

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// Run lets both sides do the same operations in turns, b.N times, since others use the
// machine as well: workers goroutines do ops operations, whose numbers grow. It reports how
// long one takes, and the median of the ratios: how many operations the engine does while raw
// does one, by the clock and by the processor time of this process.
func Run(b *testing.B, workers, ops int, raw, engine func(worker int, n int64) error) {
	b.Helper()
	var r Race
	for range b.N {
		r.Round(b, workers, ops, raw, engine)
	}
	r.Report(b)
}

// Race is what both sides have taken so far.
type Race struct {
	next  atomic.Int64
	times [2][]time.Duration // durations of an operation
	wall  []float64
	cpu   []float64
}

// Round lets both sides do ops operations.
func (r *Race) Round(b *testing.B, workers, ops int, raw, engine func(worker int, n int64) error) {
	b.Helper()
	var took, used [2]time.Duration
	for i, do := range []func(int, int64) error{raw, engine} {
		begun, before := clock.System().Now(), processorTime()
		end := r.next.Load() + int64(ops)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for n := r.next.Add(1); n <= end; n = r.next.Add(1) {
					if err := do(w, n); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		r.next.Store(end)
		took[i], used[i] = clock.System().Now().Sub(begun), processorTime()-before
		r.times[i] = append(r.times[i], took[i]/time.Duration(ops))
	}
	r.wall = append(r.wall, float64(took[0])/float64(took[1]))
	if used[0] > 0 && used[1] > 0 {
		r.cpu = append(r.cpu, float64(used[0])/float64(used[1]))
	}
}

// Report reports the medians of all rounds.
func (r *Race) Report(b *testing.B) {
	for i, unit := range []string{"raw-ns", "engine-ns"} {
		b.ReportMetric(float64(median(r.times[i])), unit)
	}
	b.ReportMetric(median(r.wall), "ratio")
	if len(r.cpu) > 0 {
		b.ReportMetric(median(r.cpu), "cpu-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

func median[T float64 | time.Duration](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}
