package kv

import (
	"bytes"
	"context"
	"errors"
	"slices"

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
	None   []Span      // ranges without any keys
	Ranges []SeenRange // ranges that are as they were
	Stats  []StatsRow  // the versions of the statistics that the commit replaces
}

// fortune decides whether commits are worth trying without the lock. It is guarded
// by the right to write.
type fortune struct{ pause, left int }

const mostPause = 256

func (f *fortune) worth() bool {
	if f.left > 0 {
		f.left--
		return false
	}
	return true
}

func (f *fortune) failed() {
	f.pause = min(max(2*f.pause, 2), mostPause)
	f.left = f.pause
}

func (f *fortune) succeeded() { f.pause /= 2 }

// guess is what a tentative transaction has beside the others.
type guess struct {
	from    *recollection
	points  map[string]int // places in the recollection of what may be used
	ends    map[endKey]int
	ranges  map[*seenPages]int
	met     Conditions // of what was used
	checked map[string]struct{}
	drafts  []*memory
	stats   []uint32 // of collections
	moved   bool     // something is needed that is not known

	surePoints, sureEnds []bool // what is certainly so, if nobody else has committed; by place
}

// point returns what drafts have read of a key, and makes that a condition.
func (g *guess) point(key []byte) (value []byte, ok bool) {
	i, ok := g.points[string(key)]
	if !ok {
		return nil, false
	}
	p, v := g.from.request.Points[i], g.from.values[i].value
	if g.surePoints[i] {
		return v, true
	}
	if v == nil {
		g.none(Span{Lo: p.Key, Hi: append(p.Key[:len(p.Key):len(p.Key)], 0)})
	} else {
		g.same(p)
	}
	return v, true
}

// end returns what drafts have found at the beginning of a range, and makes that a
// condition. A range that nobody has looked at is taken for empty.
func (g *guess) end(id endKey) (key []byte, ok bool) {
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
		g.none(Span{Lo: span.Lo, Hi: found.key})
	}
	g.same(Point{Key: found.key, Seen: found.version})
	return found.key, true
}

// hope takes a unique key that no draft has looked for to be new.
func (g *guess) hope(c *coll, x *index, order []byte) {
	s := orderSpan(c.num, x.num, order)
	id := endKey{string(s.Lo), string(s.Hi), false}
	if _, ok := g.ends[id]; ok {
		return
	}
	g.ends[id] = len(g.from.ends)
	g.from.ends, g.from.found = append(g.from.ends, id), append(g.from.found, foundEnd{})
	g.from.request.Ends = append(g.from.request.Ends, End{Span: s})
}

// stat notes that the statistics of a collection are used.
func (g *guess) stat(num uint32) {
	if !slices.Contains(g.stats, num) {
		g.stats = append(g.stats, num)
	}
}

func (g *guess) same(p Point) {
	if g.first("s" + string(p.Key)) {
		g.met.Same = append(g.met.Same, p)
	}
}

func (g *guess) none(s Span) {
	if g.first("n" + string(s.Lo)) {
		g.met.None = append(g.met.None, s)
	}
}

func (g *guess) pages(seen *seenPages) {
	if i, ok := g.ranges[seen]; ok {
		delete(g.ranges, seen)
		g.met.Ranges = append(g.met.Ranges, g.from.request.Ranges[i])
	}
}

// first reports whether something was not checked before.
func (g *guess) first(id string) bool {
	_, again := g.checked[id]
	if g.checked == nil {
		g.checked = map[string]struct{}{}
	}
	g.checked[id] = struct{}{}
	return !again
}

// unseen is the state of a tentative transaction, as far as drafts have not read it:
// it cannot be read.
type unseen struct {
	head  Head
	guess *guess
}

var _ SharedSnapshot = unseen{}

// Read fails.
func (u unseen) Read(context.Context, *Request) (*Reply, error) {
	u.guess.moved = true
	return nil, ErrMoved
}

