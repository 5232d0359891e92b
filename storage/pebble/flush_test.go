package pebble

import (
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// toRepeat are enough records for a log that closing does not leave as it is.
const toRepeat = 3 * minFlush / 150

// TestCloseFlushes: opening after a stop in the midst of writes has no log to
// repeat.
func TestCloseFlushes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openAt(t, dir)
	seed(t, e, 0, toRepeat)
	if m := e.store.db.Metrics(); m.WAL.Size < minFlush || m.Flush.Count > 0 {
		t.Fatalf("a log of %d bytes, %d flushes", m.WAL.Size, m.Flush.Count)
	}
	must(t, e.Close())
	e = openAt(t, dir)
	if m := e.store.db.Metrics(); m.WAL.BytesIn > 0 || m.MemTable.Count > 1 || m.Total().TablesCount == 0 {
		t.Errorf("after opening again: %d bytes of logs, %d tables in memory, %d on disk", m.WAL.BytesIn, m.MemTable.Count, m.Total().TablesCount)
	}
	if n := count(t, e); n != toRepeat {
		t.Errorf("%d records", n)
	}
	seed(t, e, toRepeat, 1)
	must(t, e.Close()) // leaves a small log as it is
	if n := count(t, openAt(t, dir)); n != toRepeat+1 {
		t.Errorf("%d records after a small log", n)
	}
}

// TestCloseOnFullDisk: closing does not wait for tables that cannot be written,
// although no time passes, and the log keeps what is not in them.
func TestCloseOnFullDisk(t *testing.T) {
	t.Parallel()
	f := &faulty{step: "create"}
	dir := t.TempDir()
	e, err := Open(Options{
		Path: dir, Indexer: storagetest.Indexer{}, Fault: f.at, Logger: t.Logf,
		Clock: clock.NewManual(time.UnixMilli(1_700_000_000_000)),
	})
	must(t, err)
	seed(t, e, 0, toRepeat)
	cause := error(syscall.ENOSPC)
	f.tables.Store(&cause)
	must(t, e.Close())
	if n := count(t, openAt(t, dir)); n != toRepeat {
		t.Errorf("%d records", n)
	}
}
