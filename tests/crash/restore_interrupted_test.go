package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestRestoreInterrupted: no server uses the target of a restore that was killed, all say which
// command goes on, and that command does.
func TestRestoreInterrupted(t *testing.T) {
	for _, engine := range storageEngines {
		t.Run(engine, func(t *testing.T) {
			backup := loaded(t, 20_000, "--storageEngine", engine)
			target := cutRestore(t, backup)
			if text := refuses(t, target, "--storageEngine", engine); !strings.Contains(text, `run "duskdb restore"`) {
				t.Errorf("refused with %s", text)
			}
			if text, sound := check(target); sound || !strings.Contains(text, "unfinished restore") {
				t.Errorf("check: %s", text)
			}
			if text, ok := duskdb("restore", backup, "--dbpath", target); !ok {
				t.Fatalf("restore: %s", text)
			}
			c := connect(t, start(t, target, "--storageEngine", engine))
			if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != 20_000 {
				t.Errorf("%d documents", n)
			}
		})
	}
}

// cutRestore kills a restore as soon as it has written its name, and returns its target. A restore
// that was faster is tried again.
func cutRestore(t *testing.T, backup string) (target string) {
	t.Helper()
	for range 20 {
		target = t.TempDir()
		mark := filepath.Join(target, "duskdb.copying")
		cmd := exec.Command(binary, "restore", backup, "--dbpath", target)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(over)
		}()
		for begun := false; !begun; {
			named, _ := os.ReadFile(mark)
			select {
			case <-over:
				begun = true
			default:
				begun = len(named) > 0
			}
		}
		_ = cmd.Process.Kill()
		<-over
		if _, err := os.Stat(mark); err == nil {
			return target
		}
	}
	t.Fatal("no restore was killed before its end")
	return ""
}