// Head is the latest that is known.
func (u unseen) Head() (Head, bool) { return u.head, true }

// Lost returns false.
func (unseen) Lost() bool { return false }

// Moved reports whether something was needed that is not known.
func (u unseen) Moved() bool { return u.guess.moved }

// Close does nothing.
func (unseen) Close() {}

// beginTentative begins a run without the lock; nil: it is not worth it, or not
// possible. The caller has the right to write.
func (e *Shared) beginTentative(ctx context.Context, drafts []*memory) *dtx {
	head := e.head.Load()
	cat := e.known.Load()
	if cat == nil || head.Catalog != cat.version || slices.ContainsFunc(drafts, func(m *memory) bool { return m == nil || m.full() || m.txn != 0 }) || !e.fortune.worth() {
		return nil
	}
	c := recollect(drafts, func(num uint32) bool { return num < firstProvisional })
	g := &guess{from: c, drafts: drafts}
	from := unseen{*head, g}
	t := &dtx{phase: committing, from: from, cat: cat, guessing: g, head: *head}
	t.known = c.guess(from, g)
	if !g.upToDate(e.history.of(head.Version)) {
		return nil
	}
	e.on(ctx, t.known, t).write(&e.memory)
	return t
}

// guess takes what drafts have read for the present state.
func (c *recollection) guess(from unseen, g *guess) *recalled {
	g.points, g.ends, g.ranges = make(map[string]int, len(c.values)), make(map[endKey]int, len(c.ends)), make(map[*seenPages]int, len(c.ranges))
	r := &recalled{remote: remote{from}, guess: g, ranges: make(map[string]*seenPages, len(c.ranges))}
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
func (t *dtx) Tentative() bool { return t.guessing != nil }

// Moved reports whether a tentative commit has failed because something is not as it
// was taken for.
func (t *dtx) Moved(err error) bool { return errors.Is(err, ErrMoved) }

// commitTentative commits without having had the lock. It fails with ErrMoved if
// anything is not as it was taken for, or if the commit needs the lock.
func (e *Shared) commitTentative(t *dtx) error {
	before, _ := t.from.Head()
	if t.guessing.moved || !t.effective() {
		e.fortune.failed()
		return ErrMoved
	}
	defer t.scratch.release()
	loaded := len(t.guessing.stats)
	for _, ch := range t.changes {
		if ch.cur == nil || ch.base == nil || ch.catalog || moreArrays(ch) {
			return ErrMoved // others must see it
		}
		if slices.Contains(t.guessing.stats, ch.cur.num) {
			loaded--
		}
		t.guessing.met.Stats = append(t.guessing.met.Stats, StatsRow{Num: ch.cur.num, Version: int64(ch.base.stamp)})
	}
	if loaded > 0 || e.watched(t) {
		return ErrMoved // statistics were read that are not written, or all living servers must see it
	}
	t.head.Version++
	t.gather(&t.scratch.set)
	t.scratch.set.Fresh = t.newKeys()
	if err := e.store.Attempt(e.life, &t.scratch.set, before, t.head, &t.guessing.met); err != nil {
		e.fortune.failed()
		e.recent.forget(t.guessing.drafts)
		return err
	}
	e.fortune.succeeded()
	e.recent.wrote(t.scratch.set.Writes, t.head.Version)
	e.history.add(t.head.Version, t.over, &t.scratch.set)
	e.common.commits.Add(1)
	e.publish(t)
	return nil
}

// updateTentatively runs one update without the lock. done says that its outcome counts.
func (e *Shared) updateTentatively(ctx context.Context, fn func(*tx) error, m *memory) (done bool, err error) {
	if err := e.lockWriter(ctx); err != nil {
		return true, err
	}
	defer e.unlockWriter()
	t := e.beginTentative(ctx, []*memory{m})
	if t == nil {
		return false, nil
	}
	defer t.End()
	if fn(&t.tx) != nil {
		return false, nil
	}
	err = t.Commit()
	return !t.Moved(err), err
}
