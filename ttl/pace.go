package ttl

import (
	"context"
	"runtime"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// How much one transaction of a pass removes: as many records as take about
// so long, within bounds. Each transaction costs a commit, but others wait for
// it to end: writers for their turn, and whatever the scheduler has put behind
// it on the same processor, so that the slowest requests become as slow as a
// transaction takes. While clients are there, it takes less.
const (
	aloneTime  = time.Millisecond
	sharedTime = aloneTime / 24
	batchFirst = 32
	batchLeast = 8
	batchMost  = 512
)

// clientsStay is how long after their last request clients are thought to be
// there.
const clientsStay = 100 * time.Millisecond

// Beside clients a pass rests after each transaction for as long as it took,
// within bounds. A sleep takes up to a millisecond more when nothing else wakes
// the process: what is more than was owed counts for the next transactions, after
// which the pass gives way for no longer than it takes to look for requests.
// (To yield the processor would not do: the scheduler looks at the network only
// when nothing else wants to run.)
const (
	restMost   = 10 * time.Millisecond
	creditMost = time.Millisecond / 5
	glance     = time.Microsecond
)

// pacer makes the transactions of a pass as large as they may be, and leaves
// time to clients between them. It belongs to one pass.
type pacer struct {
	ctx   context.Context
	host  Host
	real  clock.Clock
	fixed bool // the size was given
	size  int
	began time.Time     // of the running transaction
	owed  time.Duration // rest, beside clients
	seen  int64         // operations of clients before the running transaction
	last  time.Time     // when there was one
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

// yield ends a transaction and lets others run. While clients are there, they
// have the processors to themselves for half of the time: a pass takes half of
// one processor, and what it leaves the garbage collector to do comes as
// slowly.
func (p *pacer) yield() {
	now := p.real.Now()
	took := now.Sub(p.began)
	if n := p.host.Operations(); n != p.seen {
		p.seen, p.last = n, now
	}
	shared := !p.last.IsZero() && now.Sub(p.last) < clientsStay
	if !shared {
		p.adapt(took, aloneTime)
		p.owed = 0
		runtime.Gosched()
		return
	}
	p.adapt(took, sharedTime)
	p.owed += min(took, restMost)
	d := max(p.owed, glance)
	p.rest(d)
	p.owed = max(p.owed-p.real.Now().Sub(now), -creditMost)
}

// rest sleeps, or less if the pass is to end.
func (p *pacer) rest(d time.Duration) {
	t := p.real.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
	case <-p.ctx.Done():
	}
}

// adapt sets the size of the next transaction by how long one took.
func (p *pacer) adapt(took, target time.Duration) {
	switch {
	case p.fixed:
	case took > target:
		p.size = max(int(int64(p.size)*int64(target)/int64(took)), batchLeast)
	case took < target/2:
		p.size = min(p.size*3/2, batchMost)
	}
}
