package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// pool keeps connections. Its connections and those beyond it are bounded: whoever needs one
// waits for it.
type pool struct {
	open    func(ctx context.Context) (*conn, error)
	metrics *metrics
	room    chan struct{} // a token for each connection in use
	beyond  chan struct{} // the same for connections beyond the pool; nil: there are none
	mu      sync.Mutex
	idle    []*conn
	ended   bool
}

func newPool(max int, beyond chan struct{}, open func(context.Context) (*conn, error)) *pool {
	return &pool{open: open, room: make(chan struct{}, max), beyond: beyond}
}

// maxWait is how long a read waits for a connection before it takes one beyond the pool, if
// there is one: it may be part of something that has one already. longWait is how long it
// waits at most.
const (
	maxWait  = 250 * time.Millisecond
	longWait = 15 * time.Second
)

// errBusy says that no connection became free.
var errBusy = fmt.Errorf("%w: no connection to the database became free within %v", storage.ErrUnavailable, longWait)

// lease is a connection from the pool.
type lease struct {
	*conn
	place chan struct{} // where its token goes back to; nil: the caller has it
}

// get returns a connection.
func (p *pool) get(ctx context.Context) (l lease, err error) {
	select {
	case p.room <- struct{}{}:
		l.place = p.room
	default:
		if l.place, err = p.wait(ctx); err != nil {
			return l, err
		}
	}
	if l.conn, err = p.take(ctx); err != nil {
		p.leave(l)
	}
	return l, err
}

// wait waits for a place.
func (p *pool) wait(ctx context.Context) (chan struct{}, error) {
	p.metrics.waits.Add(1)
	soon, late := clock.System().NewTimer(maxWait), clock.System().NewTimer(longWait)
	defer soon.Stop()
	defer late.Stop()
	var beyond chan struct{}
	for {
		select {
		case p.room <- struct{}{}:
			return p.room, nil
		case beyond <- struct{}{}:
			p.metrics.beyond.Add(1)
			return beyond, nil
		case <-soon.C():
			beyond = p.beyond
		case <-late.C():
			return nil, errBusy
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// extra returns a connection for somebody who has a token of those beyond the pool.
func (p *pool) extra(ctx context.Context) (l lease, err error) {
	l.conn, err = p.take(ctx)
	return l, err
}

// take takes an idle connection, or opens one.
func (p *pool) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return nil, storage.ErrClosed
	}
	var c *conn
	if n := len(p.idle); n > 0 {
		c = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	p.mu.Unlock()
	if c != nil {
		return c, nil
	}
	return p.open(ctx)
}

func (p *pool) leave(l lease) {
	if l.place != nil {
		<-l.place
	}
}

// put gives a connection back. It may owe answers.
func (p *pool) put(l lease) {
	p.mu.Lock()
	others := len(p.room) // in use
	if l.place == p.room {
		others--
	}
	keep := l.broken == nil && !p.ended && len(p.idle)+others < cap(p.room)
	if keep {
		p.idle = append(p.idle, l.conn)
	}
	p.mu.Unlock()
	if !keep {
		l.close()
	}
	p.leave(l)
}

// drop closes the idle connections, which are likely to be lost.
func (p *pool) drop() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.drop()
}
