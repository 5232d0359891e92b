// Package share lets the updates of several goroutines share one commit.
package share

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/internal/runtimehints"
	"github.com/duskdb/duskdb/storage"
)

// MaxGroup is how many updates may share one commit.
const MaxGroup = 64

// Run is a transaction in which updates run one after the other.
type Run interface {
	storage.Tx
	// Touched is the number of attempts to write.
	Touched() int
	// Commit commits what the updates have written.
	Commit() error
	// End makes the transaction unusable.
	End()
}

// Finisher is a Run whose writes are not safe yet when Commit returns, although
// the next transaction sees them. Finish waits until they are. It is called
// after a Commit that succeeded, and by a goroutine that has handed on the right
// to write, so that the next group runs in the meantime.
type Finisher interface {
	Finish() error
}

// Engine is an engine with one writer at a time.
type Engine interface {
	// Writer holds one token: the right to write.
	Writer() chan struct{}
	// BeginGroup begins a transaction. With a nil context it has that of the engine.
	// The caller has the right to write.
	BeginGroup(ctx context.Context) (Run, error)
	// Apart reports whether the updates of a group that could not be committed
	// because of err may succeed one by one.
	Apart(err error) bool
}

// Preparing is an Engine that uses, for a group, what each of its updates has prepared.
type Preparing interface {
	Engine
	// BeginGroupOf is BeginGroup for updates that have prepared this. Unless it has to be
	// firm, the transaction may be [Optimistic].
	BeginGroupOf(ctx context.Context, prepared []any, firm bool) (Run, error)
}

// Optimistic is a Run that may have begun on a state that is not the latest. If one of its
// updates fails, or its commit, nothing of it counts: the group runs again, in a
// firm transaction.
type Optimistic interface {
	Optimistic() bool
	// Moved reports whether a commit has failed because the state is not the latest:
	// certainly nothing is committed.
	Moved(err error) bool
}

// Restarter is a Run that can begin again on the state on which it began.
type Restarter interface {
	// Restart ends the transaction and returns another one; nil: it cannot.
	Restart() Run
}

// update is an update in the queue. The goroutine that has the right to write
// runs it.
type update struct {
	ctx      context.Context
	fn       func(storage.Tx) error
	prepared any
	err      error
	panicked any
	taken    bool          // by a group; guarded by the queue's lock
	done     chan struct{} // receives once
	group    []*update     // memory for the groups that its goroutine leads
}

// obtain returns an update that is not in use.
func (q *Queue) obtain() *update {
	if u, ok := q.unused.Get().(*update); ok {
		return u
	}
	return &update{done: make(chan struct{}, 1)}
}

// release makes an update available again. Nothing refers to it any more.
func (q *Queue) release(u *update) {
	clear(u.group)
	*u = update{done: u.done, group: u.group[:0]}
	q.unused.Put(u)
}

// Queue holds the waiting updates of an engine.
type Queue struct {
	mu      sync.Mutex
	waiting []*update
	unused  sync.Pool // unused *update
	alone   int       // groups of one update in a row; guarded by the right to write
}

func (q *Queue) add(u *update) {
	q.mu.Lock()
	q.waiting = append(q.waiting, u)
	q.mu.Unlock()
}

// Waiting is the number of updates in the queue.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// take removes the updates that have waited longest, and appends them to an empty group.
func (q *Queue) take(group []*update) []*update {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), MaxGroup)
	group = append(group, q.waiting[:n]...)
	q.waiting = slices.Delete(q.waiting, 0, n)
	for _, u := range group {
		u.taken = true
	}
	return group
}

// isTaken reports whether a group has an update.
func (q *Queue) isTaken(u *update) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return u.taken
}

