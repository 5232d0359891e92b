//go:build unix

package crash

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// inTxn are the fields of a command in a transaction.
func inTxn(number int64, first bool, fields ...any) []any {
	fields = append(fields, "lsid", value.Document(value.NewDoc("id", value.Binary(4, []byte("servers-00000001")))),
		"txnNumber", value.Int64(number), "autocommit", value.Bool(false))
	if first {
		fields = append(fields, "startTransaction", value.Bool(true))
	}
	return fields
}

// increment are the fields of an update of document 1.
func increment(n int32) []any {
	return []any{"update", value.String("servers"), "updates", value.MustJSON(fmt.Sprintf(`{"x": [{"q": {"_id": 1}, "u": {"$inc": {"n": %d}}}]}`, n)).Lookup("x"), "maxTimeMS", value.Int32(60_000)}
}

// TestServersOfOneDatabase: of two servers one stops for a while, and later ends at
// once. The other one waits for what it has written in a transaction, and goes on
// after 10 seconds; the transaction cannot be committed any more.
func TestServersOfOneDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the claims of a dead server twice")
	}
	t.Parallel()
	uri := pgtest.With(pgtest.URI(t), "schema", pgtest.Schema(t.TempDir()))
	serve := func() (*proc.Server, *client) {
		p := start(t, t.TempDir(), "--storageEngine", "postgres", "--storageURI", uri)
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return p, c
	}
	a, ca := serve()
	_, cb := serve()
	ca.must(t, "insert", value.String("servers"), "documents", value.MustJSON(`{"x": [{"_id": 1, "n": 0}]}`).Lookup("x"))
	// blocked runs an update on the other server while what stops the first one.
	blocked := func(n int32, stop func() error) {
		t.Helper()
		begun, done := time.Now(), make(chan error, 1)
		go func() {
			_, err := cb.run(increment(n)...)
			done <- err
		}()
		select {
		case err := <-done:
			t.Fatalf("the update does not wait for the transaction: %v", err)
		case <-time.After(500 * time.Millisecond):
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		t.Logf("the update waited for %v", took)
		if took > 15*time.Second { // 10, and what a busy machine adds
			t.Errorf("the update waited for %v", took)
		}
	}
	ca.must(t, inTxn(1, true, increment(1)...)...)
	blocked(10, func() error { return a.Cmd.Process.Signal(syscall.SIGSTOP) })
	if err := a.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	reply, err := ca.run(inTxn(1, false, "commitTransaction", value.Int32(1), "$db", value.String("admin"))...)
	if !errors.Is(err, errRefused) || reply.Lookup("code").Int32() != 112 || reply.Lookup("errorLabels").Doc().Index(0).Str() != "TransientTransactionError" {
		t.Errorf("the commit of the server that was stopped: %s (%v), want a WriteConflict", reply, err)
	}
	ca.must(t, increment(100)...) // it works again
	ca.must(t, inTxn(2, true, increment(1)...)...)
	blocked(1000, func() error { return a.Cmd.Process.Kill() })
	if got := cb.all(t, "servers")[0].Lookup("n").SafeInt64(); got != 1110 {
		t.Errorf("the document has %d, want 1110", got)
	}
}
