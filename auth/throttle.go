package auth

import (
	"context"
	"crypto/sha256"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
)

// Guessing of passwords is slowed down per address and user: after
// freeFailures failures the reply to each further one is delayed, twice as
// long every time. The reply to the right password is never delayed, so that
// guessing cannot lock out a user.
const (
	freeFailures = 5
	firstPenalty = 100 * time.Millisecond
	mostPenalty  = 5 * time.Second // as mongod's authFailedDelayMs at most
	forgetAfter  = 10 * time.Minute
	mostGuessed  = 10_000
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

type failures struct {
	count int
	last  time.Time // when it last failed
}

// NewThrottle returns a Throttle that waits by a clock, which should be the
// real one: clients must not shorten waits by moving a test clock.
func NewThrottle(c clock.Clock) *Throttle {
	return &Throttle{clock: c, by: map[guess]*failures{}}
}

func guessOf(remote string, n Name) guess {
	return guess{addressOf(remote), sha256.Sum256([]byte(n.DB + "\x00" + n.Name))}
}

// failed counts a failure and delays the reply to it.
func (t *Throttle) failed(ctx context.Context, remote string, n Name) error {
	d := t.count(guessOf(remote, n))
	if t.least != nil {
		d = max(d, t.least())
	}
	if d <= 0 {
		return ErrFailed
	}
	timer := t.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return ErrFailed
	case <-ctx.Done():
		return mongoerr.From(context.Cause(ctx))
	}
}

// count counts a failure and returns the delay of its reply.
func (t *Throttle) count(g guess) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	f := t.by[g]
	if f == nil || now.Sub(f.last) > forgetAfter {
		t.makeRoom(now)
		f = &failures{}
		t.by[g] = f
	}
	f.count++
	f.last = now
	n := f.count - freeFailures - 1
	switch {
	case n < 0:
		return 0
	case n < 6:
		return min(firstPenalty<<n, mostPenalty)
	}
	return mostPenalty
}

// succeeded clears the failures for a user from an address.
func (t *Throttle) succeeded(remote string, n Name) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, guessOf(remote, n))
}

// makeRoom removes old failures, and others if there are still too many.
func (t *Throttle) makeRoom(now time.Time) {
	if len(t.by) < mostGuessed {
		return
	}
	for g, f := range t.by {
		if now.Sub(f.last) > forgetAfter || len(t.by) >= mostGuessed {
			delete(t.by, g)
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
