package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// pool keeps connections for reads.
type pool struct {
	open    func(ctx context.Context) (*conn, error)
	metrics *metrics
	room    chan struct{} // a token for each connection in use
	mu      sync.Mutex
	idle    []*conn
	ended   bool
}

func newPool(max int, open func(context.Context) (*conn, error)) *pool {
	return &pool{open: open, room: make(chan struct{}, max)}
}

// maxWait is how long a read waits for a connection before it opens one beyond the
// limit: it may be part of something that has one already.
const maxWait = 250 * time.Millisecond

// lease is a connection from the pool.
type lease struct {
	*conn
	beyond bool // the limit
}

// get returns a connection.
func (p *pool) get(ctx context.Context) (lease, error) {
	var l lease
	select {
	case p.room <- struct{}{}:
	default:
		p.metrics.waits.Add(1)
		timer := clock.System().NewTimer(maxWait)
		defer timer.Stop()
		select {
		case p.room <- struct{}{}:
		case <-timer.C():
			l.beyond = true
			p.metrics.beyond.Add(1)
		case <-ctx.Done():
			return l, context.Cause(ctx)
		}
	}
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		p.leave(l)
		return l, storage.ErrClosed
	}
	if n := len(p.idle); n > 0 {
		l.conn = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	p.mu.Unlock()
	if l.conn != nil {
		return l, nil
	}
	c, err := p.open(ctx)
	if err != nil {
		p.leave(l)
		return l, err
	}
	l.conn = c
	return l, nil
}

// extra returns a connection beyond the limit.
func (p *pool) extra(ctx context.Context) (lease, error) {
	l := lease{beyond: true}
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		l.conn = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	ended := p.ended
	p.mu.Unlock()
	if ended {
		return l, storage.ErrClosed
	}
	if l.conn != nil {
		return l, nil
	}
	var err error
	l.conn, err = p.open(ctx)
	return l, err
}

func (p *pool) leave(l lease) {
	if !l.beyond {
		<-p.room
	}
}

// put gives a connection back. It may owe answers.
func (p *pool) put(l lease) {
	p.mu.Lock()
	keep := l.broken == nil && !p.ended && len(p.idle) < cap(p.room)
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
