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

// sharedUpdate is an update that waits to be run by whoever has the right to
// write.
type sharedUpdate struct {
	ctx      context.Context
	fn       func(storage.Tx) error
	err      error
	panicked any
	done     chan struct{}
}

// sharedQueue holds the updates that wait.
type sharedQueue struct {
	mu      sync.Mutex
	waiting []*sharedUpdate
}

func (q *sharedQueue) add(u *sharedUpdate) {
	q.mu.Lock()
	q.waiting = append(q.waiting, u)
	q.mu.Unlock()
}

// take removes the updates that waited longest.
func (q *sharedQueue) take() []*sharedUpdate {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), mostShared)
	group := append([]*sharedUpdate(nil), q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	return group
}

// remove takes back an update that nobody has begun; false if it is too
// late.
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

// UpdateShared implements storage.Sharer. Whoever gets the right to write
// runs all updates that wait, his own among them, on one copy of the state
// and writes them to the log as one group: under load this halves the work
// for each.
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

// lead runs groups until own is done. The caller has the right to write.
func (e *Engine) lead(own *sharedUpdate) {
	defer e.unlockWriter()
	for {
		select {
		case <-own.done:
			return
		default:
		}
		if e.alone < lonely || e.alone%probe == 0 {
			runtime.Gosched() // whoever is about to write may join
		}
		group := e.shared.take()
		if e.alone++; len(group) > 1 {
			e.alone = 0
		}
		e.runGroup(group)
	}
}

// A writer who has been alone for so many groups is not kept waiting for
// others, which may cost a switch of threads, but for one group in probe.
const (
	lonely = 16
	probe  = 64
)

// runGroup runs updates and commits them together. One that fails after it
// has changed something takes the others with it: these are run again.
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

// runEach runs updates again that could not be committed together for lack of
// space: those that free some may be.
func (e *Engine) runEach(group []*sharedUpdate) {
	for i := range group {
		t := e.newTx(group[i].ctx, &e.scratch)
		if ran, _ := runAll(t, group[i:i+1]); len(ran) == 1 {
			group[i].err = e.commit(t)
		}
		t.done = true
	}
}

// groupContext is that of the only update, else that of the engine: nobody's
// haste may end the work of others.
func (e *Engine) groupContext(group []*sharedUpdate) context.Context {
	if len(group) == 1 {
		return group[0].ctx
	}
	return e.life
}

// runAll runs updates one after the other and returns those that succeeded.
// clean is false if one that failed has left traces.
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

// run keeps a panic for the goroutine whose update it is.
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
