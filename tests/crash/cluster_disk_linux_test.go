package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestClusterFullDisk fills the disk of the database's tables, and makes room again.
func TestClusterFullDisk(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	db := pgtest.Own(t)
	disk := smallDisk(t, db)
	tables := filepath.Join(disk, "tables")
	must(t, os.Mkdir(tables, 0o700))
	must(t, pgtest.Chown(tables))
	db.Run(t, "create tablespace small location '"+tables+"'", "alter role postgres set default_tablespace = small")
	l := newBank(newCluster(t, db.URI("")))
	l.run()
	l.progress("the start")
	l.met.take()
	begun := time.Now()
	l.expected.Store(outOfDiskSpace)
	rest := fillUp(t, filepath.Join(disk, "rest"), 4<<20)
	l.insertUntil("the disk is full", func(err error) bool {
		full := isCode(err, outOfDiskSpace)
		if words := "No space left on the device of the data: the disk of the database is full"; full && !strings.HasSuffix(err.Error(), words+"]") {
			t.Errorf("clients are told something else than that the disk is full: %v", err)
		}
		return full
	})
	proc.Pause(span(2*time.Second, 15*time.Second))
	n, err := l.db.Collection("accounts").CountDocuments(background, struct{}{})
	if err != nil || n != accounts {
		t.Errorf("a read with a full disk: %d accounts, %v", n, err)
	}
	must(t, os.Remove(rest))
	l.goOn("a full disk", begun)
	if log := l.servers[0].Stderr.String() + l.servers[1].Stderr.String() + l.servers[2].Stderr.String(); !strings.Contains(log, "could not extend file") {
		t.Error("no log says what the database has said")
	}
}

// TestClusterFullLog fills the disk of the database's log alone. PostgreSQL ends: it can neither
// write what it has to nor recover. When there is room, the operator starts it again.
func TestClusterFullLog(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	db := pgtest.Own(t)
	disk := smallDisk(t, db)
	must(t, db.MoveLog(filepath.Join(disk, "log")))
	l := newBank(newCluster(t, db.URI("")))
	l.run()
	l.progress("the start")
	l.met.take()
	begun := time.Now()
	rest := fillUp(t, filepath.Join(disk, "rest"), 0)
	l.insertUntil("the database has ended", func(err error) bool { return err != nil && !db.Runs() })
	c := l.raw(0)
	for what, command := range map[string][]any{
		"read":  {"find", value.String("c")},
		"write": {"insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc()))},
	} {
		eventually(t, "a "+what+" is refused", func() bool {
			reply, err := c.run(command...)
			return errors.Is(err, errRefused) && reply.Lookup("code").Int32() == hostUnreachable
		})
	}
	must(t, os.Remove(rest))
	db.Kill() // its supervisor
	must(t, db.Launch())
	l.goOn("a full disk of the log", begun)
}

// smallDisk mounts a disk of 64 MB for the test.
func smallDisk(t *testing.T, db *pgtest.Server) string {
	t.Helper()
	disk, err := os.MkdirTemp(filepath.Dir(db.Dir()), "duskdb-disk-")
	must(t, err)
	t.Cleanup(func() { _ = os.Remove(disk) })
	switch err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENODEV):
		t.Skipf("no disk of its own: mount: %v", err) // a container, or somebody who is not root
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	must(t, os.Chmod(disk, 0o755))
	return disk
}

// goOn checks that everybody goes on when a fault that has begun at a time is over.
func (l *bank) goOn(fault string, begun time.Time) {
	l.Helper()
	lasted := time.Since(begun)
	took := l.progress(fault)
	l.expected.Store(0)
	l.Logf("%s lasted %v, everybody went on %v later; %s", fault, lasted.Round(10*time.Millisecond), took.Round(10*time.Millisecond), l.met.take())
	l.end()
}

// insertUntil inserts large documents until the error of one is as it should be.
func (l *bank) insertUntil(what string, met func(error) bool) {
	l.Helper()
	noise, rnd := make([]byte, 100_000), rand.NewChaCha8([32]byte{}) // which nothing can compress
	for n := range 10_000 {
		_, _ = rnd.Read(noise)
		ctx, end := context.WithTimeout(background, 2*time.Second)
		_, err := l.db.Collection("noise").InsertOne(ctx, map[string]any{"_id": n, "s": noise})
		end()
		if met(err) {
			return
		} else if err != nil && !passing(err) {
			l.Fatal(err)
		}
	}
	l.Fatal("not so after many inserts: " + what)
}

// fillUp writes a file that leaves so many bytes of a disk.
func fillUp(t *testing.T, path string, left int64) string {
	t.Helper()
	var st unix.Statfs_t
	must(t, unix.Statfs(filepath.Dir(path), &st))
	free := int64(st.Bavail)*st.Bsize - left
	f, err := os.Create(path)
	must(t, err)
	must(t, unix.Fallocate(int(f.Fd()), 0, 0, free))
	must(t, f.Close())
	return path
}
