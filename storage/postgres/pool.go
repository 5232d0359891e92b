package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// pool keeps connections, and bounds how many there are: a connection has a place from before
// it is opened until the database has ended it. Those who find no place wait for one, in the
// order in which they came.
//
// There are places for reads, and places beyond them for snapshots that are held. A read that
// has waited for a moment takes one of the latter if no snapshot wants it: it may be part of
// something that has a connection already.
type pool struct {
	open    func(ctx context.Context) (*conn, error)
	metrics *metrics
	size    int // places for reads
	beyond  int // places beyond them

	mu         sync.Mutex
	used       int // places for reads that are taken
	usedBeyond int // places beyond them that are taken
	holders    int // snapshots that are held, or wait for a place
	waiting    []*waiter
	idle       []*conn
	ended      bool

	leased held // the connections that somebody has
}

// waiter waits for a place.
type waiter struct {
	holds bool       // it waits for a snapshot
	late  bool       // it waits for a read, and has done so for a moment
	got   chan lease // room for one
}

// place says where a connection counts.
type place uint8

const (
	nowhere  place = iota
	forReads       // among those for reads
	further        // beyond them
)

func newPool(size, beyond int, open func(context.Context) (*conn, error)) *pool {
	return &pool{open: open, size: size, beyond: beyond}
}

// maxWait is how long a read waits before it takes a place beyond those for reads, and longWait
// how long anybody waits.
const (
	maxWait  = 250 * time.Millisecond
	longWait = 15 * time.Second
)

// errBusy says that no connection became free.
var errBusy = fmt.Errorf("%w: no connection to the database became free within %v", storage.ErrUnavailable, longWait)

// lease is a connection from the pool.
type lease struct {
	*conn
	place place
	holds bool // it is for a snapshot
}

// get returns a connection for a read.
func (p *pool) get(ctx context.Context) (lease, error) { return p.lease(ctx, false) }

// hold returns a connection for a snapshot. It fails with ErrManySnapshots if there are as many
// as there may be.
func (p *pool) hold(ctx context.Context) (lease, error) {
	p.mu.Lock()
	if p.holders >= p.beyond {
		p.mu.Unlock()
		return lease{}, storage.ErrManySnapshots
	}
	p.holders++
	p.mu.Unlock()
	l, err := p.lease(ctx, true)
	if err != nil {
		p.mu.Lock()
		p.holders--
		p.mu.Unlock()
	}
	return l, err
}

func (p *pool) lease(ctx context.Context, holds bool) (l lease, err error) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return l, storage.ErrClosed
	}
	if at := p.admit(holds); at != nowhere {
		l = lease{place: at, conn: p.pop()}
		p.mu.Unlock()
	} else {
		w := &waiter{holds: holds, got: make(chan lease, 1)}
		p.waiting = append(p.waiting, w)
		p.mu.Unlock()
		if l, err = p.wait(ctx, w); err != nil {
			return l, err
		}
	}
	if l.conn == nil {
		if l.conn, err = p.connect(ctx); err != nil {
			p.leave(l.place)
			return l, err
		}
	}
	p.leased.add(l.conn)
	l.holds = holds
	return l, nil
}

// connect opens a connection, if the database answers.
func (p *pool) connect(ctx context.Context) (*conn, error) {
	ctx, end := context.WithTimeoutCause(ctx, lifetime, errSilent)
	defer end()
	return p.open(ctx)
}

// pop takes an idle connection, if there is one. The caller holds mu.
func (p *pool) pop() (c *conn) {
	if n := len(p.idle); n > 0 {
		c = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	return c
}

// admit takes a place. Those that are free are nobody's who waits. The caller holds mu.
func (p *pool) admit(holds bool) place {
	switch {
	case holds && p.usedBeyond < p.beyond:
		p.usedBeyond++
		return further
	case !holds && p.used < p.size:
		p.used++
		return forReads
	}
	return nowhere
}

// wait waits for a place.
func (p *pool) wait(ctx context.Context, w *waiter) (l lease, err error) {
	p.metrics.waits.Add(1)
	soon, late := clock.System().NewTimer(maxWait), clock.System().NewTimer(longWait)
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case l := <-w.got:
			return l, nil
		case <-soon.C():
			p.mu.Lock()
			w.late = !w.holds
			p.serve()
			p.mu.Unlock()
			continue
		case <-late.C():
			err = errBusy
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		break
	}
	p.mu.Lock()
	p.waiting = slices.DeleteFunc(p.waiting, func(o *waiter) bool { return o == w })
	p.mu.Unlock()
	select {
	case l := <-w.got: // meanwhile
		if l.conn != nil {
			p.put(l)
		} else {
			p.leave(l.place)
		}
	default:
	}
	return lease{}, err
}

// serve gives the places that are free, with idle connections, to those who have waited longest.
// The caller holds mu.
func (p *pool) serve() {
	give := func(to func(*waiter) bool, at place) bool {
		i := slices.IndexFunc(p.waiting, to)
		if i >= 0 {
			p.waiting[i].got <- lease{place: at, conn: p.pop()}
			p.waiting = slices.Delete(p.waiting, i, i+1)
		}
		return i >= 0
	}
	for p.used < p.size && give(func(w *waiter) bool { return !w.holds }, forReads) {
		p.used++
	}
	for p.usedBeyond < p.beyond && give(func(w *waiter) bool { return w.holds }, further) {
		p.usedBeyond++
	}
	for p.usedBeyond < p.beyond && give(func(w *waiter) bool { return w.late }, further) {
		p.usedBeyond++
		p.metrics.beyond.Add(1)
	}
}

// leave gives a place back.
func (p *pool) leave(at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free(at)
}

// free gives a place back. The caller holds mu.
func (p *pool) free(at place) {
	if at == further {
		p.usedBeyond--
	} else {
		p.used--
	}
	if len(p.waiting) > 0 {
		p.serve()
	}
}

// put gives a connection back. It may owe answers. One that is not kept has its place until the
// database has ended it, for which nobody waits.
func (p *pool) put(l lease) {
	p.leased.remove(l.conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.holds {
		p.holders--
	}
	if l.broken != nil || p.ended {
		go p.end(l.conn, l.place)
		return
	}
	p.idle = append(p.idle, l.conn)
	p.free(l.place)
	if len(p.idle)+p.used > p.size { // nobody has taken the place beyond those for reads
		p.usedBeyond++
		go p.end(p.pop(), further)
	}
}

func (p *pool) end(c *conn, at place) {
	c.end()
	p.leave(at)
}

// drop closes the idle connections, which are likely to be lost.
func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		p.used++ // idle connections and places that are used are never more than the places
		go p.end(c, forReads)
	}
	p.idle = nil
}

// close closes the idle connections, and those in use when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.ended = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}
