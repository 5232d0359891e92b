package bunt

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// alone runs the test in a separate process, and reports whether this is that process. A
// limit on files applies to all writes of a process, also to those of the testing
// package.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "DUSKDB_TEST_ALONE"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// limitFileSize makes writes beyond n bytes of a file fail, after what still
// fits has been written, as on a full disk. The test must be alone.
func limitFileSize(t *testing.T, n int64) (lift func()) {
	t.Helper()
	signal.Ignore(unix.SIGXFSZ)
	var old unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(n), Max: old.Max}))
	lift = func() { must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old)) }
	t.Cleanup(lift)
	return lift
}

func bigDoc(id int32, size int) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "s", value.String(strings.Repeat("x", size)))
}

// TestDiskFull: a commit that does not fit fails and is neither in memory nor on disk.
// Reads succeed, and so do writes once there is room.
func TestDiskFull(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := t.TempDir()
	e := openAt(t, dir)
	ns := storage.Namespace{DB: "db", Coll: "c"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Create(ns, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
		if err == nil {
			_, err = c.Insert(bigDoc(1, 10), 1)
		}
		return err
	}))
	before, size := storagetest.Dump(e), int64(len(readLog(t, dir)))
	write := func(c storage.Collection) error {
		if err := storagetest.Done(c.Delete(1)); err != nil {
			return err
		}
		_, err := c.Insert(bigDoc(2, 5000), 2)
		return err
	}
	for _, room := range []int64{0, 1, 40, 100, 3000} {
		lift := limitFileSize(t, size+room)
		err := inColl(e, ns, write)
		lift()
		if !errors.Is(err, unix.EFBIG) {
			t.Fatalf("%d bytes of room: error %v", room, err)
		}
		if got := storagetest.Dump(e); got != before {
			t.Fatalf("%d bytes of room: state is\n%s", room, got)
		}
		if n := int64(len(readLog(t, dir))); n != size {
			t.Fatalf("%d bytes of room: the log has %d bytes, want %d", room, n, size)
		}
		must(t, e.Sync(ctx))
	}
	must(t, inColl(e, ns, write))
	after := storagetest.Dump(e)
	if strings.Contains(after, "  1 @") || !strings.Contains(after, "  2 @2") {
		t.Fatalf("state is %s", after)
	}
	must(t, e.Close())
	e = openAt(t, dir)
	if got := storagetest.Dump(e); got != after {
		t.Fatalf("reopened: state is\n%s\nwant\n%s", got, after)
	}
}

// TestDiskFullCompact: a compaction that does not fit leaves everything as it
// was.
func TestDiskFullCompact(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := t.TempDir()
	e := openAt(t, dir)
	ns := storage.Namespace{DB: "db", Coll: "c"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Create(ns, nil, nil)
		if err == nil {
			_, err = c.Insert(bigDoc(1, 5000), 1)
		}
		return err
	}))
	before := storagetest.Dump(e)
	lift := limitFileSize(t, 1000)
	err := e.Compact(ctx)
	lift()
	if !errors.Is(err, unix.EFBIG) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(dir + "/" + tempName); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new log was not removed: %v", err)
	}
	must(t, inColl(e, ns, func(c storage.Collection) error { return storagetest.Done(c.Update(1, bigDoc(1, 10), 2)) }))
	must(t, e.Compact(ctx))
	must(t, e.Close())
	e = openAt(t, dir)
	if got := storagetest.Dump(e); got == before || !strings.Contains(got, "@2") {
		t.Fatalf("state is\n%s", got)
	}
}

// TestUndoFails: when half a write cannot be taken back, which makes BuntDB panic, the log
// takes no more writes and says why.
func TestUndoFails(t *testing.T) {
	if !alone(t) {
		return
	}
	fd, err := unix.MemfdCreate("log", unix.MFD_ALLOW_SEALING)
	must(t, err)
	defer unix.Close(fd)
	db, err := openBunt(fmt.Sprintf("/proc/self/fd/%d", fd))
	must(t, err)
	j := &journal{db: db, path: "log", synced: func() uint64 { return 0 }}
	must(t, j.commit([]op{{kind: opRecord, num: 1, id: 1, value: "1"}}))
	// The file can grow a little, but not shrink.
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK)
	must(t, err)
	lift := limitFileSize(t, 150)
	err = j.commit([]op{{kind: opRecord, num: 1, id: 1, value: strings.Repeat("x", 1000)}})
	lift()
	if !errors.Is(err, ErrBroken) {
		t.Fatalf("error %v", err)
	}
	if err := j.commit([]op{{kind: opRecord, num: 1, id: 1, value: "2"}}); !errors.Is(err, ErrBroken) {
		t.Fatalf("after the failure: error %v", err)
	}
	must(t, j.finish())
	must(t, j.close()) // does not wait for a lock that nobody will release
}

// TestSyncFails: after a failed fsync nobody knows what is on disk, so there
// are no more writes, and none is acknowledged as durable, until the log has
// been written anew.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	e.maintenance.Lock() // no healing yet
	ns := storage.Namespace{DB: "db", Coll: "c"}
	create := func(tx storage.Tx) error {
		c, err := tx.Create(ns, nil, nil)
		if err == nil {
			_, err = c.Insert(bigDoc(1, 1), 1)
		}
		return err
	}
	r, w, err := os.Pipe() // cannot be synced
	must(t, err)
	defer r.Close()
	e.sync.lockIdle()
	_ = e.sync.file.Close()
	e.sync.file = w
	e.sync.mu.Unlock()
	must(t, e.Update(ctx, create))
	for range 2 {
		if err := e.Sync(ctx); !errors.Is(err, ErrBroken) {
			t.Fatalf("sync: %v", err)
		}
	}
	before := storagetest.Dump(e)
	err = inColl(e, ns, func(c storage.Collection) error { return storagetest.Done(c.Delete(1)) })
	if !errors.Is(err, ErrBroken) {
		t.Fatalf("write: %v", err)
	}
	if got := storagetest.Dump(e); got != before {
		t.Fatalf("state is\n%s", got)
	}
	if n := storagetest.Got(e.Stats()).SyncErrors; n != 1 {
		t.Errorf("%d sync errors", n)
	}
	e.maintenance.Unlock()
	must(t, e.Compact(ctx)) // as maintenance does
	must(t, e.Sync(ctx))
	must(t, inColl(e, ns, func(c storage.Collection) error { return storagetest.Done(c.Update(1, bigDoc(1, 9), 7)) }))
	after := storagetest.Dump(e)
	must(t, e.Close())
	if got := storagetest.Dump(openAt(t, dir)); got != after || !strings.Contains(got, "@7") {
		t.Fatalf("reopened: state is\n%s\nwant\n%s", got, after)
	}
}
