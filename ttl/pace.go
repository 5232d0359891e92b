package ttl

import (
	"context"
	"runtime"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// How much one transaction of a pass removes: as many records as take about
// so long, within bounds. Writers wait for a transaction to end, and each one
// costs a commit.
const (
	batchTime  = time.Millisecond
	batchFirst = 32
	batchLeast = 16
	batchMost  = 512
)

// pacer makes the transactions of a pass as large as they may be, and leaves
// time to clients between them. It belongs to one pass.
type pacer struct {
	ctx   context.Context
	host  Host
	real  clock.Clock
	fixed bool // the size was given
	size  int
	began time.Time // of the running transaction
	seen  int64     // operations of clients before it
}

func newPacer(ctx context.Context, host Host, real clock.Clock, fixed int) *pacer {
	p := &pacer{ctx: ctx, host: host, real: real, fixed: fixed > 0, size: batchFirst, seen: host.Operations()}
	if p.fixed {
		p.size = fixed
	}
	return p
}

// batch begins a transaction and tells how many records it may remove.
func (p *pacer) batch() int {
	p.began = p.real.Now()
	return p.size
}

// yield ends a transaction. If clients have asked for anything since the last
// one, they have the processors to themselves for as long as it took: with
// them around, a pass takes half of the time of one processor, and what it
// leaves the garbage collector to do comes as slowly.
func (p *pacer) yield() {
	took := p.real.Now().Sub(p.began)
	p.adapt(took)
	operations := p.host.Operations()
	active := operations != p.seen
	p.seen = operations
	if !active || took <= 0 {
		runtime.Gosched()
		return
	}
	t := p.real.NewTimer(min(took, 10*batchTime))
	defer t.Stop()
	select {
	case <-t.C():
	case <-p.ctx.Done():
	}
}

// adapt sets the size of the next transaction by how long one took.
func (p *pacer) adapt(took time.Duration) {
	switch {
	case p.fixed:
	case took > batchTime:
		p.size = max(p.size/2, batchLeast)
	case took < batchTime/2:
		p.size = min(p.size*3/2, batchMost)
	}
}
