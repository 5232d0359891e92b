package diagnostics_test

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/diagnostics"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

func TestLatencies(t *testing.T) {
	var l observe.Latencies
	for _, d := range []time.Duration{0, time.Microsecond, 3 * time.Microsecond, time.Millisecond, time.Hour, -1} {
		l.Observe(d)
	}
	s := l.Snapshot()
	for i, want := range map[int]int64{0: 2, 1: 1, 2: 1, 10: 1, observe.LatencyBuckets: 1} {
		if s.Counts[i] != want {
			t.Errorf("bucket %d has %d, want %d", i, s.Counts[i], want)
		}
	}
	if s.Bound(10) != 0.001024 || s.Seconds < 3600 {
		t.Errorf("bound %v, sum %v", s.Bound(10), s.Seconds)
	}
}

// The buckets are those of mongod's operation_latency_histogram.
func TestLatencyHistogram(t *testing.T) {
	bounds := []int64{0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536,
		98304, 131072, 196608, 262144, 393216, 524288, 786432, 1048576, 1572864, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864,
		134217728, 268435456, 536870912, 1073741824, 2147483648, 4294967296, 8589934592, 17179869184, 34359738368, 68719476736,
		137438953472, 274877906944, 549755813888, 1099511627776}
	for i, bound := range bounds {
		var l observe.Latencies
		l.Observe(time.Duration(bound) * time.Microsecond)
		last := bound + 1
		if i+1 < len(bounds) {
			last = bounds[i+1] - 1
		}
		l.Observe(time.Duration(last) * time.Microsecond)
		b := value.NewBuilder()
		l.AppendHistogram(b)
		list := b.Doc().Lookup("histogram").Doc()
		only := list.Index(0).Doc()
		if list.Len() != 1 || only.Lookup("micros").Int64() != bound || only.Lookup("count").Int64() != 2 {
			t.Errorf("from %d to %d: %s", bound, last, list)
		}
	}
}

func TestSnapshot(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	h.OK(`{"find": "c"}`)
	h.Fails(59, `{"nonsense": 1}`)
	m := diagnostics.Snapshot(h.Svc)
	if m.Opcounters[0] != (diagnostics.Counter{Name: "insert", Value: 2}) || m.Data.Documents < 2 || m.Data.IndexBytes == 0 || m.Errors != 1 {
		t.Errorf("%+v", m)
	}
	var reads, writes int64
	for i := range m.Latencies[0].Counts {
		reads, writes = reads+m.Latencies[0].Counts[i], writes+m.Latencies[1].Counts[i]
	}
	if reads != 1 || writes != 1 {
		t.Errorf("%d reads, %d writes", reads, writes)
	}
	if err := diagnostics.Ready(h.Svc); err != nil {
		t.Error(err)
	}
}
