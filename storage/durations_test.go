package storage

import (
	"testing"
	"time"
)

// A duration is in the first bucket whose bound it does not exceed, as a bucket of Prometheus
// with that le counts it.
func TestDurations(t *testing.T) {
	for _, tt := range []struct {
		d      time.Duration
		bucket int
	}{
		{-time.Second, 0}, {0, 0}, {time.Nanosecond, 0}, {16 * time.Microsecond, 0}, {16*time.Microsecond + 1, 1},
		{32 * time.Microsecond, 1}, {33 * time.Microsecond, 2}, {time.Millisecond, 6}, {1024 * time.Microsecond, 6},
		{1025 * time.Microsecond, 7}, {time.Second, 16}, {33 * time.Second, 21}, {34 * time.Second, DurationBuckets}, {time.Hour, DurationBuckets},
	} {
		var h Durations
		h.Observe(tt.d)
		c := h.Counts()
		if c.Counts[tt.bucket] != 1 || c.Total() != 1 {
			t.Errorf("%v is not in bucket %d: %v", tt.d, tt.bucket, c.Counts)
		}
		if i := tt.bucket; i < DurationBuckets && tt.d.Seconds() > c.Bound(i) || i > 0 && tt.d.Seconds() <= c.Bound(i-1) {
			t.Errorf("%v is not within the bounds of bucket %d", tt.d, i)
		}
	}
	var h Durations
	for range 3 {
		h.Observe(time.Millisecond)
	}
	h.Observe(time.Second)
	c := h.Counts()
	if c.Seconds != 1.003 {
		t.Errorf("the sum is %v", c.Seconds)
	}
	// histogram_quantile of the same buckets: rank 2 of 3 within 0.512 to 1.024 ms.
	if q, want := c.Quantile(0.5), 0.000512+0.000512*2/3; q < want-1e-9 || q > want+1e-9 {
		t.Errorf("the median is %v, want %v", q, want)
	}
	if q := (&DurationCounts{}).Quantile(0.5); q != 0 {
		t.Errorf("the median of nothing is %v", q)
	}
}
