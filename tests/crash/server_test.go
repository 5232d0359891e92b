// Package crash repeatedly kills a real server under load, and checks that
// everything it had acknowledged exists afterwards.
//
// Each such test takes some seconds; DUSKDB_CRASH_TIME=10m makes it run longer.
// DUSKDB_CRASH_SEED=n repeats the random choices of a run, as far as the scheduling of two
// processes allows. With -short and neither -run nor an engine named, one test of use and one of
// killing stand for all.
package crash

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	_ "github.com/duskdb/duskdb/server/postgres" // for engines.Remote
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// binary is the server, built once.
var binary string

// engine is the storage engine of servers that name no other.
var engine = cmp.Or(os.Getenv(engines.TestVariable), "bunt")

// remote says that this engine has its data in a database.
var remote = engines.Remote(engine)

// localData skips a test of what only a data directory has.
func localData(tb testing.TB) {
	tb.Helper()
	if remote {
		tb.Skip("the data are in a database, not in a directory")
	}
}

// withRetries are the arguments for a server that takes retryable writes: one of a cluster
// does so by itself.
func withRetries() []string {
	if remote {
		return nil
	}
	return []string{"--replSet", "rs0"}
}

func TestMain(m *testing.M) {
	flag.Parse()
	set("test.parallel", "8") // tests that run at the same time mostly wait for servers that have died
	if testing.Short() && flag.Lookup("test.run").Value.String() == "" && os.Getenv(engines.TestVariable) == "" {
		set("test.run", "^(TestEngineInUse|TestKill)$")
	}
	proc.Main(m, &binary)
}

// set sets a flag of go test.
func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}

// command is the server over a data directory.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, append([]string{"--dbpath", dir, "--port", "0", "--logFormat", "json", "--test-clock", "--storageEngine", engine}, args...)...)
	if remote && !slices.Contains(args, "--storageEngine") {
		cmd.Env = append(os.Environ(), "DUSKDB_STORAGE_URI="+pgtest.EngineURI(dir))
	}
	return cmd
}

// launch starts the server on a data directory without waiting for it.
func launch(tb testing.TB, dir string, args ...string) *proc.Server {
	tb.Helper()
	p, err := proc.Launch(command(dir, args...))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// start starts the server and waits until it listens.
func start(tb testing.TB, dir string, args ...string) *proc.Server {
	tb.Helper()
	return proc.Start(tb, command(dir, args...))
}

// client is a connection that runs commands on the database "crash".
type client struct {
	net.Conn
	*wire.Client
}

func dial(addr string) (*client, error) {
	nc, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &client{nc, wire.NewClient(nc)}, nil
}

// errRefused is a reply that is not ok.
var errRefused = errors.New("refused")

// run runs a command. The error is errRefused if the server refused the command; after
// any other error the outcome is unknown.
func (c *client) run(fields ...any) (value.Doc, error) {
	d := value.NewDoc(fields...)
	if !d.Has("$db") {
		d = value.NewDoc(append(fields, "$db", value.String("crash"))...)
	}
	m, err := c.RoundTrip(d)
	if err != nil {
		return nil, err
	}
	reply := m.Body.Clone()
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") || reply.Has("writeConcernError") {
		return reply, fmt.Errorf("%w: %s", errRefused, reply)
	}
	return reply, nil
}

// must runs a command that cannot fail.
func (c *client) must(tb testing.TB, fields ...any) value.Doc {
	tb.Helper()
	reply, err := c.run(fields...)
	if err != nil {
		tb.Fatal(err)
	}
	return reply
}

// all reads a whole collection, ordered by _id.
func (c *client) all(tb testing.TB, coll string) []value.Doc {
	tb.Helper()
	reply := c.must(tb, "find", value.String(coll), "sort", value.Document(value.NewDoc("_id", value.Int32(1))), "batchSize", value.Int32(100000))
	cursor := reply.Lookup("cursor").Doc()
	if cursor.Lookup("id").Int64() != 0 {
		tb.Fatalf("%s has more documents than one batch", coll)
	}
	var docs []value.Doc
	for v := range cursor.Lookup("firstBatch").Doc().Values() {
		docs = append(docs, v.Doc())
	}
	return docs
}

// patience is how long an operation of a client may take, on a busy machine and while
// servers and the database are away.
const patience = 60 * time.Second

// eventually waits until something holds.
func eventually(tb testing.TB, what string, holds func() bool) time.Duration {
	tb.Helper()
	begun := time.Now()
	for !holds() {
		if time.Since(begun) > patience {
			tb.Fatalf("not within %v: %s", patience, what)
		}
		proc.Pause(10 * time.Millisecond)
	}
	return time.Since(begun)
}
