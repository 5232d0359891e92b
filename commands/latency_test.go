package commands

import (
	"testing"
	"time"
)

func TestLatencies(t *testing.T) {
	var l latencies
	for _, d := range []time.Duration{0, time.Microsecond, 3 * time.Microsecond, time.Millisecond, time.Hour, -1} {
		l.observe(d)
	}
	s := l.snapshot()
	for i, want := range map[int]int64{0: 2, 1: 1, 2: 1, 10: 1, latencyBuckets: 1} {
		if s.Counts[i] != want {
			t.Errorf("bucket %d has %d, want %d", i, s.Counts[i], want)
		}
	}
	if s.Bound(10) != 0.001024 || s.Seconds < 3600 {
		t.Errorf("bound %v, sum %v", s.Bound(10), s.Seconds)
	}
}

func TestSnapshot(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	h.ok(`{"find": "c"}`)
	h.fails(59, `{"nonsense": 1}`)
	m := h.svc.Snapshot()
	if m.Opcounters[0] != (Counter{"insert", 2}) || m.Data.Documents < 2 || m.Data.IndexBytes == 0 || m.Errors != 1 {
		t.Errorf("%+v", m)
	}
	var reads, writes int64
	for i := range m.Latencies[0].Counts {
		reads, writes = reads+m.Latencies[0].Counts[i], writes+m.Latencies[1].Counts[i]
	}
	if reads != 1 || writes != 1 {
		t.Errorf("%d reads, %d writes", reads, writes)
	}
	if err := h.svc.Ready(); err != nil {
		t.Error(err)
	}
}
