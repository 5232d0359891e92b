package crash

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// TestClusterFullDisk fills the disk of the database's tables, and makes room again.
func TestClusterFullDisk(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	db := pgtest.Own(t)
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
	tables := filepath.Join(disk, "tables")
	must(t, os.Mkdir(tables, 0o700))
	must(t, pgtest.Chown(tables))
	must(t, os.Chmod(disk, 0o755))
	db.Run(t, "create tablespace small location '"+tables+"'", "alter role postgres set default_tablespace = small")
	l := newBank(newCluster(t, db.URI("")))
	l.run()
	l.progress("the start")
	l.met.take()
	begun := time.Now()
	l.expected.Store(outOfDiskSpace)
	rest := fillUp(t, filepath.Join(disk, "rest"))
	l.insertUntilFull()
	proc.Pause(span(2*time.Second, 15*time.Second))
	n, err := l.db.Collection("accounts").CountDocuments(background, struct{}{})
	if err != nil || n != accounts {
		t.Errorf("a read with a full disk: %d accounts, %v", n, err)
	}
	must(t, os.Remove(rest))
	lasted := time.Since(begun)
	took := l.progress("the full disk")
	l.expected.Store(0)
	t.Logf("a full disk lasted %v, everybody went on %v later; %s", lasted.Round(10*time.Millisecond), took.Round(10*time.Millisecond), l.met.take())
	l.end()
}

// insertUntilFull inserts documents until there is no room for one.
func (l *bank) insertUntilFull() {
	l.Helper()
	noise, rnd := make([]byte, 100_000), rand.NewChaCha8([32]byte{}) // which nothing can compress
	for n := range 10_000 {
		_, _ = rnd.Read(noise)
		if _, err := l.db.Collection("noise").InsertOne(background, map[string]any{"_id": n, "s": noise}); isCode(err, outOfDiskSpace) {
			return
		} else if err != nil && !passing(err) {
			l.Fatal(err)
		}
	}
	l.Fatal("the disk does not become full")
}

// fillUp writes a file that leaves a few megabytes of a disk.
func fillUp(t *testing.T, path string) string {
	t.Helper()
	var st unix.Statfs_t
	must(t, unix.Statfs(filepath.Dir(path), &st))
	free := int64(st.Bavail)*st.Bsize - 4<<20
	f, err := os.Create(path)
	must(t, err)
	must(t, unix.Fallocate(int(f.Fd()), 0, 0, free))
	must(t, f.Close())
	return path
}
