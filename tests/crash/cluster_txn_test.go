//go:build unix

package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// statement makes a command a statement of a session: in a transaction, or a retryable
// write.
func statement(session string, number int64, kind string, fields ...any) []any {
	fields = append(fields, "lsid", value.Document(value.NewDoc("id", value.Binary(4, fmt.Appendf(nil, "%-16.16s", session)))), "txnNumber", value.Int64(number))
	switch kind {
	case "first":
		fields = append(fields, "autocommit", value.Bool(false), "startTransaction", value.Bool(true))
	case "further":
		fields = append(fields, "autocommit", value.Bool(false))
	}
	return fields
}

// add are the fields of an update that adds to a document.
func add(coll string, id, n int32) []any {
	u := value.NewDoc("q", value.Document(value.NewDoc("_id", value.Int32(id))), "u", value.Document(value.NewDoc("$inc", value.Document(value.NewDoc("n", value.Int32(n))))), "upsert", value.Bool(true))
	return []any{"update", value.String(coll), "updates", value.NewArray(value.Document(u))}
}

// sumOf reads what was added to a document.
func (c *client) sumOf(coll string, id int32, session ...any) (int64, error) {
	reply, err := c.run(append([]any{"find", value.String(coll), "filter", value.Document(value.NewDoc("_id", value.Int32(id)))}, session...)...)
	if err != nil {
		return 0, err
	}
	v := reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0)
	if v.IsMissing() {
		return 0, nil
	}
	return v.Doc().Lookup("n").SafeInt64(), nil
}

// testClusterTransactions: a transaction on one server reads its snapshot while others
// commit, and of two that write the same document one gets a conflict.
func testClusterTransactions(t *testing.T, c *cluster) {
	a, b := c.raw(0), c.raw(1)
	for id := range int32(3) {
		a.must(t, add("txn", id, 1)...)
	}
	a.must(t, statement("reader", 1, "first", "find", value.String("txn"))...)
	b.must(t, statement("writer", 1, "first", add("txn", 0, 10)...)...)
	b.must(t, statement("writer", 1, "further", add("txn", 1, 10)...)...)
	b.must(t, statement("writer", 1, "further", "commitTransaction", value.Int32(1), "$db", value.String("admin"))...)
	for id := range int32(3) {
		n, err := a.sumOf("txn", id, statement("reader", 1, "further")...)
		if err != nil || n != 1 {
			t.Errorf("document %d has %d in an older snapshot (%v), want 1", id, n, err)
		}
		if n, err = a.sumOf("txn", id); err != nil || id < 2 && n != 11 {
			t.Errorf("document %d has %d (%v), want 11", id, n, err)
		}
	}
	conflict := func(reply value.Doc, err error) {
		t.Helper()
		if !errors.Is(err, errRefused) || reply.Lookup("code").Int32() != 112 || reply.Lookup("errorLabels").Doc().Index(0).Str() != "TransientTransactionError" {
			t.Errorf("%s (%v), want a WriteConflict with TransientTransactionError", reply, err)
		}
	}
	conflict(a.run(statement("reader", 1, "further", add("txn", 0, 100)...)...)) // changed after the snapshot
	a.must(t, statement("first", 1, "first", add("txn", 2, 100)...)...)
	conflict(b.run(statement("second", 1, "first", add("txn", 2, 1000)...)...)) // written in another transaction
	a.must(t, statement("first", 1, "further", "commitTransaction", value.Int32(1), "$db", value.String("admin"))...)
	b.must(t, statement("second", 2, "first", add("txn", 2, 1000)...)...)
	b.must(t, statement("second", 2, "further", "commitTransaction", value.Int32(1), "$db", value.String("admin"))...)
	if n, err := a.sumOf("txn", 2); err != nil || n != 1101 {
		t.Errorf("the document has %d (%v), want 1101", n, err)
	}
}

