package commands

import (
	"context"
	"sync"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// fsyncLock is the state of {fsync: 1, lock: true}: while it is held, writes
// wait.
type fsyncLock struct {
	mu       sync.Mutex
	count    int64
	released *broadcast
}

func newFsyncLock() *fsyncLock { return &fsyncLock{released: newBroadcast()} }

func (l *fsyncLock) lock() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return l.count
}

func (l *fsyncLock) unlock() (left int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == 0 {
		return 0, false
	}
	if l.count--; l.count == 0 {
		l.released.signal()
	}
	return l.count, true
}

func (l *fsyncLock) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count > 0
}

// waitUnlocked blocks a write while the lock is held.
func (c *Call) waitUnlocked() error { return c.svc.writable(c.ctx) }

// writable waits until nobody holds the lock.
func (s *Service) writable(ctx context.Context) error {
	l := s.fsync
	for l.held() {
		released := l.released.wait()
		if !l.held() {
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

type fsyncArgs struct {
	Fsync   value.Value `arg:"fsync"`
	Lock    looseBool   `arg:"lock"`
	Async   looseBool   `arg:"async"`
	Timeout *intOnly    `arg:"fsyncLockAcquisitionTimeoutMillis"`
}

var fsyncSpec = newArgs[fsyncArgs]("fsync")

func runFsync(c *Call) error {
	var a fsyncArgs
	if err := fsyncSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if err := c.svc.engine.Sync(c.ctx); err != nil {
		return err
	}
	if !a.Lock {
		c.reply.Int32("numFiles", 1)
		return nil
	}
	n := c.svc.fsync.lock()
	c.reply.String("info", "now locked against writes, use db.fsyncUnlock() to unlock").Int64("lockCount", n).
		String("seeAlso", "http://dochub.mongodb.org/core/fsynccommand")
	return nil
}

func runFsyncUnlock(c *Call) error {
	left, ok := c.svc.fsync.unlock()
	if !ok {
		return mongoerr.New(mongoerr.IllegalOperation, "fsyncUnlock called when not locked")
	}
	c.reply.String("info", "fsyncUnlock completed").Int64("lockCount", left)
	return nil
}
