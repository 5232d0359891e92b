package kvshared

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// A tentative commit makes one round trip instead of two. It does not take the lock
// first: the updates run on what their drafts have read and on the statistics in
// memory, and the trip that writes everything also checks that all of it is still so. If
// it is not, nothing is written, and the updates run again under the lock.
//
// That succeeds nearly always as long as one server writes. When it fails, the
// next commits take the lock first, twice as many as the last time.

// Conditions are what a commit without the lock takes for granted.
type Conditions struct {
	Same   []Point     // keys that are there as in the state of the version Seen
	None   []kv.Span   // ranges without any keys
	Ranges []ReadRange // ranges that are as they were
	Stats  []StatsRow  // the versions of the statistics that the commit replaces
}

// backoff decides whether commits are worth trying without the lock. It is guarded
// by the right to write.
type backoff struct{ pause, left int }

const maxPause = 256

func (f *backoff) allows() bool {
	if f.left > 0 {
		f.left--
		return false
	}
	return true
}

func (f *backoff) failed() {
	f.pause = min(max(2*f.pause, 2), maxPause)
	f.left = f.pause
}

func (f *backoff) succeeded() { f.pause /= 2 }

// optimism is what a tentative transaction has beside the others.
type optimism struct {
	from    *combinedReads
	points  map[string]int // places in the recollection of what may be used
	ends    map[endKey]int
	ranges  map[*readRange]int
	met     Conditions // of what was used
	checked map[string]struct{}
	drafts  []*readSet
	stats   []uint32 // of collections
	moved   bool     // something is needed that is not known

	surePoints, sureEnds []bool // what is certainly so, if nobody else has committed; by place
}

// point returns what drafts have read of a key, and makes that a condition.
func (g *optimism) point(key []byte) (value []byte, ok bool) {
	i, ok := g.points[string(key)]
	if !ok {
		return nil, false
	}
	p, v := g.from.request.Points[i], g.from.values[i].value
	if g.surePoints[i] {
		return v, true
	}
	if v == nil {
		g.none(kv.Span{Lo: p.Key, Hi: append(p.Key[:len(p.Key):len(p.Key)], 0)})
	} else {
		g.same(p)
	}
	return v, true
}

// end returns what drafts have found at the beginning of a range, and makes that a
// condition. A range that nobody has looked at is taken for empty.
func (g *optimism) end(id endKey) (key []byte, ok bool) {
	i, ok := g.ends[id]
	if !ok {
		return nil, false
	}
	span, found := g.from.request.Ends[i].Span, g.from.found[i]
	if i < len(g.sureEnds) && g.sureEnds[i] { // others were added by hope
		return found.key, true
	}
	if found.key == nil {
		g.none(span)
		return nil, true
	}
	if bytes.Compare(span.Lo, found.key) < 0 {
		g.none(kv.Span{Lo: span.Lo, Hi: found.key})
	}
	g.same(Point{Key: found.key, Seen: found.version})
	return found.key, true
}

// assumeNew takes a unique key that no draft has looked for to be new.
func (g *optimism) assumeNew(c *kv.Coll, x *kv.Index, order []byte) {
	s := kv.OrderSpan(c.Num, x.Num, order)
	id := endKey{string(s.Lo), string(s.Hi), false}
	if _, ok := g.ends[id]; ok {
		return
	}
	g.ends[id] = len(g.from.ends)
	g.from.ends, g.from.found = append(g.from.ends, id), append(g.from.found, readEnd{})
	g.from.request.Ends = append(g.from.request.Ends, End{Span: s})
}

// stat notes that the statistics of a collection are used.
func (g *optimism) stat(num uint32) {
	if !slices.Contains(g.stats, num) {
		g.stats = append(g.stats, num)
	}
}

func (g *optimism) same(p Point) {
	if g.first("s" + string(p.Key)) {
		g.met.Same = append(g.met.Same, p)
	}
}

func (g *optimism) none(s kv.Span) {
	if g.first("n" + string(s.Lo)) {
		g.met.None = append(g.met.None, s)
	}
}

func (g *optimism) pages(seen *readRange) {
	if i, ok := g.ranges[seen]; ok {
		delete(g.ranges, seen)
		g.met.Ranges = append(g.met.Ranges, g.from.request.Ranges[i])
	}
}

// first reports whether something was not checked before.
func (g *optimism) first(id string) bool {
	_, again := g.checked[id]
	if g.checked == nil {
		g.checked = map[string]struct{}{}
	}
	g.checked[id] = struct{}{}
	return !again
}

// unreadableState is the state of a tentative transaction, as far as drafts have not read it:
// it cannot be read.
type unreadableState struct {
	head     Head
	optimism *optimism
}

var _ Snapshot = unreadableState{}

// Read fails.
func (u unreadableState) Read(context.Context, *Request) (*Reply, error) {
	u.optimism.moved = true
	return nil, ErrMoved
}

