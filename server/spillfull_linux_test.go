package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/value"
)

// TestSpillDiskFull: a command that spills onto a full disk fails with OutOfDiskSpace,
// leaves no file, and succeeds when there is room again. The limit applies to a whole
// process, so the test runs in a separate one.
func TestSpillDiskFull(t *testing.T) {
	const mark = "DUSKDB_TEST_ALONE"
	if os.Getenv(mark) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSpillDiskFull$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "data")
	c := spillServer(t, dir)
	signal.Ignore(unix.SIGXFSZ)
	var old unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_FSIZE, &old), unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 20_000, Max: old.Max})); err != nil {
		t.Fatal(err)
	}
	for _, sp := range spills {
		if sp.then != "" || strings.Contains(sp.command, `"view"`) {
			continue // a write itself fails on a full disk
		}
		reply := c.refused(t, 14031, fmt.Sprintf(sp.command, `, "allowDiskUse": true, "$db": "test"`))
		if text := reply.Lookup("errmsg").Str(); !strings.Contains(text, "no space left on the device of the temporary files") {
			t.Errorf("%s: %s", sp.name, text)
		}
	}
	if open := openTemporary(t, filepath.Join(dir, tempName)); len(open) != 0 {
		t.Errorf("%d files are left open", len(open))
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	for _, sp := range spills {
		if sp.then == "" && !strings.Contains(sp.command, `"view"`) {
			c.ok(t, value.MustJSON(fmt.Sprintf(sp.command, `, "$db": "test"`)))
		}
	}
}
