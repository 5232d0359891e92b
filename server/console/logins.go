package console

import (
	"container/list"
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// logins limits what clients can take that do not know a password. They have nothing in
// common with the slots of commands.
//
// Deriving the keys of a password costs several milliseconds of a processor: only some
// logins do that at a time, and the others wait. The replies to wrong passwords are delayed, for
// which a login waits without such a slot. If too many wait, the one that has waited for longest
// ends: as replies to right passwords are not delayed, it has a wrong one.
type logins struct {
	slots *semaphore.Weighted
	mu    sync.Mutex
	open  list.List // *login, oldest first
}

// login is one that has not ended.
type login struct {
	leave func() // ends it
	ended bool   // whether it was ended to make room; guarded by logins.mu
}

func newLogins() *logins {
	return &logins{slots: semaphore.NewWeighted(max(1, int64(runtime.GOMAXPROCS(0))/2))}
}

// enter registers a login, which leave ends to make room for others. crowded reports
// whether that has happened; done must be called at the end.
func (l *logins) enter(leave func()) (crowded func() bool, done func()) {
	x := &login{leave: leave}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.open.PushBack(x)
	if l.open.Len() > maxLogins {
		oldest := l.open.Remove(l.open.Front()).(*login)
		oldest.ended = true
		oldest.leave()
	}
	crowded = func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return x.ended
	}
	done = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open.Remove(e) // does nothing if it was removed
	}
	return crowded, done
}

// compute runs something that costs processor time when there is a slot for it.
func (l *logins) compute(ctx context.Context, fn func() error) error {
	if err := l.slots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.slots.Release(1)
	return fn()
}
