package kernel

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/mongoerr"
)

// FsyncLock is the state of {fsync: 1, lock: true}: while it is held, writes
// wait.
type FsyncLock struct {
	Mu       sync.Mutex
	Count    int64
	Released *broadcast.Broadcast
}

func NewFsyncLock() *FsyncLock { return &FsyncLock{Released: broadcast.New()} }

func (l *FsyncLock) Held() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Count > 0
}

// waitUnlocked blocks a write while the lock is held.
func (c *Call) waitUnlocked() error { return c.Svc.Writable(c.Ctx) }

// Writable waits until nobody holds the lock.
func (s *Service) Writable(ctx context.Context) error {
	l := s.Fsync
	for l.Held() {
		released := l.Released.Wait()
		if !l.Held() {
			return nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return mongoerr.From(context.Cause(ctx))
		}
	}
	return nil
}
