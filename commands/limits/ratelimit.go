package limits

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// RateLimiter is a token bucket: it fills with rate tokens a second up to burst, and
// each admission takes one. An admission that finds the bucket empty waits in a queue
// of limited depth for the next token, or is rejected when the queue is full.
type RateLimiter struct {
	mu          sync.Mutex
	rate, burst float64
	tokens      float64 // negative: owed to waiting admissions
	at          time.Time
	depth       int64
	queued      int64
	stats       RateStats
}

// RateStats are the counters of a [RateLimiter]. All but Waited only grow.
type RateStats struct {
	Attempted, Admitted, Rejected, Exempted int64   // admissions
	Added, Removed, Interrupted, HungUp     int64   // places of the queue: taken, given up, given up without a token, by a client that disconnected
	Waited                                  float64 // moving average of the time in the queue, microseconds
}

// NewRateLimiter returns a limiter with a full bucket and no queue.
func NewRateLimiter(rate, burst float64, now time.Time) *RateLimiter {
	return &RateLimiter{rate: rate, burst: burst, tokens: burst, at: now}
}

// SetRate changes how fast the bucket fills, in tokens a second, and how many it
// holds. Tokens that still have room stay.
func (l *RateLimiter) SetRate(rate, burst float64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(now)
	l.rate, l.burst = rate, burst
	l.tokens = min(max(l.tokens, 0), burst)
}

// SetDepth changes how many admissions may wait.
func (l *RateLimiter) SetDepth(depth int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.depth = depth
}

// fill adds the tokens of the time that has passed. The caller holds the lock.
func (l *RateLimiter) fill(now time.Time) {
	if passed := now.Sub(l.at).Seconds(); passed > 0 {
		l.tokens, l.at = min(l.tokens+passed*l.rate, l.burst), now
	}
}

// Take takes a token and returns how long to wait until it is there. A wait above 0
// occupies a place in the queue, which leave gives up. ok is false when the queue was
// full.
func (l *RateLimiter) Take(now time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Attempted++
	l.fill(now)
	owed := (1 - l.tokens) / l.rate * float64(time.Second)
	wait = time.Duration(min(max(owed, 0), math.MaxInt64/2)).Truncate(time.Millisecond)
	switch {
	case wait == 0:
		l.admit(0)
	case l.queued >= l.depth:
		l.stats.Rejected++
		return 0, false
	default:
		l.queued++
		l.stats.Added++
	}
	l.tokens--
	return wait, true
}

// averageWeight is the weight of the latest wait in the moving average.
const averageWeight = 0.2

// admit counts an admission. The caller holds the lock.
func (l *RateLimiter) admit(waited time.Duration) {
	micros := float64(waited.Microseconds())
	if l.stats.Admitted == 0 {
		l.stats.Waited = micros
	}
	l.stats.Admitted++
	l.stats.Waited += averageWeight * (micros - l.stats.Waited)
}

// Leave gives up a place in the queue: with its token after having waited, or, when
// err is not nil, without it.
func (l *RateLimiter) Leave(waited time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queued--
	l.stats.Removed++
	if err == nil {
		l.admit(waited)
		return
	}
	l.stats.Interrupted++
	if mongoerr.Is(err, mongoerr.ClientDisconnect) {
		l.stats.HungUp++
	}
	l.tokens = min(l.tokens+1, l.burst)
}

// Exempt counts an admission that the limit does not apply to.
func (l *RateLimiter) Exempt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Exempted++
}

// errRateExceeded is the error of an admission that finds the queue full.
var errRateExceeded = errors.New("the queue of the rate limiter is full")

// Wait takes a token and waits until it is there. It fails when the queue is full, or
// with the cause of ctx when that ends.
func (l *RateLimiter) Wait(ctx context.Context, clk clock.Clock) error {
	d, ok := l.Take(clk.Now())
	if !ok {
		return errRateExceeded
	}
	if d == 0 {
		return nil
	}
	timer := clk.NewTimer(d)
	defer timer.Stop()
	var err error
	select {
	case <-timer.C():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.Leave(d, err)
	return err
}

// Snapshot returns the counters, the number of places taken and of tokens available.
func (l *RateLimiter) Snapshot(now time.Time) (s RateStats, queued int64, tokens float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(now)
	return l.stats, l.queued, min(max(l.tokens, 0), math.MaxInt64)
}

// WriteQueue appends the counters as serverStatus shows those of a queue.
func (l *RateLimiter) WriteQueue(b *value.Builder, now time.Time) {
	s, _, tokens := l.Snapshot(now)
	b.Int64("addedToQueue", s.Added).Int64("removedFromQueue", s.Removed).Int64("interruptedInQueue", s.Interrupted).
		Int64("rejectedAdmissions", s.Rejected).Int64("exemptedAdmissions", s.Exempted).
		Int64("successfulAdmissions", s.Admitted).Int64("attemptedAdmissions", s.Attempted)
	if s.Admitted > 0 {
		b.Double("averageTimeQueuedMicros", s.Waited)
	}
	b.Double("totalAvailableTokens", tokens)
}
