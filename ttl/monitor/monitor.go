package monitor

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/ttl"
)

// Options configures a Monitor.
type Options struct {
	Clock clock.Clock    // the server's clock, for expiry and for the times of passes
	Real  clock.Clock    // measures durations; System if nil
	Log   zerolog.Logger // one line for each pass that removed anything
	Batch int            // records per transaction; 0: as many as a pacer chooses
	Lease func() bool    // reports whether this server runs the passes that are due; nil: always

	Remote bool // commits make round trips to a database
}

// Monitor removes expired records. It is safe for concurrent use.
//
// It sleeps for ttlMonitorSleepSecs, runs a pass and sleeps again. A jump of a manual clock
// runs the pass that it makes due, or is left out of the sleep.
type Monitor struct {
	clock    clock.Clock
	real     clock.Clock
	host     Host
	log      zerolog.Logger
	batch    int // records of a transaction; 0: a pacer chooses
	pace     pace
	metrics  ttl.Metrics
	schedule Schedule
	wake     chan struct{} // not empty if a condition of the sleep has changed

	passing  sync.Mutex               // held during a pass
	visiting atomic.Pointer[Visiting] // nil: no target is visited
	lease    lease

	mu      sync.Mutex // guards the fields below
	sleep   sleep
	jumps   jumps
	history history
}

// history has the results of the passes.
type history struct {
	last   Result
	ended  time.Time // when the last pass ended, by the real clock; at first the start
	recent []Result  // results of the last passes, newest first
}

// recentPasses is the number of results to keep.
const recentPasses = 10

// New returns a Monitor whose first sleep begins now. Start starts its
// work.
func New(h Host, o Options) *Monitor {
	if o.Real == nil {
		o.Real = clock.System()
	}
	if o.Lease == nil {
		o.Lease = func() bool { return true }
	}
	m := &Monitor{
		clock: o.Clock, real: o.Real, host: h, log: o.Log, batch: o.Batch, lease: lease{ask: o.Lease},
		wake: make(chan struct{}, 1), sleep: sleep{clock: o.Clock}, history: history{ended: o.Real.Now()},
	}
	if m.pace = localPace; o.Remote {
		m.pace = remotePace
	}
	m.sleep.begin()
	m.jumps.over = sync.NewCond(&m.mu)
	return m
}

// Visiting is the visit that a running pass is at.
type Visiting struct {
	Target Target
	Since  time.Time // by the real clock
}

// Visiting returns the present visit; nil if no pass visits a target.
func (m *Monitor) Visiting() *Visiting { return m.visiting.Load() }

// Metrics returns the counters.
func (m *Monitor) Metrics() *ttl.Metrics { return &m.metrics }

// LastPass returns the result of the pass that ended last.
func (m *Monitor) LastPass() Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.history.last
}

// RecentPasses returns the results of the last passes, newest first.
func (m *Monitor) RecentPasses() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history.recent)
}

// SincePass returns the real time since the last pass ended, or since the start if none
// has run.
func (m *Monitor) SincePass() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.real.Now().Sub(m.history.ended)
}

// Start runs the monitor's sleeps and passes until ctx is done; wait returns
// when a running pass has stopped. On a manual clock, each move from now on
// runs the pass that has become due before it returns.
func (m *Monitor) Start(ctx context.Context) (wait func()) {
	unhook := func() {}
	if manual, ok := m.clock.(*clock.Manual); ok {
		unhook = manual.OnJump(func(now time.Time) { m.jumped(ctx, now) })
	}
	timer := m.clock.NewTimer(m.untilLook())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unhook()
		defer timer.Stop()
		m.run(ctx, timer)
	}()
	return func() {
		<-done
		m.passing.Lock() // a jump may be running a pass
		defer m.passing.Unlock()
	}
}

// Run starts the monitor and waits for its end.
func (m *Monitor) Run(ctx context.Context) { m.Start(ctx)() }

func (m *Monitor) run(ctx context.Context, timer clock.Timer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		case <-m.wake:
		}
		m.passIfDue(ctx)
		timer.Reset(m.untilLook())
	}
}

// ParametersChanged applies a change of ttlMonitorSleepSecs to the running
// sleep.
func (m *Monitor) ParametersChanged() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// passIfDue runs a pass if the sleep is over, or if the server that ran them has ended, and
// begins the next sleep.
func (m *Monitor) passIfDue(ctx context.Context) {
	m.passing.Lock()
	defer m.passing.Unlock()
	if (m.left() <= 0 || m.lease.takenOver()) && ctx.Err() == nil {
		m.tryPass(ctx, false)
	}
}

// tryPass runs a pass if this server has the lease, or anyway. After a jump, the sleep, whose
// timer has fired, and the jump both call it; the first call runs the pass.
// The caller holds passing.
func (m *Monitor) tryPass(ctx context.Context, anyway bool) {
	if !m.host.Parameters().Enabled || m.host.Locked() || !m.lease.take() && !anyway {
		m.beginSleep()
		return
	}
	if _, err := m.pass(ctx, ttl.All); err != nil && ctx.Err() == nil {
		m.log.Error().Err(err).Msg("Expiration pass failed")
	}
	m.mu.Lock()
	m.jumps.passed = true
	m.mu.Unlock()
}

// untilLook is how long to wait before looking whether a pass is due.
func (m *Monitor) untilLook() time.Duration {
	left := m.left()
	if m.lease.held.Load() {
		return left
	}
	return min(left, leaseEvery)
}

// left returns the rest of the running sleep. It first waits for the end of
// jumps that must not start a pass, because they change it.
func (m *Monitor) left() time.Duration {
	length := m.sleepLength()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.jumps.silent > 0 {
		m.jumps.over.Wait()
	}
	return m.sleep.left(length)
}

// NextPass returns the instant at which the next pass begins at the latest, if it is not
// started before: the end of the running sleep.
func (m *Monitor) NextPass() int64 {
	length := m.sleepLength()
	m.mu.Lock()
	defer m.mu.Unlock()
	left := max(m.sleep.left(length), 0)
	return m.clock.Now().Add(left).UnixMilli()
}

func (m *Monitor) sleepLength() time.Duration {
	return time.Duration(m.host.Parameters().SleepSecs) * time.Second
}

// beginSleep begins a new sleep.
func (m *Monitor) beginSleep() {
	m.mu.Lock()
	m.sleep.begin()
	m.mu.Unlock()
	m.ParametersChanged()
}

// ended stores the result of a pass and begins the next sleep.
func (m *Monitor) ended(r Result) {
	m.mu.Lock()
	h := &m.history
	h.last, h.ended = r, m.real.Now()
	h.recent = slices.Insert(h.recent, 0, r)
	h.recent = h.recent[:min(len(h.recent), recentPasses)]
	m.mu.Unlock()
	m.beginSleep()
}

// report logs a pass that removed something.
func (m *Monitor) report(r *Result) {
	if !r.removedAny() {
		return
	}
	e := m.log.Info().Int64("subPasses", r.SubPasses).Int64("durationMillis", r.Took.Milliseconds())
	for p := range ttl.NumPolicies {
		one := r.ByPolicy[p]
		if !one.Any() {
			continue
		}
		if p == ttl.Message {
			e.Int64("messagesDropped", one.MessagesDropped).Int64("messagesDeadLettered", one.MessagesDeadLettered).Int64("queuesDropped", one.QueuesDropped)
			continue
		}
		e.Int64(p.String(), one.Documents)
	}
	e.Msg("Expiration pass")
}
