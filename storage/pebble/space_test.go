package pebble

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestAlmostFull: while there is little space, only deletes are written. Other writes
// succeed when there is more, and the log reports it once.
func TestAlmostFull(t *testing.T) {
	free, log := atomic.Uint64{}, &lines{}
	free.Store(1 << 30)
	manual := clock.NewManual(time.UnixMilli(1_700_000_000_000))
	e, err := Open(Options{
		Path: t.TempDir(), Indexer: storagetest.Indexer{}, CacheBytes: 32 << 20, Clock: manual, Logger: log.logf,
		usage: func() (uint64, uint64, error) { return 100 << 30, free.Load(), nil },
	})
	must(t, err)
	defer e.Close()
	seed(t, e, 0, 100)
	free.Store(reserved)
	e.store.measure() // as after each sync in the background
	for range 5 {
		if err := insert(e, 100, 10); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrBroken) {
			t.Fatalf("an insert returned %v", err)
		}
		must(t, manual.Advance(measureEach))
	}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err == nil {
			_, err = c.Delete(1)
		}
		return err
	}))
	free.Store(1 << 30)
	must(t, manual.Advance(measureEach))
	e.store.measure()
	seed(t, e, 100, 10)
	if n := count(t, e); n != 109 {
		t.Errorf("%d records", n)
	}
	if n := log.with("almost full"); n != 1 {
		t.Errorf("%d lines: %v", n, log.list)
	}
}

// TestMergesLeaveSpace: while the disk is nearly full, merges of tables fail, and tables
// of what is in memory are written all the same.
func TestMergesLeaveSpace(t *testing.T) {
	tight := false
	fs := &files{FS: vfs.NewMem(), wait: func() {}, tight: func() bool { return tight }}
	block := make([]byte, lookEach/4+1)
	write := func(name string, category vfs.DiskWriteCategory) (err error) {
		f, err := fs.Create(name, category)
		must(t, err)
		for n := 0; n < 4 && err == nil; n++ {
			_, err = f.Write(block)
		}
		must(t, f.Close())
		return err
	}
	must(t, write("1.sst", mergeCategory))
	tight = true
	if err := write("2.sst", mergeCategory); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a merge returned %v", err)
	}
	must(t, write("3.sst", "pebble-memtable-flush"))
}

// TestCompactGivesUp: a manual compaction waits for merges of tables. If these keep failing
// for want of space, it ends; other failures do not count.
func TestCompactGivesUp(t *testing.T) {
	s := &store{trouble: &trouble{clock: clock.NewManual(time.UnixMilli(1_700_000_000_000)), merge: make(chan struct{}, 1)}}
	defer s.background.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	crowded := s.whenCrowded(ctx, cancel)
	for range 10 * maxCrowded {
		s.trouble.compacted(pebble.CompactionInfo{Err: errors.New("of the disk")})
	}
	if ctx.Err() != nil || crowded.Load() {
		t.Error("ended because of other failures")
	}
	for ctx.Err() == nil {
		s.trouble.compacted(pebble.CompactionInfo{Err: errCrowded})
		runtime.Gosched()
	}
	if !crowded.Load() {
		t.Error("ended without a reason")
	}
}
