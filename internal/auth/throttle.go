package auth

import (
	"context"
	"crypto/sha256"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Guessing of passwords is slowed down per address and user: after
// freeFailures failures the reply to each further one is delayed, twice as
// long every time. The reply to the right password is not delayed, so that
// guessing cannot lock out a user.
//
// A delay goes on when its client hangs up. While maxDelayed delays of an address and
// user go on, no further password of them is looked at: it waits until one of them ends.
// So nobody guesses faster than maxDelayed times in maxPenalty, however many connections
// he opens and closes, and only those who share his address, and log in as the same user,
// may have to wait for him.
const (
	freeFailures = 5
	firstPenalty = 100 * time.Millisecond
	maxPenalty   = 5 * time.Second // as mongod's authFailedDelayMs at most
	maxDelayed   = 16
	forgetAfter  = 10 * time.Minute
	maxGuessed   = 10_000
)

// Throttle counts failed logins by address and user.
type Throttle struct {
	clock clock.Clock
	// least is the least delay of the reply to any failure; nil: no delay.
	least func() time.Duration
	mu    sync.Mutex
	by    map[guess]*failures
}

// guess is the key by which failures are counted: an address and a user, as a
// digest because names can be long.
type guess struct {
	from string
	user [sha256.Size]byte
}

// failures are those of a user from an address.
type failures struct {
	count    int
	last     time.Time   // time of the latest failure
	delayed  []time.Time // ends of the delays that go on
	checking int         // number of passwords that are being looked at
}

// places removes the delays that have ended, and returns how many passwords may be looked
// at now.
func (f *failures) places(now time.Time) int {
	f.delayed = slices.DeleteFunc(f.delayed, func(end time.Time) bool { return !end.After(now) })
	return maxDelayed - len(f.delayed) - f.checking
}

// leave gives a place back; it may be nil.
func (f *failures) leave() {
	if f != nil {
		f.checking--
	}
}

// NewThrottle returns a Throttle that waits by a clock, which should be the
// real one: clients must not shorten waits by moving a test clock.
func NewThrottle(c clock.Clock) *Throttle {
	return &Throttle{clock: c, by: map[guess]*failures{}}
}

func guessOf(remote string, n Name) guess {
	return guess{addressOf(remote), sha256.Sum256([]byte(n.DB + "\x00" + n.Name))}
}

// checkTime is how long the look at a password may take when nothing else is known.
const checkTime = 5 * time.Millisecond

// admit waits until a password of a user from an address may be looked at. The caller
// passes the result, whose place it takes, to failed or succeeded.
func (t *Throttle) admit(ctx context.Context, remote string, n Name) (place *failures, err error) {
	g := guessOf(remote, n)
	for {
		place, wait := t.reserve(g)
		if wait <= 0 {
			return place, nil
		}
		if err := t.wait(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// reserve takes a place among those that are looked at, or returns how long there will be
// none. Places count from the first password on: many that come at once are not looked at
// before one of them has failed.
func (t *Throttle) reserve(g guess) (place *failures, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	f := t.by[g]
	if f == nil {
		f = t.add(g, now)
	}
	if f.places(now) > 0 {
		f.checking++
		return f, 0
	}
	wait = maxPenalty
	if f.checking > 0 {
		wait = checkTime
	}
	for _, end := range f.delayed {
		wait = min(wait, end.Sub(now))
	}
	return nil, wait
}

// succeeded clears the failures for a user from an address, unless someone is guessing:
// then others' logins must not earn him guesses without delay.
func (t *Throttle) succeeded(remote string, n Name, place *failures) {
	t.mu.Lock()
	defer t.mu.Unlock()
	place.leave()
	g := guessOf(remote, n)
	if f := t.by[g]; f != nil && f.places(t.clock.Now()) == maxDelayed {
		delete(t.by, g)
	}
}

// failed counts a failure and delays the reply to it, for nobody if the client hangs up.
func (t *Throttle) failed(ctx context.Context, remote string, n Name, place *failures) error {
	if d := t.count(guessOf(remote, n), place); d > 0 {
		_ = t.wait(ctx, d)
	}
	return ErrFailed
}

func (t *Throttle) wait(ctx context.Context, d time.Duration) error {
	timer := t.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return mongoerr.From(context.Cause(ctx))
	}
}

// count counts a failure and returns the delay of its reply, which begins.
func (t *Throttle) count(g guess, place *failures) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	place.leave()
	now := t.clock.Now()
	f := t.by[g]
	if f == nil || now.Sub(f.last) > forgetAfter {
		f = t.add(g, now)
	}
	f.count++
	f.last = now
	d := penalty(f.count)
	if t.least != nil {
		d = max(d, t.least())
	}
	if d > 0 && f.places(now) > 0 {
		f.delayed = append(f.delayed, now.Add(d))
	}
	return d
}

func (t *Throttle) add(g guess, now time.Time) *failures {
	t.makeRoom(now)
	f := &failures{last: now}
	t.by[g] = f
	return f
}

// penalty is the delay of the reply to the nth failure.
func penalty(n int) time.Duration {
	n -= freeFailures + 1
	switch {
	case n < 0:
		return 0
	case n < 6:
		return min(firstPenalty<<n, maxPenalty)
	}
	return maxPenalty
}

// makeRoom removes old failures if there are too many, then those that have no delay yet,
// then any: someone who tries many names must not have his failures for one forgotten.
func (t *Throttle) makeRoom(now time.Time) {
	for _, old := range []func(*failures) bool{
		func(f *failures) bool { return now.Sub(f.last) > forgetAfter },
		func(f *failures) bool { return f.count <= freeFailures },
		func(*failures) bool { return true },
	} {
		for g, f := range t.by {
			if len(t.by) < maxGuessed {
				return
			}
			if old(f) {
				delete(t.by, g)
			}
		}
	}
}

// addressOf returns the address by which failures are counted: an IPv4
// address, or an IPv6 network of 64 bits, which usually belongs to one
// customer.
func addressOf(remote string) string {
	addr, ok := hostAddr(remote)
	if !ok {
		return remote
	}
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}

// hostAddr reads the address out of "host:port".
func hostAddr(hostPort string) (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(host)
	return addr.Unmap().WithZone(""), err == nil
}

// IsLocal reports whether a connection comes from this machine: over a loopback
// address or a Unix socket.
func IsLocal(remote string) bool {
	addr, ok := hostAddr(remote)
	if !ok {
		return remote == "" || remote[0] == '@' || remote[0] == '/'
	}
	return addr.IsLoopback()
}