// Head is the latest that is known.
func (u unreadableState) Head() (Head, bool) { return u.head, true }

// Lost returns false.
func (unreadableState) Lost() bool { return false }

// Moved reports whether something was needed that is not known.
func (u unreadableState) Moved() bool { return u.optimism.moved }

// Close does nothing.
func (unreadableState) Close() {}

// beginOptimistic begins a run without the lock; nil: it is not worth it, or not
// possible. The caller has the right to write.
func (e *Engine) beginOptimistic(ctx context.Context, drafts []*readSet) *tx {
	head := e.head.Load()
	cat := e.known.Load()
	if cat == nil || head.Catalog != cat.version || slices.ContainsFunc(drafts, func(m *readSet) bool { return m == nil || m.full() || m.txn != 0 }) || !e.backoff.allows() {
		return nil
	}
	c := combine(drafts, func(num uint32) bool { return num < firstProvisional })
	g := &optimism{from: c, drafts: drafts}
	from := unreadableState{*head, g}
	t := &tx{phase: committing, from: from, catalog: cat, optimistic: g, head: *head}
	t.cached = c.assumedState(from, g)
	if !g.upToDate(e.history.upTo(head.Version)) {
		return nil
	}
	e.on(ctx, t.cached, t).MakeWritable(&e.scratch)
	return t
}

// assumedState takes what drafts have read for the present state.
func (c *combinedReads) assumedState(from unreadableState, g *optimism) *cachedState {
	g.points, g.ends, g.ranges = make(map[string]int, len(c.values)), make(map[endKey]int, len(c.ends)), make(map[*readRange]int, len(c.ranges))
	r := &cachedState{remoteState: remoteState{from}, optimism: g, ranges: make(map[string]*readRange, len(c.ranges))}
	for i, p := range c.request.Points {
		if p.Seen != 0 {
			g.points[value.BytesView(p.Key)] = i
		}
	}
	for i, id := range c.ends {
		if !id.last {
			g.ends[id] = i
		}
	}
	for i, seen := range c.ranges {
		g.ranges[seen] = i
		if other := r.ranges[seen.page.id()]; other == nil || other.more && len(other.rows) < len(seen.rows) {
			r.ranges[seen.page.id()] = seen
		}
	}
	return r
}

// Tentative reports whether the transaction runs without the lock: if one of its
// updates fails, or its commit, they must run again.
func (t *tx) Tentative() bool { return t.optimistic != nil }

// Moved reports whether a tentative commit has failed because something is not as it
// was taken for.
func (t *tx) Moved(err error) bool { return errors.Is(err, ErrMoved) }

// commitOptimistic commits without having had the lock. It fails with ErrMoved if
// anything is not as it was taken for, or if the commit needs the lock.
func (e *Engine) commitOptimistic(t *tx) error {
	before, _ := t.from.Head()
	if t.optimistic.moved || !t.DropIdleChanges() {
		e.backoff.failed()
		return ErrMoved
	}
	defer t.Scratch.Release()
	loaded := len(t.optimistic.stats)
	for _, ch := range t.Changes {
		if ch.After == nil || ch.Before == nil || ch.Description || moreArrays(ch) {
			return ErrMoved // others must see it
		}
		if slices.Contains(t.optimistic.stats, ch.After.Num) {
			loaded--
		}
		t.optimistic.met.Stats = append(t.optimistic.met.Stats, StatsRow{Num: ch.After.Num, Version: int64(ch.Before.Stamp)})
	}
	if loaded > 0 || e.watched(t) {
		return ErrMoved // statistics were read that are not written, or all living servers must see it
	}
	t.head.Version++
	t.CollectWrites(&t.Scratch.Writes)
	t.Scratch.Writes.Fresh = t.newKeys()
	if err := e.store.Attempt(e.life, &t.Scratch.Writes, before, t.head, &t.optimistic.met); err != nil {
		e.backoff.failed()
		e.lookups.forget(t.optimistic.drafts)
		return err
	}
	e.backoff.succeeded()
	e.lookups.wrote(t.Scratch.Writes.Writes, t.head.Version)
	e.history.add(t.head.Version, t.Overlay, &t.Scratch.Writes)
	e.common.Commits.Add(1)
	e.publish(t)
	return nil
}

// updateOptimistically runs one update without the lock. done says that its outcome counts.
func (e *Engine) updateOptimistically(ctx context.Context, fn func(*kv.Tx) error, m *readSet) (done bool, err error) {
	if err := e.lockWriter(ctx); err != nil {
		return true, err
	}
	defer e.unlockWriter()
	t := e.beginOptimistic(ctx, []*readSet{m})
	if t == nil {
		return false, nil
	}
	defer t.End()
	if fn(&t.Tx) != nil {
		return false, nil
	}
	err = t.Commit()
	return !t.Moved(err), err
}
