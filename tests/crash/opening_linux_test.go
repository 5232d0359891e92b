package crash

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// heldBy names for each engine a file that it reads first. A pipe in its place blocks the
// opening for ever.
var heldBy = map[string]string{"bunt": "duskdb.state", "pebble": "duskdb.pebble"}

// TestStoppedWhileOpening: a server that is opening its data is alive and not ready, says
// so to clients, and stops at once on SIGTERM.
func TestStoppedWhileOpening(t *testing.T) {
	for name, file := range heldBy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := unix.Mkfifo(filepath.Join(dir, file), 0o600); err != nil {
				t.Fatal(err)
			}
			port, metrics := fmt.Sprint(freeport.For(t)), fmt.Sprint(freeport.For(t))
			p := launch(t, dir, "--storageEngine", name, "--port", port, "--metricsPort", metrics)
			t.Cleanup(p.Kill)
			if code, text := awaitHTTP(t, "http://127.0.0.1:"+metrics+"/readyz", "opening"); code != 503 || !strings.HasPrefix(text, "opening 0 %") {
				t.Errorf("/readyz: %d %s", code, text)
			}
			if code, text := awaitHTTP(t, "http://127.0.0.1:"+metrics+"/healthz", ""); code != 200 {
				t.Errorf("/healthz: %d %s", code, text)
			}
			c, err := dial("127.0.0.1:" + port)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := c.run("hello", value.Int32(1))
			if reply.Lookup("code").Int32() != 94 || !strings.Contains(reply.Lookup("errmsg").Str(), "is opening its data") {
				t.Errorf("hello: %v", err)
			}
			if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(p.Out); err != nil || len(text) > 0 {
				t.Errorf("printed %q, %v", text, err)
			}
			if err := p.Wait(); err != nil {
				t.Errorf("ended with %v", err)
			}
			if text := p.Stderr.String(); !strings.Contains(text, "Stopped while the data were being opened") {
				t.Errorf("logged %s", text)
			}
		})
	}
}

// awaitHTTP repeats a request until the reply contains a text.
func awaitHTTP(tb testing.TB, url, want string) (code int, text string) {
	tb.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; proc.Pause(5 * time.Millisecond) {
		r, err := http.Get(url) //nolint:gosec,noctx // the server of the test
		if err == nil {
			b, rerr := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if text = string(b); rerr == nil && strings.Contains(text, want) {
				return r.StatusCode, text
			}
		}
		if time.Now().After(deadline) {
			tb.Fatalf("no answer of %s with %q: %v %s", url, want, err, text)
		}
	}
}
