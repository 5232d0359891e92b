package bunt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// small is a disk with room for so many bytes in one directory.
type small struct {
	dir      string
	capacity atomic.Int64 // maintenance reads it too
}

func (s *small) used() (n int64) {
	files, _ := os.ReadDir(s.dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

func (s *small) space(string) (total, free int64, err error) {
	capacity := s.capacity.Load()
	return capacity, max(0, capacity-s.used()), nil
}

// fault lets each write succeed that begins on a disk that is not full.
func (s *small) fault(step, path string) error {
	room := s.capacity.Load() - s.used()
	if step == "reserve" {
		room -= leastReserve
	}
	if (step == "write" || step == "reserve" || step == "state") && room <= 0 {
		return &os.PathError{Op: step, Path: path, Err: syscall.ENOSPC}
	}
	return nil
}

// openSmall opens an engine on a disk of 4 MB, of which it keeps 256 KB. It does
// nothing in the background.
func openSmall(t *testing.T) (*Engine, *small) {
	t.Helper()
	s := &small{dir: t.TempDir()}
	s.capacity.Store(4 << 20)
	e, err := Open(Options{Path: s.dir, Indexer: storagetest.Indexer{}, JournalInterval: 1 << 60, CompactMinBytes: -1, Fault: s.fault, spans: s.space})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	create(t, e, storagetest.UniqueSpec("_id"))
	return e, s
}

// fillDisk inserts until the disk is full, and returns how many documents there
// are.
func fillDisk(t *testing.T, e *Engine) (n int32) {
	t.Helper()
	text := value.String(strings.Repeat("x", 10_000))
	for ; ; n++ {
		err := inColl(e, ns, func(c storage.Collection) error {
			_, err := c.Insert(value.NewDoc("_id", value.Int32(n), "s", text), 1)
			return err
		})
		if noSpace(err) {
			return n
		}
		must(t, err)
		if n%16 == 0 {
			must(t, e.tidy())
		}
	}
}

func remove(e *Engine, id storage.RecordID) error {
	return inColl(e, ns, func(c storage.Collection) error { return storagetest.Done(c.Delete(id)) })
}

// TestReserve: on a full disk, deletes succeed, and inserts and updates fail, even if
// deletes have freed space for them. Once most is deleted, the log is compacted by
// itself, and writes succeed again.
func TestReserve(t *testing.T) {
	e, s := openSmall(t)
	n := fillDisk(t, e)
	if !isThere(filepath.Join(s.dir, reserveName)) {
		t.Fatal("there is no reserve")
	}
	for id := range storage.RecordID(n - 10) {
		must(t, remove(e, id+1))
		if err := put(e, 1_000_000); !noSpace(err) {
			t.Fatalf("after %d deletes, an insert: %v", id+1, err)
		}
	}
	if isThere(filepath.Join(s.dir, reserveName)) {
		t.Error("the reserve is still held")
	}
	err := inColl(e, ns, func(c storage.Collection) error {
		return storagetest.Done(c.Update(storage.RecordID(n), value.NewDoc("_id", value.Int32(n-1), "s", value.String("short")), 1))
	})
	if !noSpace(err) {
		t.Errorf("an update: %v", err)
	}
	before := e.sync.fileSize()
	func() { // wait for what is under way
		e.maintenance.Lock()
		defer e.maintenance.Unlock()
	}()
	must(t, e.tidy())
	if size := e.sync.fileSize(); size > before/10 {
		t.Errorf("the log has %d bytes, it had %d", size, before)
	}
	must(t, put(e, 1_000_000))
	if e.reserve.spent.Load() {
		t.Error("the engine still waits for space for the reserve")
	}
	want := storagetest.Dump(e)
	must(t, e.Close())
	if got := storagetest.Dump(openAt(t, s.dir)); got != want {
		t.Errorf("reopened\n%s\nwant\n%s", got, want)
	}
}

// TestReserveDrop: a collection can be dropped, also by a transaction, and a compaction
// that needs no more space than the reserve succeeds.
func TestReserveDrop(t *testing.T) {
	e, s := openSmall(t)
	fillDisk(t, e)
	s.capacity.Store(s.used()) // not one byte more
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	s.capacity.Store(s.used() + 1000)
	must(t, e.Compact(ctx))
	if size := e.sync.fileSize(); size > 1000 {
		t.Errorf("the log has %d bytes", size)
	}
	create(t, e)
	must(t, put(e, 1))
}

// TestReserveTooSmall: a compaction that needs more says how much.
func TestReserveTooSmall(t *testing.T) {
	e, _ := openSmall(t)
	fillDisk(t, e)
	err := e.Compact(ctx)
	if !noSpace(err) || !strings.Contains(err.Error(), "a compaction needs about") {
		t.Errorf("error %v", err)
	}
	must(t, remove(e, 1))
}

// TestReserveIsNotForMoves that grow a collection as they shrink it, as writes to
// a capped one do; a move to another collection counts as a delete.
func TestReserveIsNotForMoves(t *testing.T) {
	e, _ := openSmall(t)
	other := storage.Namespace{DB: "db", Coll: "other"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(other, nil, nil)
		return err
	}))
	fillDisk(t, e)
	err := inColl(e, ns, func(c storage.Collection) error {
		if err := storagetest.Done(c.Delete(1)); err != nil {
			return err
		}
		_, err := c.Insert(value.NewDoc("_id", value.Int32(-1)), 1)
		return err
	})
	if !noSpace(err) {
		t.Errorf("a write to a capped collection: %v", err)
	}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		from, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		to, err := tx.Collection(other)
		if err != nil {
			return err
		}
		r, _ := storagetest.Get(from, 1)
		if _, err := to.Insert(r.Doc, 1); err != nil {
			return err
		}
		return storagetest.Done(from.Delete(1))
	}))
}

// TestReserveShared: updates that share a commit do not share its failure.
func TestReserveShared(t *testing.T) {
	e, _ := openSmall(t)
	fillDisk(t, e)
	var errs [2]error
	var wg sync.WaitGroup
	begun, release := make(chan struct{}), make(chan struct{})
	wg.Go(func() { // so that they wait for each other
		_ = e.Update(ctx, func(storage.Tx) error {
			close(begun)
			<-release
			return nil
		})
	})
	<-begun
	wg.Go(func() {
		errs[0] = e.UpdateShared(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(-1), "s", value.String(strings.Repeat("x", 20_000))), 1)
			}
			return err
		})
	})
	wg.Go(func() {
		errs[1] = e.UpdateShared(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			return storagetest.Done(c.Delete(1))
		})
	})
	close(release)
	wg.Wait()
	if !noSpace(errs[0]) || errs[1] != nil {
		t.Errorf("insert: %v, delete: %v", errs[0], errs[1])
	}
}

// TestFullDiskCloses: an engine on a full disk is closed without an error, and
// nothing is lost.
func TestFullDiskCloses(t *testing.T) {
	e, s := openSmall(t)
	fillDisk(t, e)
	must(t, remove(e, 1)) // the reserve is gone
	s.capacity.Store(s.used())
	want := storagetest.Dump(e)
	must(t, e.Close())
	if got := storagetest.Dump(openAt(t, s.dir)); got != want {
		t.Error("the state is another one")
	}
	if err := errReserved; !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}
