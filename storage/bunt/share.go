package bunt

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// mostShared is how many updates may share one commit.
const mostShared = 64

// sharedUpdate is an update in the queue. The goroutine that holds the write
// lock runs it.
type sharedUpdate struct {
	ctx      context.Context
	fn       func(storage.Tx) error
	err      error
	panicked any
	done     chan struct{}
}

// sharedQueue holds the waiting updates.
type sharedQueue struct {
	mu      sync.Mutex
	waiting []*sharedUpdate
}

func (q *sharedQueue) add(u *sharedUpdate) {
	q.mu.Lock()
	q.waiting = append(q.waiting, u)
	q.mu.Unlock()
}

// take removes the updates that have waited longest, and returns them.
func (q *sharedQueue) take() []*sharedUpdate {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), mostShared)
	group := append([]*sharedUpdate(nil), q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	return group
}

// remove removes an update from the queue. It returns false if the update has
// already been taken.
func (q *sharedQueue) remove(u *sharedUpdate) bool {
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

// UpdateShared implements storage.Sharer. The goroutine that gets the write
// lock runs all waiting updates, including its own, on one copy of the state
// and writes them to the log as one group. Under load this halves the cost of
// each update.
func (e *Engine) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &sharedUpdate{ctx: ctx, fn: fn, done: make(chan struct{})}
	e.shared.add(u)
	select {
	case <-e.writer:
		e.lead(u)
	case <-u.done:
	case <-ctx.Done():
		if e.shared.remove(u) {
			return ctx.Err()
		}
		<-u.done
	}
	if u.panicked != nil {
		panic(u.panicked)
	}
	return u.err
}

// lead runs groups until own is done. The caller holds the write lock.
func (e *Engine) lead(own *sharedUpdate) {
	defer e.unlockWriter()
	for {
		select {
		case <-own.done:
			return
		default:
		}
		if e.alone < lonely || e.alone%probe == 0 {
			runtime.Gosched() // let goroutines that are about to write join
		}
		group := e.shared.take()
		if e.alone++; len(group) > 1 {
			e.alone = 0
		}
		e.runGroup(group)
	}
}

// After this many groups of a single update, the writer no longer yields to
// let others join, because that may cost a thread switch; it yields only once
// in probe groups.
const (
	lonely = 16
	probe  = 64
)

// runGroup runs updates and commits them together. If one fails after it has
// changed something, the state is discarded and the others run again.
func (e *Engine) runGroup(group []*sharedUpdate) {
	defer func() {
		for _, u := range group {
			close(u.done)
		}
	}()
	if e.root.Load() == nil {
		for _, u := range group {
			u.err = storage.ErrClosed
		}
		return
	}
	left := group
	for len(left) > 0 {
		t := e.newTx(e.groupContext(left), &e.scratch)
		ran, clean := runAll(t, left)
		if !clean {
			t.done = true
			left = ran
			continue
		}
		err := e.commit(t)
		t.done = true
		if noSpace(err) && len(ran) > 1 {
			e.runEach(ran)
			return
		}
		for _, u := range ran {
			u.err = err
		}
		return
	}
}

// runEach runs updates one by one after their group could not be committed for
// lack of space: those that free space may still succeed.
func (e *Engine) runEach(group []*sharedUpdate) {
	for i := range group {
		t := e.newTx(group[i].ctx, &e.scratch)
		if ran, _ := runAll(t, group[i:i+1]); len(ran) == 1 {
			group[i].err = e.commit(t)
		}
		t.done = true
	}
}

// groupContext is the context of a single update, otherwise the engine's: the
// deadline of one update must not cancel the others.
func (e *Engine) groupContext(group []*sharedUpdate) context.Context {
	if len(group) == 1 {
		return group[0].ctx
	}
	return e.life
}

// runAll runs updates one after the other and returns those that succeeded.
// clean is false if a failed update has left changes.
func runAll(t *tx, group []*sharedUpdate) (ran []*sharedUpdate, clean bool) {
	clean = true
	for _, u := range group {
		before := t.touched
		if err := u.run(t); err != nil {
			u.err = err
			clean = clean && t.touched == before
			continue
		}
		ran = append(ran, u)
	}
	return ran, clean
}

// run executes the update and stores a panic for the goroutine that submitted
// it.
func (u *sharedUpdate) run(t *tx) (err error) {
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