// TestClusterResent kills a server at any moment of a commit, or of a retryable write,
// and sends the command again to another server, twice: both answers say the same, and it
// is true.
func TestClusterResent(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	rounds := 3
	if long() {
		rounds = 15
	}
	_, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 5))
	c := newCluster(t, pgtest.URI(t))
	other := c.raw(1)
	for _, coll := range []string{"commits", "writes"} {
		other.must(t, "create", value.String(coll))
	}
	warm := resent{T: t, other: other, id: 1000} // makes the collections that the servers keep: that would wait for dead ones
	other.must(t, warm.updates()...)
	victims := make(chan *proc.Server, 2*rounds)
	go func() {
		defer close(victims)
		for range 2 * rounds {
			victims <- start(t, t.TempDir(), c.args...) // before any is killed: then a start waits
		}
	}()
	var ready []*proc.Server
	for p := range victims {
		ready = append(ready, p)
	}
	answered, happened := 0, 0
	for round := range rounds {
		in := resent{t, ready[2*round], other, int32(round), time.Duration(rnd.IntN(12_000)) * time.Microsecond}
		got, committed := in.commit()
		answered, happened = answered+got, happened+committed
		in.server = ready[2*round+1]
		answered += in.write()
	}
	t.Logf("%d servers killed: %d answers came before; %d of %d commits had happened, the others can be run again", 2*rounds, answered, happened, rounds)
}

// resent is a command that is sent to a server, which is killed, and again to another one.
type resent struct {
	*testing.T
	server *proc.Server
	other  *client
	id     int32
	delay  time.Duration
}

// send sends a command to the server and kills that after a while. It reports whether
// there was an answer.
func (r *resent) send(conn *client, fields ...any) (answered int) {
	done := make(chan int, 1)
	go func() {
		_, err := conn.run(fields...)
		if err != nil && errors.Is(err, errRefused) {
			r.Error(err)
		}
		if err == nil {
			done <- 1
		} else {
			done <- 0
		}
	}()
	proc.Pause(r.delay)
	r.server.Kill()
	return <-done
}

func (r *resent) dial() *client {
	conn, err := dial(r.server.Addr())
	must(r, err)
	r.Cleanup(func() { _ = conn.Close() })
	return conn
}

// commit is a transaction whose commit is sent again.
func (r *resent) commit() (answered, committed int) {
	r.Helper()
	session, conn := fmt.Sprint("commit ", r.id), r.dial()
	var reply value.Doc
	for i := range int32(3) {
		kind := "further"
		if i == 0 {
			kind = "first"
		}
		reply = conn.must(r, statement(session, 1, kind, add("commits", 10*r.id+i, 1)...)...)
	}
	// As drivers do, with the token that the servers of a cluster give them.
	end := statement(session, 1, "further", "commitTransaction", value.Int32(1), "recoveryToken", reply.Lookup("recoveryToken"), "$db", value.String("admin"))
	answered = r.send(conn, end...)
	_, first := r.resend(end)
	_, second := r.resend(end)
	if (first == nil) != (second == nil) {
		r.Errorf("the commit was answered with %v, and then with %v", first, second)
	}
	if first == nil {
		committed = 1
	} else if !errors.Is(first, errRefused) || answered == 1 {
		r.Errorf("the commit, with %d answers before: %v", answered, first)
	}
	for i := range int32(3) {
		if n, err := r.other.sumOf("commits", 10*r.id+i); err != nil || n != int64(committed) {
			r.Errorf("after the answer %v document %d has %d (%v)", first, 10*r.id+i, n, err)
		}
	}
	return answered, committed
}

// resend sends a command to the other server until the answer is not that it should be
// sent again.
func (r *resent) resend(command []any) (value.Doc, error) {
	r.Helper()
	for {
		reply, err := r.other.run(command...)
		if labels := reply.Lookup("errorLabels"); err == nil || labels.IsMissing() || labels.Doc().Index(0).Str() != "RetryableWriteError" {
			return reply, err
		}
	}
}

const resentUpdates = 40

func (r *resent) updates() []any {
	var updates []value.Value
	for i := range int32(resentUpdates) {
		updates = append(updates, add("writes", resentUpdates*r.id+i, 1)[3].(value.Value).Doc().Index(0))
	}
	return statement(fmt.Sprint("write ", r.id), 1, "", "update", value.String("writes"), "updates", value.NewArray(updates...))
}

// write is a retryable write of several statements that is sent again.
func (r *resent) write() (answered int) {
	r.Helper()
	const n = resentUpdates
	command := r.updates()
	answered = r.send(r.dial(), command...)
	for range 2 {
		reply, err := r.resend(command)
		must(r, err)
		if got := reply.Lookup("upserted").Doc().Len(); got != n || reply.Lookup("n").Int32() != n {
			r.Errorf("%d upserted, n is %d, want %d", got, reply.Lookup("n").Int32(), n)
		}
	}
	for i := range int32(n) {
		if got, err := r.other.sumOf("writes", n*r.id+i); err != nil || got != 1 {
			r.Errorf("document %d has %d (%v), want 1", n*r.id+i, got, err)
		}
	}
	return answered
}
