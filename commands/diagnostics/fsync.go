package diagnostics

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func lock(l *limits.FsyncLock) int64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Count++
	return l.Count
}

func unlock(l *limits.FsyncLock) (left int64, ok bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.Count == 0 {
		return 0, false
	}
	if l.Count--; l.Count == 0 {
		l.Released.Signal()
	}
	return l.Count, true
}

type fsyncArgs struct {
	Fsync   value.Value    `arg:"fsync"`
	Lock    args.LooseBool `arg:"lock"`
	Async   args.LooseBool `arg:"async"`
	Timeout *args.IntOnly  `arg:"fsyncLockAcquisitionTimeoutMillis"`
}

var fsyncSpec = args.New[fsyncArgs]("fsync")

func runFsync(c *kernel.Call) error {
	var a fsyncArgs
	if err := fsyncSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if err := c.Svc.Engine.Sync(c.Ctx); err != nil {
		return err
	}
	if !a.Lock {
		c.Reply.Int32("numFiles", 1)
		return nil
	}
	n := lock(c.Svc.Fsync)
	c.Reply.String("info", "now locked against writes, use db.fsyncUnlock() to unlock").Int64("lockCount", n).
		String("seeAlso", "http://dochub.mongodb.org/core/fsynccommand")
	return nil
}

func runFsyncUnlock(c *kernel.Call) error {
	left, ok := unlock(c.Svc.Fsync)
	if !ok {
		return mongoerr.New(mongoerr.IllegalOperation, "fsyncUnlock called when not locked")
	}
	c.Reply.String("info", "fsyncUnlock completed").Int64("lockCount", left)
	return nil
}
