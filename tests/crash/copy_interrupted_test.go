package crash

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// interrupted is how many documents are copied when the copy is interrupted: so many that other
// processes can look meanwhile, on a machine with much else to do.
const interrupted = 100_000

// TestCopyDatabaseInterrupted: no server uses a database with an unfinished copy, and
// the next copy starts over; then neither another copy nor a server that still runs
// is in danger.
func TestCopyDatabaseInterrupted(t *testing.T) {
	t.Parallel()
	source, target := "bunt:"+loaded(t, interrupted, "--storageEngine", "bunt"), schema(t)
	refused := func(says string, args ...string) {
		t.Helper()
		if text, ok := duskdb(args...); ok || !strings.Contains(text, says) || strings.Contains(text, "postgres@") {
			t.Errorf("%s: %s, want %q", args[0], text, says)
		}
	}
	serve := append([]string{"--port", "0"}, target.args...)
	refused("no data of DuskDB", "copy", target.name, "bunt:"+t.TempDir())
	cmd := exec.Command(binary, "copy", "--quiet", source, target.name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Each try is a process of its own, and the first may find tables without anything.
	for marked := false; !marked; {
		text, ok := duskdb("copy", target.name, "bunt:"+t.TempDir())
		if marked = strings.Contains(text, "unfinished copy"); ok && !strings.Contains(text, " 0 collections") {
			t.Fatalf("the copy was faster than a look at it: %s", text)
		}
	}
	refused("unfinished copy", serve...)
	refused("another process copies", "copy", "bunt:"+loaded(t, 10, "--storageEngine", "bunt"), target.name)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	refused("unfinished copy", serve...)
	refused("unfinished copy", "copy", target.name, "bunt:"+t.TempDir())
	if text, ok := duskdb("copy", source, target.name); !ok || !strings.Contains(text, "the copy is equal to the original") {
		t.Fatalf("copy: %s", text)
	}
	refused("is not empty", "copy", source, target.name)
	refused("cannot be copied into itself", "copy", target.name, target.name)
	c := connect(t, start(t, target.dir, target.args...))
	refused("servers use the schema", "copy", source, target.name)
	if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != interrupted {
		t.Errorf("%d documents", n)
	}
	cmd = exec.Command(binary, "copy", "postgres", "bunt:"+t.TempDir()) // while a server runs
	cmd.Env = append(cmd.Environ(), "DUSKDB_STORAGE_URI="+target.name)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "postgres@") {
		t.Errorf("copy: %v, %s", err, out)
	}
}
