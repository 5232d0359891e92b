package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// mongodBounds are the least microseconds of the buckets of opLatencies, as
// operation_latency_histogram.cpp of mongod has them.
func mongodBounds() []int64 {
	list := []int64{0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	for n := int64(2048); n <= 1<<20; n *= 2 {
		list = append(list, n, n+n/2)
	}
	for n := int64(1 << 21); n <= 1<<40; n *= 2 {
		list = append(list, n)
	}
	return list
}

func TestHistogramHasMongodsBuckets(t *testing.T) {
	bounds := mongodBounds()
	for i, least := range bounds {
		most := int64(1)<<40 + 1<<41
		if i+1 < len(bounds) {
			most = bounds[i+1] - 1
		}
		var l observe.Latencies
		l.Observe(time.Duration(least) * time.Microsecond)
		l.Observe(time.Duration(most)*time.Microsecond + 999)
		want := fmt.Sprintf(`{"histogram":[{"micros":%d,"count":2}]}`, least)
		b := value.NewBuilder()
		l.AppendHistogram(b)
		if got := strings.ReplaceAll(b.Doc().JSON(), " ", ""); got != want {
			t.Errorf("%d to %d: %s, want %s", least, most, got, want)
		}
		if l.Total() != 2 || l.Micros.Load() != least+most {
			t.Errorf("%d commands took %d", l.Total(), l.Micros.Load())
		}
	}
	var l observe.Latencies
	l.Observe(-time.Second) // a clock that was set back
	if l.Total() != 1 || l.Micros.Load() != 0 {
		t.Errorf("%d commands took %d", l.Total(), l.Micros.Load())
	}
}

// A snapshot counts each command below the least bound above it.
func TestLatencySnapshot(t *testing.T) {
	for _, micros := range []int64{0, 1, 2, 3, 1023, 1024, 3000, 1<<21 - 1, 1 << 21, 1<<26 - 1, 1 << 26, 1 << 45} {
		var l observe.Latencies
		l.Observe(time.Duration(micros) * time.Microsecond)
		s := l.Snapshot()
		if s.Seconds != float64(micros)/1e6 {
			t.Errorf("%d took %v s", micros, s.Seconds)
		}
		for i, n := range s.Counts {
			below := i == observe.LatencyBuckets || float64(micros)/1e6 < s.Bound(i)
			before := i > 0 && float64(micros)/1e6 < s.Bound(i-1)
			if want := below && !before; (n == 1) != want {
				t.Errorf("%d: bucket %d below %v s has %d", micros, i, s.Bound(i), n)
			}
		}
	}
}
