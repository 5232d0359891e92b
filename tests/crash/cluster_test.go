//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// cluster is three servers over one database. Each keeps its port when it is started
// again.
type cluster struct {
	testing.TB
	args     []string
	uris     [3]string // addresses of the database for each server, if they differ
	addrs    [3]string
	servers  [3]*proc.Server
	programs [3]string // paths of other programs than that of the tests
}

// newCluster starts three servers over a database that a URI names, in a schema of
// their own.
func newCluster(tb testing.TB, uri string, args ...string) *cluster {
	tb.Helper()
	c := clusterOver(tb, uri, args...)
	for i := range c.addrs {
		c.start(i)
	}
	return c
}

// clusterOver is a cluster whose servers have not been started.
func clusterOver(tb testing.TB, uri string, args ...string) *cluster {
	tb.Helper()
	if !strings.Contains(uri, "schema=") {
		uri = pgtest.With(uri, "schema", pgtest.Schema(tb.TempDir()))
	}
	c := &cluster{TB: tb, args: append([]string{"--storageEngine", "postgres", "--storageURI", uri}, args...)}
	for i := range c.addrs {
		c.addrs[i] = fmt.Sprintf("127.0.0.1:%d", freeport.For(tb))
	}
	return c
}

// needsCluster skips a test of several servers where it was not asked for.
func needsCluster(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a test with three servers")
	}
	if e := os.Getenv("DUSKDB_TEST_ENGINE"); e != "" && e != "postgres" {
		t.Skip("several servers need the engine postgres")
	}
}

// start starts a server, for the first time or again.
func (c *cluster) start(i int) {
	c.Helper()
	_, port, _ := net.SplitHostPort(c.addrs[i])
	args := append([]string{"--port", port}, c.args...)
	if c.uris[i] != "" {
		args[slices.Index(args, "--storageURI")+1] = c.uris[i]
	}
	cmd := command(c.TempDir(), args...)
	if c.programs[i] != "" {
		cmd.Path = c.programs[i]
	}
	c.servers[i] = proc.Start(c, cmd)
}

// kill ends a server without notice.
func (c *cluster) kill(i int) { c.servers[i].Kill() }

// signal stops a server, or lets it go on.
func (c *cluster) signal(i int, sig syscall.Signal) {
	c.Helper()
	if err := c.servers[i].Cmd.Process.Signal(sig); err != nil {
		c.Fatal(err)
	}
}

// client is a client of all servers: the driver chooses one for each operation. It
// sends again what it may for as long as an operation may take.
func (c *cluster) client(opts ...*options.ClientOptions) *mongo.Client {
	c.Helper()
	return c.connect(strings.Join(c.addrs[:], ","), opts...)
}

// only is a client of one server.
func (c *cluster) only(i int, opts ...*options.ClientOptions) *mongo.Client {
	c.Helper()
	return c.connect(c.addrs[i], opts...)
}

func (c *cluster) connect(hosts string, opts ...*options.ClientOptions) *mongo.Client {
	c.Helper()
	o := options.Client().ApplyURI("mongodb://" + hosts).SetTimeout(patience).SetConnectTimeout(3 * time.Second).SetHeartbeatInterval(500 * time.Millisecond)
	client, err := mongo.Connect(append([]*options.ClientOptions{o}, opts...)...)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		ctx, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		_ = client.Disconnect(ctx)
	})
	return client
}

// raw is a connection to one server.
func (c *cluster) raw(i int) *client {
	c.Helper()
	conn, err := dial(c.addrs[i])
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = conn.Close() })
	return conn
}

// passing reports whether an error is one that applications meet when servers fail, and
// that drivers, or programs that follow their advice, answer with another try.
func passing(err error) bool {
	var server mongo.ServerError
	if errors.As(err, &server) {
		for _, label := range []string{"TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError", "ResumableChangeStreamError"} {
			if server.HasErrorLabel(label) {
				return true
			}
		}
		for _, code := range []int{6, 7, 50, 89, 91, 189, 237, 262, 9001, 10107, 11600, 11602, 13435, 13436} {
			if server.HasErrorCode(code) {
				return true
			}
		}
	}
	return poolCleared(err) || mongo.IsNetworkError(err) || mongo.IsTimeout(err) || errors.Is(err, context.Canceled) || errors.Is(err, mongo.ErrClientDisconnected)
}

// poolCleared reports whether the driver has not sent an operation, because it had given up all
// connections to the server meanwhile. Drivers should repeat the operation; version 2.9 of the Go
// driver does not.
func poolCleared(err error) bool {
	return err != nil && strings.Contains(err.Error(), "was cleared because another operation failed")
}

// number reads a number of a document whatever its type is.
func number(v any) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	panic(fmt.Sprintf("%v is a %T", v, v))
}
