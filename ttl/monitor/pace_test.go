package monitor

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
	over   time.Duration // what the next pause takes longer than it should
}

func (c *workClock) Now() time.Time { return c.now }

func (c *workClock) NewTimer(d time.Duration) clock.Timer {
	c.now = c.now.Add(d + c.over)
	c.pauses = append(c.pauses, d)
	return clock.System().NewTimer(0)
}

func (c *workClock) paused() (sum time.Duration) {
	for _, d := range c.pauses {
		sum += d
	}
	return sum
}

func TestPacer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pace     pace
		commit   time.Duration // cost of a transaction without records
		cost     time.Duration // cost of a record
		fixed    int
		active   bool
		low, top int // bounds of the size in the end
	}{
		{"quick records, nobody there", localPace, 0, time.Microsecond, 0, false, localPace.most, localPace.most},
		{"usual records, nobody there", localPace, 0, 4 * time.Microsecond, 0, false, 500, 1000},
		{"quick records", localPace, 0, time.Microsecond, 0, true, 32, 62},
		{"usual records", localPace, 0, 2 * time.Microsecond, 0, true, 16, 31},
		{"slow records", localPace, 0, time.Millisecond, 0, true, localPace.least, localPace.least},
		{"slow records, nobody there", localPace, 0, time.Millisecond, 0, false, localPace.least, localPace.least},
		{"a given size", localPace, 0, time.Microsecond, 100, true, 100, 100},
		{"a database", remotePace, 3 * time.Millisecond, 40 * time.Microsecond, 0, false, 1175, 2048},
		{"a database, with clients", remotePace, 3 * time.Millisecond, 40 * time.Microsecond, 0, true, 250, 550},
		{"a slow database", remotePace, 125 * time.Millisecond, 40 * time.Microsecond, 0, false, 128, 128},
		{"a slow database, with clients", remotePace, 125 * time.Millisecond, 40 * time.Microsecond, 0, true, 128, 128},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, c := newHost(t), &workClock{now: time.UnixMilli(0)}
			p := newPacer(context.Background(), h, c, tt.pace, tt.fixed)
			var worked time.Duration
			n := 0
			for range 50 {
				n = p.batch()
				took := tt.commit + time.Duration(n)*tt.cost
				c.now = c.now.Add(took)
				worked += min(took, maxPause)
				if tt.active {
					h.operations.Add(3)
				}
				p.yield()
			}
			if n < tt.low || n > tt.top {
				t.Errorf("transactions of %d records, want %d to %d", n, tt.low, tt.top)
			}
			if want := map[bool]time.Duration{true: worked}[tt.active]; c.paused() != want {
				t.Errorf("paused for %s, worked for %s", c.paused(), worked)
			}
		})
	}
}

// A pass pauses while clients are active, and for a little longer; not once they have
// gone.
func TestPassYieldsToClients(t *testing.T) {
	h, c := newHost(t), &workClock{now: time.UnixMilli(0)}
	p := newPacer(context.Background(), h, c, localPace, 10)
	for i := range 6 {
		p.batch()
		c.now = c.now.Add(idleTarget)
		if i == 2 {
			h.operations.Add(1)
		}
		if i == 4 {
			c.now = c.now.Add(clientsActive)
		}
		p.yield()
	}
	if want := []time.Duration{idleTarget, idleTarget}; !slices.Equal(c.pauses, want) {
		t.Errorf("pauses %v, want %v", c.pauses, want)
	}
}

// The time by which a pause is too long is credited to the next transactions, up to a
// limit; otherwise a pass would no longer pause after a long sleep.
func TestRestsAreMadeUpFor(t *testing.T) {
	h, c := newHost(t), &workClock{now: time.UnixMilli(0), over: time.Millisecond}
	p := newPacer(context.Background(), h, c, localPace, 10)
	for range 6 {
		p.batch()
		c.now = c.now.Add(maxCredit / 2)
		h.operations.Add(1)
		p.yield()
		c.over = 0
	}
	want := []time.Duration{maxCredit / 2, minPause, minPause, maxCredit/2 - 2*minPause, maxCredit / 2, maxCredit / 2}
	if !slices.Equal(c.pauses, want) {
		t.Errorf("pauses %v, want %v", c.pauses, want)
	}
}
