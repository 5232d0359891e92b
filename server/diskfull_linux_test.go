package server

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/value"
)

// TestDiskFull: while files cannot grow, writes fail with OutOfDiskSpace and leave no
// trace, and reads succeed; when there is room again, so do writes. The limit applies to
// a whole process, so the test runs in a separate one.
func TestDiskFull(t *testing.T) {
	const mark = "DUSKDB_TEST_ALONE"
	if os.Getenv(mark) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestDiskFull$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "data")
	s := serveConfig(t, Config{DBPath: dir})
	c := dial(t, s)
	insert := func(id int32) value.Doc {
		d := value.NewDoc("_id", value.Int32(id), "s", value.String(strings.Repeat("x", 10_000)))
		m, err := c.RoundTrip(value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d)), "$db", value.String("test")))
		if err != nil {
			t.Fatal(err)
		}
		return m.Body.Clone()
	}
	count := func() int64 {
		return c.ok(t, value.MustJSON(`{"count": "c", "$db": "test"}`)).Lookup("n").SafeInt64()
	}
	insert(1)
	signal.Ignore(unix.SIGXFSZ)
	var old unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_FSIZE, &old), unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 20_000, Max: old.Max})); err != nil {
		t.Fatal(err)
	}
	for id := range int32(5) {
		reply := insert(10 + id)
		code := reply.Lookup("code")
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			code = first.Doc().Lookup("code")
		}
		if n := count(); code.Int32() != 14031 && n != 1 {
			t.Errorf("%s, %d documents", reply, n)
		}
	}
	c.ok(t, pingCommand)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	n := count()
	if reply := insert(2); !reply.Lookup("ok").Truthy() || count() != n+1 {
		t.Errorf("%s", reply)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := Check(dir); err != nil || !r.Sound() {
		t.Errorf("%+v, %v", r, err)
	}
}
