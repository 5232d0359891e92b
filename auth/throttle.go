package auth

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
)

// Guessing is slowed down per address: after freeFailures failures each
// further guess waits, twice as long every time, and guesses from many
// connections wait in line.
const (
	freeFailures  = 5
	firstPenalty  = 100 * time.Millisecond
	mostPenalty   = 5 * time.Second
	longestQueue  = 20 * time.Second // who would wait longer is refused at once
	forgetAfter   = 10 * time.Minute
	mostAddresses = 10_000
)

// Throttle counts failed logins by address.
type Throttle struct {
	clock clock.Clock
	mu    sync.Mutex
	from  map[string]*failures
}

type failures struct {
	count int
	last  time.Time // when it last failed
	free  time.Time // when the next guess may be answered
}

// NewThrottle makes a Throttle that waits by a clock, which should be the
// real one: a test clock moved by clients must not shorten waits.
func NewThrottle(c clock.Clock) *Throttle {
	return &Throttle{clock: c, from: map[string]*failures{}}
}

// wait returns when a guess from the address may be answered.
func (t *Throttle) wait(ctx context.Context, remote string) error {
	d := t.reserve(remote)
	switch {
	case d <= 0:
		return nil
	case d > longestQueue:
		return ErrFailed
	}
	timer := t.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return mongoerr.From(context.Cause(ctx))
	}
}

// reserve takes the next place in the line of an address.
func (t *Throttle) reserve(remote string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.from[addressOf(remote)]
	now := t.clock.Now()
	if f == nil || f.count <= freeFailures {
		return 0
	}
	at := now
	if f.free.After(now) {
		at = f.free
	}
	penalty := mostPenalty
	if n := f.count - freeFailures - 1; n < 6 {
		penalty = min(firstPenalty<<n, mostPenalty)
	}
	wait := at.Add(penalty).Sub(now)
	if wait <= longestQueue {
		f.free = at.Add(penalty)
	}
	return wait
}

// failed counts a failure.
func (t *Throttle) failed(remote string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	key := addressOf(remote)
	f := t.from[key]
	if f == nil || now.Sub(f.last) > forgetAfter {
		t.makeRoom(now)
		f = &failures{}
		t.from[key] = f
	}
	f.count++
	f.last = now
}

// succeeded forgives half of the failures: all would let somebody with one
// good password try others without end.
func (t *Throttle) succeeded(remote string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := addressOf(remote)
	if f := t.from[key]; f != nil {
		if f.count /= 2; f.count == 0 {
			delete(t.from, key)
		}
	}
}

// makeRoom forgets old failures, and whatever comes first if there are too
// many addresses.
func (t *Throttle) makeRoom(now time.Time) {
	if len(t.from) < mostAddresses {
		return
	}
	for key, f := range t.from {
		if now.Sub(f.last) > forgetAfter || len(t.from) >= mostAddresses {
			delete(t.from, key)
		}
	}
}

// addressOf is what is counted together: an IPv4 address, or an IPv6 network
// of 64 bits, which one customer usually has to himself.
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

// IsLocal tells whether a connection comes from this machine: over a loopback
// address or a Unix socket.
func IsLocal(remote string) bool {
	addr, ok := hostAddr(remote)
	if !ok {
		return remote == "" || remote[0] == '@' || remote[0] == '/'
	}
	return addr.IsLoopback()
}
