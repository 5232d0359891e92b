package kernel_test

import (
	"context"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// handle runs a command on a connection as a server does.
func handle(ctx context.Context, s *kernel.Service, conn *kernel.Conn, command string) value.Doc {
	out, _ := harness.Answer(s, ctx, conn, &kernel.Request{Body: harness.Relaxed(command)}, nil)
	return value.Doc(out)
}

// After a command was killed, the next one on the connection has a new context.
func TestKilledCommandLeavesConnectionUsable(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.OK(`{insert: "capped", documents: [{_id: 1}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := func(command string) value.Doc { return handle(ctx, h.Svc, h.Conn, command) }
	cursor := run(`{find: "capped", tailable: true, awaitData: true, $db: "test"}`).Lookup("cursor").Doc().Lookup("id").Int64()
	done := make(chan value.Doc)
	go func() {
		b := value.NewBuilder()
		b.Int64("getMore", cursor).String("collection", "capped").Int32("maxTimeMS", 600_000).String("$db", "test")
		out, _ := harness.Answer(h.Svc, ctx, h.Conn, &kernel.Request{Body: b.Doc()}, nil)
		done <- value.Doc(out)
	}()
	for killed := 0; killed == 0; {
		killed = h.Svc.Ops.Kill(kernel.ErrKilled, func(op *kernel.Operation) bool { return op.Name == "getMore" })
	}
	if reply := <-done; reply.Lookup("code").Int32() != int32(mongoerr.Interrupted) {
		t.Errorf("the killed command answered %s", reply)
	}
	for range 2 {
		if reply := run(`{find: "capped", filter: {_id: 1}, $db: "test"}`); len(harness.Docs(reply)) != 1 {
			t.Errorf("the next command answered %s", reply)
		}
	}
}

// The context of a request ends the command, whatever ran before.
func TestContextOfRequest(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if reply := handle(gone, h.Svc, h.Conn, `{find: "c", filter: {_id: 1}, $db: "test"}`); reply.Lookup("ok").Truthy() {
			t.Errorf("answered %s", reply)
		}
		if reply := handle(t.Context(), h.Svc, h.Conn, `{find: "c", filter: {_id: 1}, $db: "test"}`); len(harness.Docs(reply)) != 1 {
			t.Errorf("answered %s", reply)
		}
	}
}

// A cursor keeps the Call that made it while others use the connection.
func TestCursorKeepsItsCall(t *testing.T) {
	h := harness.New(t)
	for range 5 {
		h.OK(`{insert: "c", documents: [{a: 1}, {a: 2}, {a: 3}]}`)
	}
	cursor := h.OK(`{find: "c", filter: {a: {$gt: 1}}, batchSize: 2}`)
	for left := 8; left > 0; left -= 2 {
		h.OK(`{ping: 1}`)
		h.OK(`{find: "c", filter: {_id: 1}}`)
		h.OK(`{insert: "other", documents: [{a: 1}]}`)
		more := value.NewDoc("getMore", cursor.Lookup("cursor").Doc().Lookup("id"), "collection", value.String("c"), "batchSize", value.Int32(2))
		if n := h.RunOn("test", more).Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len(); n != 2 {
			t.Fatalf("%d documents", n)
		}
	}
}

// A program that embeds the server may use a Conn for several commands at a
// time.
func TestCommandsAtOnceOnOneConnection(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "a", documents: [{_id: 1, in: "a"}]}`)
	h.OK(`{insert: "b", documents: [{_id: 1, in: "b"}]}`)
	var wg sync.WaitGroup
	for _, coll := range []string{"a", "b"} {
		wg.Go(func() {
			for range 500 {
				reply := handle(t.Context(), h.Svc, h.Conn, `{find: "`+coll+`", filter: {_id: 1}, $db: "test"}`)
				if list := harness.Docs(reply); len(list) != 1 || list[0].Lookup("in").Str() != coll {
					t.Errorf("%s: %s", coll, reply)
				}
			}
		})
	}
	wg.Wait()
	h.Svc.CloseConn(h.Conn)
	h.OK(`{ping: 1}`)
}

// The cached names are those of the command, not of the one before.
func TestNamesOfOneConnection(t *testing.T) {
	h := harness.New(t)
	for _, db := range []string{"x", "y"} {
		for _, coll := range []string{"c", "d"} {
			h.RunOn(db, harness.Relaxed(`{insert: "`+coll+`", documents: [{_id: 1, in: "`+db+"."+coll+`"}]}`))
		}
	}
	for range 2 {
		for _, db := range []string{"x", "y"} {
			for _, coll := range []string{"c", "d"} {
				reply := h.RunOn(db, harness.Relaxed(`{find: "`+coll+`", filter: {_id: 1}}`))
				if list := harness.Docs(reply); len(list) != 1 || list[0].Lookup("in").Str() != db+"."+coll {
					t.Errorf("%s.%s: %s", db, coll, reply)
				}
			}
		}
	}
	if got := h.Admin(`{top: 1}`).Lookup("totals").Doc().Lookup("y.d").Doc().Lookup("queries").Doc().Lookup("count").Int64(); got != 2 {
		t.Errorf("top counts %d queries of y.d", got)
	}
	h.RunOn("bad.name", harness.Relaxed(`{find: "c"}`))
	if reply := h.RunOn("bad.name", harness.Relaxed(`{find: "c"}`)); reply.Lookup("code").Int32() != int32(mongoerr.InvalidNamespace) {
		t.Errorf("answered %s", reply)
	}
}
