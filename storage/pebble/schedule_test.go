package pebble

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// maxWait is how long a test waits for what is expected at once.
const maxWait = 30 * time.Second

// merges is a Pebble with merges to be done.
type merges struct {
	mu      sync.Mutex
	waiting int
	allowed int
	began   chan pebble.CompactionGrantHandle
}

func (m *merges) GetAllowedWithoutPermission() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.allowed
}

func (m *merges) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting > 0, pebble.WaitingCompaction{}
}

func (m *merges) Schedule(h pebble.CompactionGrantHandle) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == 0 {
		return false
	}
	m.waiting--
	m.began <- h
	return true
}

func (m *merges) wait(t *testing.T) pebble.CompactionGrantHandle {
	t.Helper()
	select {
	case h := <-m.began:
		return h
	case <-time.After(maxWait):
		t.Fatal("no merge began")
		return nil
	}
}

// TestScheduler: merges wait for begin; then as many run at once as are allowed, and
// the end of one, or a higher limit, lets the next begin.
func TestScheduler(t *testing.T) {
	t.Parallel()
	s, m := newScheduler(), &merges{waiting: 4, allowed: 1, began: make(chan pebble.CompactionGrantHandle, 10)}
	s.Register(2, m)
	s.UpdateGetAllowedWithoutPermission()
	if ok, _ := s.TrySchedule(); ok || len(m.began) > 0 {
		t.Fatal("a merge began before begin")
	}
	s.begin()
	first := m.wait(t)
	if ok, _ := s.TrySchedule(); ok {
		t.Error("one more than allowed")
	}
	first.Done()
	m.wait(t)
	m.mu.Lock()
	m.allowed = 2
	m.mu.Unlock()
	s.UpdateGetAllowedWithoutPermission()
	second := m.wait(t)
	s.Unregister()
	second.Done()
	if ok, _ := s.TrySchedule(); ok || len(m.began) > 0 || m.waiting != 1 {
		t.Errorf("after the end: %v, %d began, %d wait", ok, len(m.began), m.waiting)
	}
}

// TestOpenBeforeMerges: opening does not wait for merges of tables, which begin once
// it is done.
func TestOpenBeforeMerges(t *testing.T) {
	t.Parallel()
	live := t.TempDir()
	e := openAt(t, live)
	e.store.merge.mu.Lock()
	e.store.merge.open = false // so that opening finds tables to be merged
	e.store.merge.mu.Unlock()
	for i := range 6 {
		seed(t, e, i, 1)
		must(t, e.store.db.Flush())
	}
	seed(t, e, 6, 100) // in the log
	dir := copied(t, live)

	var tables atomic.Int64
	isOpen, began := make(chan struct{}), make(chan struct{})
	fault := func(step, path string) error {
		if step != "create" || !strings.HasSuffix(path, ".sst") || tables.Add(1) != 2 {
			return nil // the first is of the log
		}
		select {
		case <-isOpen:
			close(began)
		case <-time.After(maxWait):
		}
		return nil
	}
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Logger: t.Logf, CacheBytes: 32 << 20, Fault: fault})
	must(t, err)
	close(isOpen)
	select {
	case <-began:
	case <-time.After(maxWait):
		t.Error("opening waited for a merge, or there was none")
	}
	if n := count(t, e); n != 106 {
		t.Errorf("%d records", n)
	}
	must(t, e.Close())
}
