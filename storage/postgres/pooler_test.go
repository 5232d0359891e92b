package postgres_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// pooled starts PgBouncer before the server of the tests, and returns the URI that
// leads through it.
func pooled(t *testing.T, mode string) string {
	t.Helper()
	needs.Program(t, "pgbouncer")
	u, err := url.Parse(pgtest.URI(t))
	if err != nil {
		t.Fatal(err)
	}
	port := freeport.For(t)
	dir, err := os.MkdirTemp("", "pgbouncer") // t.TempDir is closed to other users
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\npool_mode = %s\nunix_socket_dir =\ndefault_pool_size = 100\n",
		u.Hostname(), u.Port(), u.User.Username(), port, mode)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("pgbouncer", conf)
	pgtest.AsUser(cmd)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	for range 100 {
		if c, err := net.Dial("tcp", u.Host); err == nil {
			_ = c.Close()
			return u.String()
		}
		<-clock.System().After(20 * time.Millisecond)
	}
	t.Fatal("pgbouncer does not start")
	return ""
}

// TestPooler: a pooler in session mode works, one in transaction mode is refused.
func TestPooler(t *testing.T) {
	open := func(mode string) (*postgres.Engine, error) {
		return postgres.Open(ctx, postgres.Options{URI: pooled(t, mode), Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf})
	}
	e, err := open("session")
	if err != nil {
		t.Fatal(err)
	}
	if got := storagetest.Dump(e); got != "" {
		t.Errorf("a new database has %s", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if e, err := open("transaction"); err == nil {
		_ = e.Close()
		t.Error("transaction mode is not refused")
	} else if !strings.Contains(err.Error(), "transaction mode") {
		t.Error(err)
	}
}
