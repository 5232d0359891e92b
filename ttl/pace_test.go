package ttl

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// workClock moves only by what is done: by transactions of a cost for each
// record, and by pauses, which it notes.
type workClock struct {
	clock.Clock
	now    time.Time
	pauses []time.Duration
}

func (c *workClock) Now() time.Time { return c.now }

func (c *workClock) NewTimer(d time.Duration) clock.Timer {
	c.now = c.now.Add(d)
	c.pauses = append(c.pauses, d)
	return clock.System().NewTimer(0)
}

func TestPacer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cost     time.Duration // of a record
		fixed    int
		active   bool
		low, top int // bounds of the size in the end
	}{
		{"quick records, nobody there", time.Microsecond, 0, false, batchMost, batchMost},
		{"usual records", 4 * time.Microsecond, 0, true, 125, 250},
		{"slow records", time.Millisecond, 0, true, batchLeast, batchLeast},
		{"a given size", time.Microsecond, 100, true, 100, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, c := newFakeHost(), &workClock{now: time.UnixMilli(0)}
			p := newPacer(context.Background(), h, c, tt.fixed)
			var worked time.Duration
			n := 0
			for range 50 {
				n = p.batch()
				took := time.Duration(n) * tt.cost
				c.now = c.now.Add(took)
				worked += min(took, 10*batchTime)
				if tt.active {
					h.operations.Add(3)
				}
				p.yield()
			}
			if n < tt.low || n > tt.top {
				t.Errorf("transactions of %d records, want %d to %d", n, tt.low, tt.top)
			}
			var paused time.Duration
			for _, d := range c.pauses {
				paused += d
			}
			if want := map[bool]time.Duration{true: worked}[tt.active]; paused != want {
				t.Errorf("paused for %s, worked for %s", paused, worked)
			}
		})
	}
}

// A pass pauses once clients have asked for something, and not when they stop.
func TestPassYieldsToClients(t *testing.T) {
	h, c := newFakeHost(), &workClock{now: time.UnixMilli(0)}
	p := newPacer(context.Background(), h, c, 10)
	for i := range 6 {
		p.batch()
		c.now = c.now.Add(batchTime)
		if i == 2 || i == 3 {
			h.operations.Add(1)
		}
		p.yield()
	}
	if want := []time.Duration{batchTime, batchTime}; !slices.Equal(c.pauses, want) {
		t.Errorf("pauses %v, want %v", c.pauses, want)
	}
}
