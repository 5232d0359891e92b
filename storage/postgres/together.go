package postgres

import (
	"context"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// pointReads lets reads of single records share round trips. A trip takes time on both sides
// for its two messages, more than the database needs to find a record. So only some trips
// are under way at a time, and reads that come meanwhile go with the next one, each with a
// statement of its own. A read alone does not wait.
type pointReads struct {
	max     int // trips at a time
	mu      sync.Mutex
	trips   int // under way
	waiting []*pointRead
}

// maxTogether is how many reads go with one trip.
const maxTogether = 32

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

// join waits for a trip, as long as for a connection. done says that it has answered the read; otherwise the caller makes
// a trip, and if that leads, calls leave behind it.
func (q *pointReads) join(ctx context.Context, p *pointRead) (done, leading bool, err error) {
	q.mu.Lock()
	if q.trips < q.max {
		q.trips++
		q.mu.Unlock()
		return false, true, nil
	}
	p.outcome = make(chan outcome, 1)
	q.waiting = append(q.waiting, p)
	q.mu.Unlock()
	late := clock.System().NewTimer(longWait)
	defer late.Stop()
	select {
	case how := <-p.outcome:
		return how == gotAnswer, how == gotLead, nil
	case <-late.C():
		err = errBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	q.abandon(p)
	return false, false, err
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

// leave ends a trip that leads.
func (q *pointReads) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass()
}

// pass lets a read that waits make the next trip. The caller holds the lock.
func (q *pointReads) pass() {
	if len(q.waiting) == 0 {
		q.trips--
		return
	}
	q.waiting[0].outcome <- gotLead
	q.waiting = slices.Delete(q.waiting, 0, 1)
}

// readTogether makes a trip for a read and for those that wait.
func (v *view) readTogether(ctx context.Context, p *pointRead, floor int64) (*kvshared.Reply, error) {
	group := v.s.points.with(p)
	for _, x := range group {
		v.l.queueEncoded(x.message)
	}
	err := v.l.run(ctx, func(n int, row [][]byte) error {
		group[n].take(row)
		return nil
	})
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
