package limits

import (
	"sync"

	"github.com/duskdb/duskdb/commands/broadcast"
)

// FsyncLock is the state of {fsync: 1, lock: true}, which counts how often it was
// taken. While it is held, writes wait.
type FsyncLock struct {
	Mu       sync.Mutex           // guards Count
	Count    int64                // locks that have not been released
	Released *broadcast.Broadcast // signalled when Count falls to 0
}

// NewFsyncLock returns a lock that is not held.
func NewFsyncLock() *FsyncLock { return &FsyncLock{Released: broadcast.New()} }

// Held reports whether writes have to wait.
func (l *FsyncLock) Held() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Count > 0
}
