package limits

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// RateLimiter admits at a rate: a bucket of tokens, of which each admission
// takes one, fills with rate tokens a second up to burst. An admission that
// finds no token waits for its own in a queue of depth places, or is rejected.
type RateLimiter struct {
	mu          sync.Mutex
	rate, burst float64
	tokens      float64 // negative: so many are owed to those that wait
	at          time.Time
	depth       int64
	queued      int64
	stats       rateStats
}

// rateStats are the counters of a rateLimiter. All grow, except for the
// average.
type rateStats struct {
	Attempted, Admitted, Rejected, Exempted int64
	Added, Removed, Interrupted, HungUp     int64 // of the queue
	Waited                                  float64
}

// NewRateLimiter makes a full bucket.
func NewRateLimiter(rate, burst float64, now time.Time) *RateLimiter {
	return &RateLimiter{rate: rate, burst: burst, tokens: burst, at: now}
}

// SetRate changes how fast the bucket fills and what it holds. What is in it
// stays, as far as it has room.
func (l *RateLimiter) SetRate(rate, burst float64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(now)
	l.rate, l.burst = rate, burst
	l.tokens = min(max(l.tokens, 0), burst)
}

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

// Take takes a token, and returns how long to wait until it is there: a wait
// of more than 0 has a place in the queue, which leave gives up. It reports
// whether there was a place.
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

// averageWeight is what the latest wait counts in the average of all.
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

// Leave gives up a place in the queue: with the token that was waited for, or
// because of err, which returns the token.
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

func (l *RateLimiter) Exempt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Exempted++
}

// errRateExceeded refuses what finds the queue full.
var errRateExceeded = errors.New("the queue of the rate limiter is full")

// Wait takes a token, and waits until it is there or ctx ends.
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

// Snapshot reads the counters, the places taken and the tokens that are there.
func (l *RateLimiter) Snapshot(now time.Time) (s rateStats, queued int64, tokens float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(now)
	return l.stats, l.queued, min(max(l.tokens, 0), math.MaxInt64)
}

// WriteQueue writes the counters as serverStatus shows them of a queue.
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
