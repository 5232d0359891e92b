package postgres

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/clock"
)

// world is a machine whose clock is wrong, and the database's true time.
type world struct {
	machine *clock.Manual
	c       *dbClock
	ahead   time.Duration // how far the database's clock is ahead of the machine's
}

func newWorld(ahead time.Duration) *world {
	w := &world{machine: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), ahead: ahead}
	w.c = newClock(w.machine)
	return w
}

func (w *world) pass(d time.Duration) {
	if err := w.machine.Advance(d); err != nil {
		panic(err)
	}
}

func (w *world) truth() time.Time { return w.machine.Now().Add(w.ahead) }

// read is a round trip whose ways take so long.
func (w *world) read(there, back time.Duration) reading {
	r := reading{sent: w.c.passed()}
	w.pass(there)
	r.micros = w.truth().UnixMicro()
	w.pass(back)
	r.received = w.c.passed()
	return r
}

// off is by how much the clock is ahead of the truth.
func (w *world) off() time.Duration { return w.c.Now().Sub(w.truth()) }

func within(t *testing.T, what string, got, min, max time.Duration) {
	t.Helper()
	if got < min || got > max {
		t.Errorf("%s: %v, want %v to %v", what, got, min, max)
	}
}

// TestClockIsMeasured: the clock is as exact as the best measurement, whatever the clock
// of the machine shows.
func TestClockIsMeasured(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, ahead := range []time.Duration{0, 5 * time.Minute, -3 * time.Hour} {
		w := newWorld(ahead)
		w.c.measured(w.read(30*ms, 10*ms))
		within(t, "after one measurement", w.off(), -20*ms, 20*ms)
		w.c.measured(w.read(ms, ms))
		w.pass(5 * ms) // it may run slowly for a moment
		w.pass(50 * ms)
		within(t, "after a better one", w.off(), -ms, ms)
		w.c.measured(w.read(400*ms, 0)) // says less than is known
		within(t, "after a bad one", w.off(), -ms, ms)
		within(t, "the offset", w.c.offset(), ahead-ms, ahead+ms)
	}
}

// TestClockFollows: a clock that was set forward is followed at once, as is one that was
// set back by much; if it is behind by a little, time goes on more slowly for a while.
func TestClockFollows(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	w := newWorld(time.Minute)
	w.c.measured(w.read(ms, ms))

	w.ahead += 10 * time.Minute
	if w.c.agrees(w.read(100*ms, ms)) {
		t.Error("nobody has noticed that the clock was set forward")
	}
	if back := w.c.measured(w.read(ms, ms)); back != 0 {
		t.Errorf("set back by %v", back)
	}
	within(t, "set forward", w.off(), -ms, ms)

	w.ahead -= 400 * ms
	if w.c.agrees(w.read(ms, 100*ms)) {
		t.Error("nobody has noticed that the clock is ahead")
	}
	before := w.c.Now()
	w.c.measured(w.read(ms, ms))
	if w.c.Now().Before(before) {
		t.Error("time has gone backwards")
	}
	within(t, "ahead", w.off(), 390*ms, 410*ms)
	w.pass(400 * ms)
	within(t, "less ahead", w.off(), 190*ms, 210*ms)
	w.c.measured(w.read(ms, ms)) // does not begin anew
	w.pass(410 * ms)
	within(t, "agrees", w.off(), -2*ms, 2*ms)
	w.pass(time.Second)
	within(t, "runs on", w.off(), -2*ms, 2*ms)

	w.ahead -= 5 * time.Minute
	if back := w.c.measured(w.read(ms, ms)); back < 5*time.Minute-10*ms {
		t.Errorf("set back by %v, want 5 minutes", back)
	}
	within(t, "set back", w.off(), -ms, ms)
	if !w.c.agrees(w.read(ms, ms)) {
		t.Error("does not agree")
	}
}

// TestClockGoesOnlyForward: whatever the errors of the measurements are, time does not go
// backwards, and the clock is never further from the truth than the worst of them.
func TestClockGoesOnlyForward(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "ahead")))
		delay := rapid.Int64Range(0, int64(300*time.Millisecond))
		var last time.Time
		for range rapid.IntRange(1, 20).Draw(t, "rounds") {
			w.c.measured(w.read(time.Duration(delay.Draw(t, "there")), time.Duration(delay.Draw(t, "back"))))
			for range 3 {
				now := w.c.Now()
				if now.Before(last) {
					t.Fatalf("%v is followed by %v", last, now)
				}
				last = now
				if off := w.off(); off.Abs() > 151*time.Millisecond {
					t.Fatalf("off by %v", off)
				}
				w.pass(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "pass")))
			}
		}
	})
}
