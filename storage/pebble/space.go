package pebble

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// A log that cannot be written ends all writes until a restart, and a table in
// memory needs space to be written. So writes that need more space are refused
// before the disk is full; those that delete may use what is left.

// reserved is how much of the disk is kept for deletes and for merges of tables, and
// what part of a small disk. Merges give space back only at their end, so they need
// most of it; the last part is for the log and for tables of what is in memory. A
// log takes the space of a table in memory from its beginning.
const (
	reserved       = 128 << 20
	reservedOfDisk = 4
	lastOfReserved = 4
	memtableOfDisk = 32
)

// reserve is what is kept of a disk of a size.
func reserve(total uint64) uint64 { return min(reserved, total/reservedOfDisk) }

// measureEach is the shortest time between two looks at the disk that writes wait
// for.
const measureEach = 100 * time.Millisecond

// sizePerDelete is how much a write set may write for each key that it deletes
// and still count as one that deletes: a delete is noted in the change log.
const sizePerDelete = 1 << 10

var errReserved = fmt.Errorf("%w: the remaining space is reserved for deletes, drops and compactions", syscall.ENOSPC)

// space is what is known about the free space.
type space struct {
	usage func() (total, free uint64, err error)
	low   atomic.Bool
	last  atomic.Int64 // when it was measured, nanoseconds
	since atomic.Int64 // bytes written since then
	step  int64        // how many of them want another look
}

// diskUsage asks the file system.
func (s *store) diskUsage() (total, free uint64, err error) {
	u, err := s.fs.GetDiskUsage(s.opts.Path)
	return u.TotalBytes, u.AvailBytes, err
}

// measure finds out whether there is space for more. What is in memory will need
// some, and logs that will be used again have some.
func (s *store) measure() {
	s.space.last.Store(s.opts.Clock.Now().UnixNano())
	s.space.since.Store(0)
	total, free, err := s.space.usage()
	if err != nil {
		return // a file system that does not say
	}
	m := s.db.Metrics()
	low := free+m.WAL.ObsoletePhysicalSize < reserve(total)+m.MemTable.Size
	if was := s.space.low.Swap(low); low && !was {
		s.trouble.say("space", "storage: the disk of %s is almost full: %d MB are free; what needs more space is refused, deletes go on", s.opts.Path, free>>20)
	}
}

// tight reports whether so little is free that merges of tables must wait.
func (s *store) tight() bool {
	total, free, err := s.space.usage()
	return err == nil && free < reserve(total)/lastOfReserved
}

// maxCrowded is how many merges of tables may fail for want of space until a manual
// compaction gives up: it waits for merges that Pebble tries again, over and over.
const maxCrowded = 5

var errCrowded = fmt.Errorf("%w: too little space for a merge of tables", syscall.ENOSPC)

// whenCrowded calls end if merges of tables keep failing for want of space before ctx
// ends, and then reports so.
func (s *store) whenCrowded(ctx context.Context, end func()) *atomic.Bool {
	select {
	case <-s.trouble.merge: // of an earlier time
	default:
	}
	crowded := new(atomic.Bool)
	s.background.Go(func() {
		for range maxCrowded {
			select {
			case <-s.trouble.merge:
			case <-ctx.Done():
				return
			}
		}
		crowded.Store(true)
		end()
	})
	return crowded
}

// room returns an error if there is no space for a write set.
func (s *store) room(w *kv.WriteSet) error {
	if !s.space.low.Load() || !grows(w) {
		return nil
	}
	if s.opts.Clock.Now().UnixNano()-s.space.last.Load() >= int64(measureEach) {
		s.measure()
	}
	if s.space.low.Load() {
		return errReserved
	}
	return nil
}

// roomFor is room, and looks at the disk if much was written since the last look.
func (s *store) roomFor(w *kv.WriteSet) error {
	if size, _ := weigh(w); s.space.since.Add(int64(size)) >= s.space.step {
		s.measure()
	}
	return s.room(w)
}

// grows reports whether a write set needs more space than it will free.
func grows(w *kv.WriteSet) bool {
	size, deletes := weigh(w)
	return len(w.Drops) == 0 && size > deletes*sizePerDelete
}

// weigh returns how many bytes a write set writes, and how many keys it deletes.
func weigh(w *kv.WriteSet) (size, deletes int) {
	for i := range w.Writes {
		if x := &w.Writes[i]; x.Value == nil {
			deletes++
		} else {
			size += len(x.Key) + len(x.Value)
		}
	}
	return size, deletes
}

// noSpace reports whether an update alone may succeed although the group that it
// was in did not.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrBroken)
}
