package monitor

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/runtimehints"
)

// # Pacing
//
// The goal is that a pass removes expired records as fast as it can while no
// client is active, and that active clients hardly notice it: the 99th
// percentile of findOne during a pass is to be at most about twice that
// without one. The engine has one writer, so a transaction of the pass delays
// every write, and also every request that the scheduler has put behind it on
// the same processor. The slowest requests therefore take as long as one
// transaction, which is why the size of a transaction is what is controlled.
//
// The controller is simple: batch measures a transaction, and adapt scales the
// number of records so that the next one takes idleTarget or, while clients
// are active, busyTarget. Clients count as active for clientsActive after
// their last operation (Host.Operations), so that a client which waits for its
// own work between two requests is not taken for absent.
//
// While clients are active the pass also pauses after each transaction for as
// long as the transaction took, within maxPause. It thus uses half of one
// processor at most, and the garbage that it makes is collected at that rate
// too. A timer may fire up to a millisecond late if nothing else wakes the
// process. That excess is credited to the next pauses, up to maxCredit, so
// that late timers do not slow the pass down by a factor; during such a
// transaction it sleeps for minPause only. It does sleep, because
// runtime.Gosched would not help: the scheduler polls the network only when no
// goroutine can run.
//
// How the constants were chosen: a transaction copies each branch of an index
// that it changes once, and a commit has a fixed cost (encoding the group, one
// write(2)), so of 2,000 records at a time each takes a tenth less processor time
// than of 400. Only the first request after a silence may meet a transaction of
// idleTarget. busyTarget, a ninety-sixth of it, is the value at which the
// benchmark that removes 100,000 documents beside a reading client (go test -bench
// Expire/ -benchtime 3x ./servertest; figures in docs/performance.md) has a ratio
// of the 99th percentiles below 2; shorter transactions spend most of their time
// on the commit. The smallest size keeps slow records from making every transaction a
// single delete, the largest one bounds the memory of one transaction.
//
// # Beside a database
//
// Over the database of a cluster a transaction takes some round trips and a wait for a disk,
// whatever its size: on a busy machine a tenth of a second. A controller that makes such a
// transaction smaller does not make it shorter, and would end at the smallest size, with 8
// records for each wait. So the sizes and durations are greater there (remotePace): of 128
// records with three indexes, each of which costs the database 40 to 70 µs, removing them
// takes about as long as the round trips. Readers do not wait for it: they read
// a state of the database.
//
// What holds it: TestPacer (sizes and pauses for fast and slow records, with
// and without clients), TestPassYieldsToClients (clients that come and go) and
// TestRestsAreMadeUpFor (credit for late timers) run against a clock that only
// the work moves. The ratio itself is measured by the benchmark, not asserted,
// because it depends on the machine.
const (
	idleTarget    = 4 * time.Millisecond // of a transaction while no client is active
	busyTarget    = idleTarget / 96      // while clients are active
	clientsActive = 100 * time.Millisecond

	maxPause  = 10 * time.Millisecond
	maxCredit = time.Millisecond / 5
	minPause  = time.Microsecond
)

// pace are the bounds of transactions: the durations to aim at, and the numbers of records.
type pace struct {
	idle, busy         time.Duration
	first, least, most int
}

var (
	localPace  = pace{idle: idleTarget, busy: busyTarget, first: 32, least: 8, most: 2048}
	remotePace = pace{idle: 100 * time.Millisecond, busy: 25 * time.Millisecond, first: 256, least: 128, most: 2048}
)

// pacer chooses the size of the transactions of a pass and pauses between
// them. It belongs to one pass.
type pacer struct {
	ctx   context.Context
	host  Host
	real  clock.Clock
	pace  pace
	fixed bool // the size is given by an option
	size  int
	began time.Time     // beginning of the running transaction
	owed  time.Duration // pause that is due while clients are active
	seen  int64         // operations of clients before the running transaction
	last  time.Time     // time of the last client operation
}

func newPacer(ctx context.Context, host Host, real clock.Clock, pace pace, fixed int) *pacer {
	p := &pacer{ctx: ctx, host: host, real: real, pace: pace, fixed: fixed > 0, size: pace.first, seen: host.Operations()}
	if p.fixed {
		p.size = fixed
	}
	return p
}

// batch begins a transaction and returns the number of records that it may
// remove.
func (p *pacer) batch() int {
	p.began = p.real.Now()
	return p.size
}

// yield ends a transaction and lets other goroutines run. While clients are
// active it pauses for as long as the transaction took.
func (p *pacer) yield() {
	now := p.real.Now()
	took := now.Sub(p.began)
	if n := p.host.Operations(); n != p.seen {
		p.seen, p.last = n, now
	}
	shared := !p.last.IsZero() && now.Sub(p.last) < clientsActive
	if !shared {
		p.adapt(took, p.pace.idle)
		p.owed = 0
		runtimehints.Yield()
		return
	}
	p.adapt(took, p.pace.busy)
	p.owed += min(took, maxPause)
	d := max(p.owed, minPause)
	p.rest(d)
	p.owed = max(p.owed-p.real.Now().Sub(now), -maxCredit)
}

// rest sleeps for d, or until the pass is cancelled.
func (p *pacer) rest(d time.Duration) {
	t := p.real.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
	case <-p.ctx.Done():
	}
}

// pause waits for another writer, in real time like [storage.Retry].
func (p *pacer) pause(d time.Duration) {
	select {
	case <-clock.System().After(d):
	case <-p.ctx.Done():
	}
}

// adapt sets the size of the next transaction by the duration of the last one.
func (p *pacer) adapt(took, target time.Duration) {
	switch {
	case p.fixed:
	case took > target:
		p.size = max(int(int64(p.size)*int64(target)/int64(took)), p.pace.least)
	case took < target/2:
		p.size = min(p.size*3/2, p.pace.most)
	}
}
