package pebble

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler decides when Pebble merges tables. It allows as many merges at once
// as Pebble's own scheduler, but none before Pebble is open: opening would wait for
// one that has begun, which can take seconds.
type scheduler struct {
	db   pebble.DBForCompaction
	poke chan struct{} // receives when more may be allowed than before
	stop chan struct{}
	done chan struct{} // closed when grant has returned

	mu      sync.Mutex
	open    bool
	running int
}

func newScheduler() *scheduler {
	return &scheduler{poke: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// Register is called once, before all other methods.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) { s.db = db }

// begin allows merges from now on.
func (s *scheduler) begin() {
	s.mu.Lock()
	s.open = true
	s.mu.Unlock()
	s.wake()
	go s.grant()
}

// Unregister ends granting. begin has been called.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	s.open = false
	s.mu.Unlock()
	close(s.stop)
	<-s.done
}

// TrySchedule is called, with Pebble's locks held, for a merge that could begin
// now. One that is refused is granted later.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.free() {
		return false, nil
	}
	s.running++
	return true, s
}

// free reports whether another merge may begin. The caller holds mu.
func (s *scheduler) free() bool { return s.open && s.running < s.db.GetAllowedWithoutPermission() }

// UpdateGetAllowedWithoutPermission is called, with Pebble's locks held, when more
// merges may be allowed than before.
func (s *scheduler) UpdateGetAllowedWithoutPermission() { s.wake() }

func (s *scheduler) wake() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// grant lets merges begin that were refused before. At least one merge is always
// allowed, so one that waits has others before it, and the last of these wakes
// grant when it ends.
func (s *scheduler) grant() {
	defer close(s.done)
	for {
		select {
		case <-s.poke:
		case <-s.stop:
			return
		}
		for s.grantOne() {
		}
	}
}

// grantOne lets a merge begin if one waits and may. It calls Pebble, so it holds no
// lock: Pebble's come before the scheduler's.
func (s *scheduler) grantOne() bool {
	s.mu.Lock()
	free := s.free()
	s.mu.Unlock()
	if !free {
		return false
	}
	if waiting, _ := s.db.GetWaitingCompaction(); !waiting || !s.db.Schedule(s) {
		return false
	}
	s.mu.Lock()
	s.running++
	s.mu.Unlock()
	return true
}

// Done is called at the end of a merge.
func (s *scheduler) Done() {
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
	s.wake()
}

// Started is called at the beginning of a merge.
func (*scheduler) Started() {}

// MeasureCPU is called by the goroutines of a merge.
func (*scheduler) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats is called in the course of a merge.
func (*scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}

var (
	_ pebble.CompactionScheduler   = (*scheduler)(nil)
	_ pebble.CompactionGrantHandle = (*scheduler)(nil)
)