// remove removes an update from the queue. It returns false if the update has
// already been taken.
func (q *Queue) remove(u *update) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == u {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// Update runs fn. The goroutine that gets the right to write runs all waiting
// updates, including its own, in one transaction and commits them as one group.
// Under load this halves the cost of each update.
func (q *Queue) Update(ctx context.Context, h Engine, fn func(storage.Tx) error) error {
	return q.UpdateWith(ctx, h, nil, fn)
}

// UpdateWith is Update for an update that has prepared something for the engine, which is
// [Preparing].
func (q *Queue) UpdateWith(ctx context.Context, h Engine, prepared any, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := q.obtain()
	u.ctx, u.fn, u.prepared = ctx, fn, prepared
	q.add(u)
	q.await(h, u)
	err, panicked := u.err, u.panicked
	q.release(u)
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// await waits until an update is done, or until its context ends before a group takes it.
func (q *Queue) await(h Engine, u *update) {
	select { // mostly nobody else writes
	case <-h.Writer():
		q.lead(h, u)
	default:
	}
	for !q.isTaken(u) {
		select {
		case <-h.Writer():
			q.lead(h, u)
		case <-u.done:
			return
		case <-u.ctx.Done():
			if q.remove(u) {
				u.err = u.ctx.Err()
				return
			}
		}
	}
	<-u.done
}

// lead runs groups until own belongs to one, or until a group has to finish,
// before which it hands on the right to write. The caller has that right.
func (q *Queue) lead(h Engine, own *update) {
	leading := true
	defer func() {
		if leading {
			h.Writer() <- struct{}{}
		}
	}()
	for !q.isTaken(own) {
		if q.alone < lonely || q.alone%probe == 0 {
			runtimehints.Yield() // to goroutines that are about to write, and may join
		}
		group := q.take(own.group[:0])
		own.group = group
		if q.alone++; len(group) > 1 {
			q.alone = 0
		}
		serve(h, group, &leading)
		if !leading {
			return
		}
	}
}

// serve runs a group and waits until its writes are safe. If they have to
// finish, it hands on the right to write first.
func serve(h Engine, group []*update, leading *bool) {
	defer func() {
		for _, u := range group {
			u.done <- struct{}{} // it has room; from then on the update may be used again
		}
	}()
	ran, finisher := runGroup(h, group)
	if finisher == nil {
		return
	}
	*leading = false
	h.Writer() <- struct{}{}
	fail(ran, finisher.Finish())
}

// After this many groups of a single update, the writer no longer yields to
// let others join, because that may cost a thread switch; it yields only once
// in probe groups.
const (
	lonely = 16
	probe  = 64
)

// runGroup runs updates and commits them together. If one fails after it has
// changed something, the state is discarded and the others run again. It returns
// those that are committed but have to finish.
func runGroup(h Engine, group []*update) (ran []*update, finisher Finisher) {
	left := group
	if ran, finisher, done := runOptimistically(h, group); done {
		return ran, finisher
	}
	var t Run
	for restarts := 0; len(left) > 0; restarts++ {
		if restarts == maxRestarts { // many fail: no run should be repeated for each of them
			end(t)
			runEach(h, left)
			return nil, nil
		}
		var err error
		if t == nil {
			t, err = begin(groupContext(left), h, left, true)
		}
		if err != nil {
			fail(left, err)
			return nil, nil
		}
		ran, clean := runAll(t, left)
		if !clean {
			t = restart(t)
			left = ran
			continue
		}
		err = t.Commit()
		t.End()
		if err != nil && len(ran) > 1 && h.Apart(err) {
			runEach(h, ran)
			return nil, nil
		}
		if s, ok := t.(Finisher); ok && err == nil {
			return ran, s
		}
		fail(ran, err)
		return nil, nil
	}
	end(t)
	return nil, nil
}

// runOptimistically runs a group in a transaction that may fail for no fault of its own.
// done says that its outcome counts.
func runOptimistically(h Engine, group []*update) (ran []*update, finisher Finisher, done bool) {
	if _, ok := h.(Preparing); !ok {
		return nil, nil, false
	}
	t, err := begin(groupContext(group), h, group, false)
	if err != nil {
		return nil, nil, false // as the firm one will
	}
	defer t.End()
	optimistic, ok := t.(Optimistic)
	if !ok || !optimistic.Optimistic() {
		return nil, nil, false
	}
	if ran, _ = runAll(t, group); len(ran) == len(group) {
		switch err := t.Commit(); {
		case err == nil:
			finisher, _ = t.(Finisher)
			return ran, finisher, true
		case !optimistic.Moved(err):
			fail(ran, err)
			return nil, nil, true
		}
	}
	for _, u := range group {
		u.err, u.panicked = nil, nil
	}
	return nil, nil, false
}

// restart returns a transaction on the state on which another one began, or nil.
func restart(t Run) Run {
	if r, ok := t.(Restarter); ok {
		if next := r.Restart(); next != nil {
			return next
		}
	}
	t.End()
	return nil
}

func end(t Run) {
	if t != nil {
		t.End()
	}
}

// begin begins a transaction for a group.
func begin(ctx context.Context, h Engine, group []*update, firm bool) (Run, error) {
	engine, ok := h.(Preparing)
	if !ok {
		return h.BeginGroup(ctx)
	}
	prepared := make([]any, len(group))
	for i, u := range group {
		prepared[i] = u.prepared
	}
	return engine.BeginGroupOf(ctx, prepared, firm)
}

// maxRestarts is how often the runs of a group start over before its updates run one by
// one.
const maxRestarts = 4

func fail(group []*update, err error) {
	for _, u := range group {
		u.err = err
	}
}

// runEach runs updates one by one: after their group could not be committed for
// lack of space, since those that free space may still succeed, or if many of them
// fail.
func runEach(h Engine, group []*update) {
	for i, u := range group {
		t, err := begin(u.ctx, h, group[i:i+1], true)
		if err != nil {
			u.err = err
			continue
		}
		if ran, _ := runAll(t, group[i:i+1]); len(ran) == 1 {
			u.err = t.Commit()
		}
		t.End()
		if s, ok := t.(Finisher); ok && u.err == nil {
			u.err = s.Finish()
		}
	}
}

// groupContext is the context of a single update, otherwise the engine's: the
// deadline of one update must not cancel the others.
func groupContext(group []*update) context.Context {
	if len(group) == 1 {
		return group[0].ctx
	}
	return nil
}

// runAll runs updates one after the other and returns those that succeeded.
// clean is false if a failed update has left changes: then it returns those that
// have to run on a state without them.
func runAll(t Run, group []*update) (ran []*update, clean bool) {
	for i, u := range group {
		before := t.Touched()
		if u.err = u.run(t); u.err != nil && t.Touched() != before { // the next ones would see what is to be undone
			return append(succeeded(group[:i]), group[i+1:]...), false
		}
	}
	return succeeded(group), true
}

// succeeded returns the updates that have not failed.
func succeeded(group []*update) []*update {
	failed := func(u *update) bool { return u.err != nil }
	if !slices.ContainsFunc(group, failed) {
		return slices.Clip(group)
	}
	return slices.DeleteFunc(slices.Clone(group), failed)
}

// run executes the update and stores a panic for the goroutine that submitted
// it.
func (u *update) run(t Run) (err error) {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			u.panicked, err = p, fmt.Errorf("panic in an update: %v", p)
		}
	}()
	return u.fn(t)
}
