package limits

import (
	"sync"

	"github.com/duskdb/duskdb/commands/broadcast"
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
