package bunt

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// syncer syncs the log through a separate descriptor, so that neither readers
// nor writers wait for the disk. Calls made while a sync is running share the
// next one.
type syncer struct {
	last   atomic.Uint64 // position of the last commit
	synced atomic.Uint64 // all up to this are on disk
	dirty  chan struct{} // wakes the background syncer for the first commit to sync
	times  storage.Durations

	mu      sync.Mutex
	disk    *disk
	file    *os.File // the last file; nil in memory
	older   int64    // bytes of the files before it
	running *syncRun // the sync under way
	err     error    // why a sync failed, after which the state on disk is unknown
	syncs   int64
	failed  int64
}

// syncRun is one fsync for all callers that wait for it.
type syncRun struct {
	done chan struct{}
	err  error
}

// newSyncer opens the descriptor for syncing and syncs the log once. In memory
// there is nothing to sync.
func newSyncer(j *journal) (*syncer, error) {
	s := &syncer{dirty: make(chan struct{}, 1), disk: j.disk}
	if j.path != Memory {
		f, err := j.disk.open(j.path)
		if err != nil {
			return nil, err
		}
		s.file = f
		if err := j.disk.sync(f); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	s.last.Store(j.seq)
	s.synced.Store(j.seq)
	s.older = j.older
	j.synced = s.synced.Load
	return s, nil
}

// committed records a commit that is not synced yet.
func (s *syncer) committed(seq uint64) {
	s.last.Store(seq)
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// wait returns when all earlier commits are on disk.
func (s *syncer) wait(ctx context.Context) error {
	target := s.last.Load()
	for {
		run, mine, err := s.join(target)
		if run == nil {
			return err
		}
		if mine {
			s.run(run)
		}
		select {
		case <-run.done:
			if run.err != nil {
				return run.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join returns the sync to wait for, or nil if everything is synced. If mine
// is set, the caller must run it.
func (s *syncer) join(target uint64) (run *syncRun, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return nil, false, s.err
	case s.synced.Load() >= target:
		return nil, false, nil
	case s.file == nil: // nothing to sync in memory
		s.synced.Store(target)
		return nil, false, nil
	case s.running != nil:
		return s.running, false, nil // the caller checks again afterwards
	}
	s.running = &syncRun{done: make(chan struct{})}
	return s.running, true, nil
}

// run syncs the file.
func (s *syncer) run(r *syncRun) {
	upTo := s.last.Load()
	began := clock.System().Now()
	err := s.disk.sync(s.file)
	s.times.Observe(clock.System().Now().Sub(began))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.syncs++
	if err != nil {
		// The system may have discarded the dirty pages: another sync would succeed
		// without having written them.
		s.failed++
		s.err = fmt.Errorf("%w: sync: %w", ErrBroken, err)
		r.err = s.err
	} else {
		s.synced.Store(upTo)
	}
	s.running = nil
	close(r.done)
}

// failure returns the error of a failed sync.
func (s *syncer) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *syncer) counts() (syncs, failed int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.syncs, s.failed
}

// fileSize is the size of the log, 0 in memory.
func (s *syncer) fileSize() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return 0
	}
	info, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return s.older + info.Size()
}

// replace waits until no sync is running, and makes s sync another file from
// then on, before which there are older bytes. All commits so far are on disk. It clears an
// earlier failure.
func (s *syncer) replace(f *os.File, older int64) {
	s.lockIdle()
	defer s.mu.Unlock()
	_ = s.file.Close()
	s.file, s.older, s.err = f, older, nil
	s.synced.Store(s.last.Load())
}

// reduce notes that the files before the last one have other sizes.
func (s *syncer) reduce(older int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.older = older
}

func (s *syncer) close() {
	s.lockIdle()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	if s.err == nil {
		s.err = storage.ErrClosed
	}
}

// lockIdle waits until no sync is running, and locks mu.
func (s *syncer) lockIdle() {
	for {
		s.mu.Lock()
		run := s.running
		if run == nil {
			return
		}
		s.mu.Unlock()
		<-run.done
	}
}

// syncInBackground syncs commits that no caller waits for, within the journal
// interval.
func (e *Engine) syncInBackground() {
	for {
		select {
		case <-e.sync.dirty:
		case <-e.life.Done():
			return
		}
		timer := e.opts.Clock.NewTimer(e.opts.JournalInterval)
		select {
		case <-timer.C():
		case <-e.life.Done():
			timer.Stop()
			return
		}
		if err := e.sync.wait(context.Background()); err != nil {
			e.opts.Logger("storage: %v", err)
			e.noteFailure(err)
		}
		e.wakeMaintenance()
	}
}
