package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// pointReads lets reads of single records share round trips. A trip takes time on both sides
// for its two messages, more than the database needs to find a record. So only few trips are
// under way at a time, and reads that come meanwhile go with the next one, each with a
// statement of its own. A read alone does not wait.
type pointReads struct {
	max     int // trips at a time
	mu      sync.Mutex
	trips   int // under way
	waiting []*pointRead
	quick   shortest
}

const (
	// maxTogether is how many reads go with one trip.
	maxTogether = 32
	// manyWaiting is how many reads that wait are worth a further trip.
	manyWaiting = maxTogether / 2
	// patience is how long a read waits for the trips of others before it makes its own: they
	// may be stuck.
	patience = 100 * time.Millisecond
	// nearby is how long the messages of a trip take at most on the same machine or next to it.
	nearby = 500 * time.Microsecond
)

// pointRead is a read that one statement does, also of the head.
type pointRead struct {
	message []byte // the statement
	page    *kvshared.Page
	head    kvshared.Head
	reply   kvshared.Reply
	outcome chan outcome // receives once, if the read has waited
}

// outcome is how waiting for the trip of another read ends.
type outcome uint8

const (
	gotAnswer  outcome = iota
	gotFailure         // the trip of another read has failed
	gotLead            // the read makes the next trip
)

// pointReadOf returns the read of a request; nil if it is of another kind.
func pointReadOf(r *kvshared.Request) *pointRead {
	single := len(r.Ends)+len(r.Ranges)+len(r.Stats)+len(r.Claims) == 0 && !r.Catalog
	p := &pointRead{page: r.Page}
	var err error
	switch {
	case !single:
		return nil
	case r.Page != nil && len(r.Points) == 0 && r.Page.Limit == 1 && r.Page.Joined && !r.Page.Reverse:
		num, lo := dataKey(r.Page.Lo)
		p.message, err = findOnce.encode(nil, int4Value(num), lo, endOf(r.Page.Span))
	case r.Page == nil && len(r.Points) == 1 && r.Points[0].Seen == 0:
		num, rest := dataKey(r.Points[0].Key)
		p.message, err = getOnce.encode(nil, int4Value(num), rest)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return p
}

// take takes the row of the answer.
func (p *pointRead) take(row [][]byte) {
	p.head = headOf(row)
	switch {
	case p.page == nil:
		p.reply.Points = []kvshared.PointReply{{Value: clone(row[4])}}
	case row[4] != nil:
		key := append(append(make([]byte, 0, 5+len(row[4])), p.page.Lo[:5]...), row[4]...)
		p.reply.Page, p.reply.More = []kvshared.KV{{Key: key, Value: clone(row[5])}}, true
	}
}

// join waits for a trip, as long as for a connection. done says that it has answered the read;
// otherwise the caller makes a trip, and if that leads, calls leave behind it.
func (q *pointReads) join(ctx context.Context, p *pointRead) (done, leading bool, err error) {
	q.mu.Lock()
	if q.worthwhile() {
		q.trips++
		q.mu.Unlock()
		return false, true, nil
	}
	p.outcome = make(chan outcome, 1)
	q.waiting = append(q.waiting, p)
	q.mu.Unlock()
	waited := patience
	timer := clock.System().NewTimer(waited)
	defer timer.Stop()
	for {
		select {
		case how := <-p.outcome:
			return how == gotAnswer, how == gotLead, nil
		case <-timer.C():
			if q.overtake(p) {
				return false, true, nil
			}
			if waited >= longWait {
				q.abandon(p)
				return false, false, errBusy
			}
			timer.Reset(longWait - waited)
			waited = longWait
		case <-ctx.Done():
			q.abandon(p)
			return false, false, context.Cause(ctx)
		}
	}
}

// worthwhile reports whether to make a further trip: none is under way, or they spend most of
// their time in the network, or many reads wait. The caller holds the lock.
func (q *pointReads) worthwhile() bool {
	atATime := 1 + int(q.quick.time()/nearby)
	return q.trips < q.max && (q.trips < atATime || len(q.waiting) >= manyWaiting)
}

// overtake lets a read that has waited for long make a trip of its own.
func (q *pointReads) overtake(p *pointRead) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, p)
	if i < 0 || q.trips >= q.max {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.trips++
	return true
}

// abandon gives a read up that waits, or is under way.
func (q *pointReads) abandon(p *pointRead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, p); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	select {
	case how := <-p.outcome:
		if how == gotLead {
			q.pass()
		}
	default: // its answer goes nowhere
	}
}

// with returns the reads that go with the trip of a read, which is the first of them.
func (q *pointReads) with(p *pointRead) []*pointRead {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxTogether-1)
	group := append(make([]*pointRead, 0, 1+n), p)
	group = append(group, q.waiting[:n]...)
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// took notes how long a trip took.
func (q *pointReads) took(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quick.took(d)
}

// leave ends a trip that leads.
func (q *pointReads) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass()
}

// pass lets a read that waits make the next trip, unless those that are under way do for all. The
// caller holds the lock.
func (q *pointReads) pass() {
	q.trips--
	if len(q.waiting) == 0 || !q.worthwhile() {
		return
	}
	q.trips++
	q.waiting[0].outcome <- gotLead
	q.waiting = slices.Delete(q.waiting, 0, 1)
}

// shortest knows how long the shortest of the last trips took. That is the time of the network and of
// the database, without that of waiting for a processor.
type shortest struct {
	last, now time.Duration // times of the last window's shortest trip, and of this one's so far
	trips     int           // trips in this window
}

// window is a number of trips. The shortest is that of the last one to two windows.
const window = 64

func (s *shortest) took(d time.Duration) {
	if s.trips == 0 || d < s.now {
		s.now = d
	}
	if s.trips++; s.trips == window {
		s.last, s.now, s.trips = s.now, 0, 0
	}
}

// time is zero before the first trip.
func (s *shortest) time() time.Duration {
	if s.last == 0 || s.trips > 0 && s.now < s.last {
		return s.now
	}
	return s.last
}

// readTogether makes a trip for a read and for those that wait.
func (v *view) readTogether(ctx context.Context, p *pointRead, floor int64) (*kvshared.Reply, error) {
	group := v.s.points.with(p)
	for _, x := range group {
		v.l.queueEncoded(x.message)
	}
	began := clock.System().Now()
	err := v.l.run(ctx, func(n int, row [][]byte) error {
		group[n].take(row)
		return nil
	})
	if err == nil {
		v.s.points.took(clock.System().Now().Sub(began))
	}
	how := gotAnswer
	for _, x := range group[1:] {
		if err == nil {
			err = v.s.progressed(v.l.conn, floor, x.head)
		}
	}
	if err != nil {
		how = gotFailure // each of them finds out for itself
	}
	for _, x := range group[1:] {
		x.outcome <- how
	}
	v.head, v.begun = p.head, err == nil
	return &p.reply, v.s.explain(ctx, err)
}
