package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// dbClock shows the time of the database, so that all servers agree whatever the clocks
// of their machines show. Of its own machine it uses only how much time has passed since
// the last measurement.
//
// A measurement says that the database's time is within half a round trip of a value.
// The clock takes those that say more than it knows, and those that contradict it. If it
// is behind, it goes forward at once. If it is ahead by less than maxSlow, it
// runs at half of its speed until they agree, so that time never goes backwards because
// of the error of a measurement, or after a change to a standby whose clock is a little behind. If it is ahead by
// more, the database's clock was set back, and the clock follows it, as a server without a
// database follows that of its machine: until the time is reached again, documents that
// have expired and were not removed are there again, and locks last longer.
type dbClock struct {
	machine clock.Clock
	begun   time.Time // an instant of machine, from which its monotonic clock counts

	setting sync.Mutex // held while pace changes
	pace    atomic.Pointer[pace]
}

// pace is what the clock shows from one measurement to the next.
type pace struct {
	at    time.Duration // when it was made, since begun
	shown int64         // the database's time then, in nanoseconds since 1970
	slow  time.Duration // for so long the clock runs at half of its speed
	error time.Duration // maximum error of shown
}

const (
	// maxSlow is what the clock makes good by running slowly.
	maxSlow = time.Second
	// drift is the error that a second adds: clocks of machines differ in speed.
	drift = 100 * time.Microsecond
	// measureEvery is how often the database's time is measured by a round trip of its own.
	measureEvery = 5 * beat
	// firstMeasurements are made before anybody reads the clock.
	firstMeasurements = 5
)

func newClock(machine clock.Clock) *dbClock {
	if machine == nil {
		machine = clock.System()
	}
	return &dbClock{machine: machine, begun: machine.Now()}
}

var _ clock.Clock = (*dbClock)(nil)

// passed is the machine's time since the engine was opened.
func (c *dbClock) passed() time.Duration { return c.machine.Now().Sub(c.begun) }

// nanos returns the database's time, in nanoseconds since 1970.
func (c *dbClock) nanos() int64 {
	now := c.passed() // first: a pace that follows is not behind the one before
	return c.pace.Load().shows(now)
}

func (p *pace) shows(now time.Duration) int64 {
	d := now - p.at
	return p.shown + int64(d-max(min(d, p.slow), 0)/2)
}

// Now returns the database's time.
func (c *dbClock) Now() time.Time { return time.Unix(0, c.nanos()) }

// NowMillis returns Now in milliseconds since 1970.
func (c *dbClock) NowMillis() int64 { return c.nanos() / 1e6 }

// After returns a channel that receives the time once d has passed.
func (c *dbClock) After(d time.Duration) <-chan time.Time { return c.machine.After(d) }

// NewTimer returns a timer that fires once d has passed.
func (c *dbClock) NewTimer(d time.Duration) clock.Timer { return c.machine.NewTimer(d) }

// offset is how far the clock is ahead of the machine's.
func (c *dbClock) offset() time.Duration { return c.Now().Sub(c.machine.Now().Round(0)) }

// reading is an instant of the database that was read by a round trip.
type reading struct {
	micros         int64         // time of the database, since 1970
	sent, received time.Duration // times of the machine
}

// agrees reports whether the clock may be right. A reading that came with other
// statements says only this.
func (c *dbClock) agrees(r reading) bool {
	p := c.pace.Load()
	read, slack := r.micros*1000, int64(p.error+drift)
	return p.shows(r.sent) <= read+slack && read-slack <= p.shows(r.received)
}

// measured takes a reading that was all that its round trip did. It returns by how much
// the clock was set back.
func (c *dbClock) measured(r reading) (back time.Duration) {
	c.setting.Lock()
	defer c.setting.Unlock()
	half := (r.received - r.sent) / 2
	next := &pace{at: r.received, shown: r.micros*1000 + int64(half), error: half}
	if p := c.pace.Load(); p != nil {
		now := p.shows(r.received)
		known := p.error + time.Duration(float64(drift)*(r.received-p.at).Seconds())
		ahead := time.Duration(now - next.shown)
		switch {
		case ahead.Abs() <= half+known && half >= known:
			return 0 // nothing new
		case ahead > maxSlow:
			back = ahead
		case ahead > 0:
			next.shown, next.slow = now, 2*ahead
		}
	}
	c.pace.Store(next)
	return back
}

// measure makes one measurement.
func (c *dbClock) measure(ctx context.Context, l *conn) (back time.Duration, err error) {
	r := reading{sent: c.passed()}
	l.queue(databaseTime)
	if err := l.run(ctx, func(_ int, v [][]byte) error { r.micros = int64Of(v[0]); return nil }); err != nil {
		return 0, err
	}
	r.received = c.passed()
	return c.measured(r), nil
}

// startClock measures the database's time for the first time.
func (s *store) startClock(ctx context.Context) error {
	l, err := s.pool.get(ctx)
	if err != nil {
		return err
	}
	defer s.pool.put(l)
	for range firstMeasurements {
		if _, err := s.time.measure(ctx, l.conn); err != nil {
			return err
		}
	}
	return nil
}

// Clock returns the database's clock, which all servers over the database follow.
func (e *Engine) Clock() clock.Clock { return e.store.time }
