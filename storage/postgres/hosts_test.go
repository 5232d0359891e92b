package postgres_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// silentHost is the address of a machine that does not answer, as one that has lost its power:
// nobody accepts the connections.
func silentHost(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestSilentHost: of the hosts that a URI names the first is silent. The server works with the
// other one, its heartbeats too.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(pgtest.URI(t))
	must(t, err)
	u.Host = silentHost(t) + "," + silentHost(t) + "," + u.Host
	begun := clock.System().Now()
	e, err := postgres.Open(ctx, postgres.Options{URI: u.String(), Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	create(t, e, ns, storagetest.UniqueSpec("_id"))
	must(t, insert(e, value.Int32(1)))
	for e.Reachable() != nil {
		if clock.System().Now().Sub(begun) > time.Minute {
			t.Fatalf("the server's heartbeats do not find the database: %v", e.Reachable())
		}
		<-clock.System().After(10 * time.Millisecond)
	}
	t.Logf("the server was ready after %v", clock.System().Now().Sub(begun))
}
