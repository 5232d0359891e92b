package crash

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestFullDisk fills a small disk with the data of a server. Deletes, expiry, compact and
// drop still work, and free space for inserts; a restart loses no data.
func TestFullDisk(t *testing.T) {
	for _, name := range storageEngines {
		t.Run(name, func(t *testing.T) { testFullDisk(t, name) })
	}
}

func testFullDisk(t *testing.T, name string) {
	dir := t.TempDir()
	switch err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); {
	case errors.Is(err, unix.EPERM):
		inNamespace(t)
		return
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	p := start(t, dir, "--oplogSize", "1", "--storageEngine", name)
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 50_000) // which nothing can compress
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	data := value.Binary(0, noise)
	insert := func(coll string, id int32) (value.Doc, error) {
		d := value.Document(value.NewDoc("_id", value.Int32(id), "s", data))
		return c.run("insert", value.String(coll), "documents", value.NewArray(d), "writeConcern", value.Document(value.NewDoc("j", value.Bool(true))))
	}
	n := int32(0)
	for ; ; n++ {
		reply, err := insert("c", n)
		if err == nil {
			continue
		}
		if !strings.Contains(reply.String(), "14031") {
			t.Fatal(err)
		}
		break
	}
	all := value.Document(value.NewDoc("q", value.Document(value.NewDoc("_id", value.Document(value.NewDoc("$gte", value.Int32(n/100))))), "limit", value.Int32(0)))
	if got := c.must(t, "delete", value.String("c"), "deletes", value.NewArray(all)).Lookup("n").Int32(); got != n-n/100 {
		t.Errorf("%d deleted", got)
	}
	c.must(t, "compact", value.String("c"))
	soon := func(coll string, id int32) { // files are removed in the background
		for deadline := time.Now().Add(10 * time.Second); ; proc.Pause(20 * time.Millisecond) {
			if _, err := insert(coll, id); err == nil {
				return
			} else if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	for id := range int32(100) {
		soon("d", id)
	}
	for id := int32(1000); ; id++ { // and once more
		if _, err := insert("d", id); err != nil {
			break
		}
	}
	p.Kill()
	p = start(t, dir, "--oplogSize", "1", "--storageEngine", name)
	if c, err = dial(p.Addr()); err != nil {
		t.Fatal(err)
	}
	if got := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); got != int64(n/100) {
		t.Errorf("%d documents, want %d", got, n/100)
	}
	c.must(t, "drop", value.String("d"))
	c.must(t, "compact", value.String("c"))
	soon("c", n)
	p.Stop(t)
	if text, sound := check(dir); !sound {
		t.Error(text)
	}
}

// inNamespaceEnv is set in a process that inNamespace has started.
const inNamespaceEnv = "DUSKDB_TEST_NAMESPACE"

// inNamespace runs the test in a process that may mount file systems, as it is root in a
// namespace of its own.
func inNamespace(t *testing.T) {
	if os.Getenv(inNamespaceEnv) != "" {
		needs.Missing(t, "mount")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespaceEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	switch out, err := cmd.CombinedOutput(); {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EINVAL): // no namespaces for users
		needs.Missing(t, "mount")
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("%v\n%s", err, out)
	}
}
