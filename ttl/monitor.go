package ttl

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
)

// Options configures a Monitor.
type Options struct {
	Clock clock.Clock    // the server's clock, for expiry and for the times of passes
	Real  clock.Clock    // measures durations; System if nil
	Log   zerolog.Logger // one line for each pass that removed anything
	Batch int            // records per transaction; 0: as many as a pacer chooses
	Lease func() bool    // reports whether this server runs the passes that are due; nil: always
}

// Monitor removes expired records. It is safe for concurrent use.
type Monitor struct {
	clock   clock.Clock
	real    clock.Clock
	host    Host
	log     zerolog.Logger
	batch   int
	lease   func() bool
	duty    duty
	metrics Metrics
	wake    chan struct{} // a condition of the sleep has changed

	passing sync.Mutex // held during a pass

	mu      sync.Mutex
	calm    *sync.Cond    // signals that holding is 0 again
	holding int           // jumps under way that must not start a pass
	asked   int           // jumps under way that wait for the pass
	slept   time.Time     // when the sleep began
	skipped time.Duration // time skipped by jumps, which the sleep does not count
	seen    time.Time     // the clock before the last jump
	ran     bool          // a pass ran since the last jump began
	last    Result
	passed  time.Time // when the last pass ended, by the real clock
	recent  []Result  // of the last passes, newest first
}

// recentPasses is the number of results to keep.
const recentPasses = 10

// NewMonitor returns a Monitor whose first sleep begins now. Start starts its
// work.
func NewMonitor(h Host, o Options) *Monitor {
	if o.Real == nil {
		o.Real = clock.System()
	}
	alone := o.Lease == nil
	if alone {
		o.Lease = func() bool { return true }
	}
	now := o.Clock.Now()
	m := &Monitor{
		clock: o.Clock, real: o.Real, host: h, log: o.Log, batch: o.Batch, lease: o.Lease,
		wake: make(chan struct{}, 1), slept: now, seen: now, passed: o.Real.Now(),
	}
	m.calm = sync.NewCond(&m.mu)
	return m
}

// Metrics returns the counters.
func (m *Monitor) Metrics() *Metrics { return &m.metrics }

// LastPass returns the result of the pass that ended last.
func (m *Monitor) LastPass() Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// RecentPasses returns the results of the last passes, newest first.
func (m *Monitor) RecentPasses() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.recent)
}

// SincePass returns the real time since the last pass ended, or since the start if none
// has run.
func (m *Monitor) SincePass() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.real.Now().Sub(m.passed)
}

// Start runs the monitor's sleeps and passes until ctx is done; wait returns
// when a running pass has stopped. On a manual clock, each move from now on
// runs the pass that has become due before it returns.
func (m *Monitor) Start(ctx context.Context) (wait func()) {
	unhook := func() {}
	if manual, ok := m.clock.(*clock.Manual); ok {
		unhook = manual.OnJump(func(now time.Time) { m.jumped(ctx, now) })
	}
	timer := m.clock.NewTimer(m.rest())
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
		timer.Reset(m.rest())
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
	if (m.left() <= 0 || m.takesOver()) && ctx.Err() == nil {
		m.tryPass(ctx, false)
	}
}

// tryPass runs a pass if this server has the lease, or anyway. After a jump, the sleep, whose
// timer has fired, and the jump both call it; the first call runs the pass.
// The caller holds passing.
func (m *Monitor) tryPass(ctx context.Context, anyway bool) {
	if !m.host.Parameters().Enabled || m.host.Locked() || !m.onDuty() && !anyway {
		m.sleep()
		return
	}
	if _, err := m.pass(ctx, All); err != nil && ctx.Err() == nil {
		m.log.Error().Err(err).Msg("Expiration pass failed")
	}
	m.mu.Lock()
	m.ran = true
	m.mu.Unlock()
}

// left returns the rest of the running sleep. It first waits for the end of
// jumps that must not start a pass, because they change it.
func (m *Monitor) left() time.Duration {
	sleep := time.Duration(m.host.Parameters().SleepSecs) * time.Second
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.holding > 0 {
		m.calm.Wait()
	}
	return sleep - (m.elapsed() - m.skipped)
}

// NextPass returns the instant at which the next pass begins at the latest, if it is not
// started before: the end of the running sleep.
func (m *Monitor) NextPass() int64 {
	sleep := time.Duration(m.host.Parameters().SleepSecs) * time.Second
	m.mu.Lock()
	defer m.mu.Unlock()
	left := max(sleep-(m.elapsed()-m.skipped), 0)
	return m.clock.Now().Add(left).UnixMilli()
}

// elapsed returns the clock's time since the sleep began. The caller holds mu.
func (m *Monitor) elapsed() time.Duration {
	now := m.clock.Now()
	if now.Before(m.slept) { // the clock was reset
		m.slept, m.skipped = now, 0
	}
	return now.Sub(m.slept)
}

// sleep begins a new sleep.
func (m *Monitor) sleep() {
	now := m.clock.Now()
	m.mu.Lock()
	m.slept, m.skipped = now, 0
	m.mu.Unlock()
	m.ParametersChanged()
}

// ended stores the result of a pass and begins the next sleep.
func (m *Monitor) ended(r Result) {
	m.mu.Lock()
	m.last, m.passed = r, m.real.Now()
	m.recent = slices.Insert(m.recent, 0, r)
	m.recent = m.recent[:min(len(m.recent), recentPasses)]
	m.mu.Unlock()
	m.sleep()
}

// report logs a pass that removed something.
func (m *Monitor) report(r *Result) {
	if !r.removedAny() {
		return
	}
	e := m.log.Info().Int64("subPasses", r.SubPasses).Dur("took", r.Took)
	for p := range policies {
		one := r.ByPolicy[p]
		if !one.any() {
			continue
		}
		if p == Message {
			e.Int64("messagesDropped", one.MessagesDropped).Int64("messagesDeadLettered", one.MessagesDeadLettered).Int64("queuesDropped", one.QueuesDropped)
			continue
		}
		e.Int64(p.String(), one.Documents)
	}
	e.Msg("Expiration pass")
}
