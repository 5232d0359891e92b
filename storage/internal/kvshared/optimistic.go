package kvshared

import (
	"context"
	"errors"
	"slices"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// An optimistic commit makes one round trip instead of two. It does not take the lock
// first: the updates run on what their dry runs have read and on the statistics in
// memory, and the trip that writes everything also checks that all of it is still so. If
// it is not, nothing is written, and the updates run again under the lock.
//
// That succeeds nearly always as long as one server writes. When it fails, the
// next commits take the lock first, twice as many as the last time.

// Conditions are what a commit without the lock takes for granted beside the head.
type Conditions struct {
	None  []kv.Span  // ranges without any keys
	Stats []StatsRow // the versions of the statistics that the commit replaces
}

// backoff decides whether commits are worth trying without the lock.
type backoff struct {
	pause int // the number of commits that take the lock after a failure
	left  int // how many of them are still to come
}

const maxPause = 256

// allows reports whether to try.
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

// optimism is what a run without the lock assumes and needs.
type optimism struct {
	conditions Conditions
	stats      []uint32 // numbers of the collections whose statistics it has used
	moved      bool     // it has needed something that no dry run has read
}

// stat notes that the statistics of a collection are used.
func (o *optimism) stat(num uint32) {
	if !slices.Contains(o.stats, num) {
		o.stats = append(o.stats, num)
	}
}

// assumeFree takes a unique key for new that no dry run has looked for. That is a condition
// of the commit.
func (t *tx) assumeFree(c *kv.Coll, x *kv.Index, order []byte) {
	s := kv.OrderSpan(c.Num, x.Num, order)
	id := endKey{string(s.Lo), string(s.Hi), false}
	if _, known := t.cached.ends[id]; !known {
		t.cached.ends[id] = nil
		t.optimistic.conditions.None = append(t.optimistic.conditions.None, s)
	}
}

// unreadableState is the state of an optimistic transaction, as far as dry runs have not read it:
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
func (e *Engine) beginOptimistic(ctx context.Context, sets []*readSet) *tx {
	head, cat := *e.known.head.Load(), e.known.catalog.Load()
	if cat == nil || head.Catalog != cat.version || slices.ContainsFunc(sets, (*readSet).needsLock) || !e.writer.backoff.allows() {
		return nil
	}
	o := &optimism{}
	from := unreadableState{head, o}
	cached := combine(sets, isStored).after(e.writer.history.upTo(head.Version), from)
	if cached == nil {
		return nil
	}
	t := &tx{phase: committing, state: from, catalog: cat, optimistic: o, head: head, cached: cached}
	e.on(ctx, cached, t).MakeWritable(&e.writer.scratch)
	return t
}

// needsLock reports whether a commit cannot be tried without the lock: not all reads are
// known, or the claims of a transaction must be counted.
func (m *readSet) needsLock() bool { return m == nil || m.full() || m.txn != 0 }

// Optimistic reports whether the transaction runs without the lock: if one of its
// updates fails, or its commit, they must run again.
func (t *tx) Optimistic() bool { return t.optimistic != nil }

// Moved reports whether an optimistic commit has failed because something is not as it
// was taken for.
func (t *tx) Moved(err error) bool { return errors.Is(err, ErrMoved) }

// commitOptimistic commits without having had the lock. It fails with ErrMoved if
// anything is not as it was taken for, or if the commit needs the lock.
func (e *Engine) commitOptimistic(t *tx) error {
	o := t.optimistic

	// 1. The run must have found all that it needed in what dry runs have read.
	if o.moved || !t.DropIdleChanges() {
		e.writer.backoff.failed()
		return ErrMoved
	}

	// 2. What other servers must see before the Update returns needs the lock.
	if e.watched(t) || slices.ContainsFunc(t.Changes, needsCatalog) {
		return ErrMoved
	}

	// 3. The statistics that are replaced must be of the versions that are known. Others
	// than these must not have been used.
	used := len(o.stats)
	for _, ch := range t.Changes {
		if slices.Contains(o.stats, ch.After.Num) {
			used--
		}
		o.conditions.Stats = append(o.conditions.Stats, StatsRow{Num: ch.After.Num, Version: int64(ch.Before.Stamp)})
	}
	if used > 0 {
		return ErrMoved
	}

	// 4. One trip makes sure that nobody else has committed, checks the conditions, writes
	// and commits.
	before, _ := t.state.Head()
	t.head.Version++
	defer t.Scratch.Release()
	if err := e.store.Attempt(t.Ctx, t.writes(), before, t.head, &o.conditions); err != nil {
		e.writer.backoff.failed()
		return err
	}
	e.writer.backoff.succeeded()

	// 5. This server knows what has changed.
	e.committed(t)
	return nil
}

// needsCatalog reports whether a change is one of the catalog.
func needsCatalog(ch *kv.Change) bool {
	return ch.After == nil || ch.Before == nil || ch.Description || moreArrays(ch)
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
