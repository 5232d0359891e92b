package diagnostics_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// running registers an operation of a client with a command.
func running(h *harness.Harness, name string, body value.Doc) *kernel.Operation {
	op := &kernel.Operation{Conn: h.Conn, Name: name, Body: body}
	h.Svc.Ops.Add(op)
	h.Cleanup(func() { h.Svc.Ops.Remove(op) })
	return op
}

// shown returns what currentOp and $currentOp show of an operation, by the way of asking.
func shown(h *harness.Harness, id int32) map[string]value.Doc {
	list := map[string]value.Doc{}
	find := func(way string, docs value.Doc) {
		for v := range docs.Values() {
			if v.Doc().Lookup("opid").Int32() == id {
				list[way] = v.Doc()
			}
		}
	}
	find("command", h.Admin(`{currentOp: 1}`).Lookup("inprog").Doc())
	for _, truncate := range []string{"true", "false"} {
		reply := h.Admin(`{aggregate: 1, pipeline: [{$currentOp: {allUsers: true, truncateOps: ` + truncate + `}}], cursor: {}}`)
		find(truncate, reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc())
	}
	return list
}

// TestCurrentOpTruncates: the command currentOp, and $currentOp with truncateOps, show of a
// command over 1000 bytes the beginning of its text, its comment and its shape.
func TestCurrentOpTruncates(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	long := strings.Repeat("x", 15e6)
	body := value.NewDoc("find", value.String("c"), "filter", value.Document(value.NewDoc("a", value.String(long))), "comment", value.String("mine"), "$db", value.String("test"))
	list := shown(h, running(h, "find", body).ID)
	for _, way := range []string{"command", "true"} {
		d := list[way]
		command := d.Lookup("command").Doc()
		text := command.Lookup("$truncated").Str()
		if !strings.HasPrefix(text, `{ find: "c", filter: { a: "xxx`) || len(text) > 1000 || command.Lookup("comment").Str() != "mine" || len(d) > 3000 {
			t.Errorf("%s: %d bytes, %.200s", way, len(d), command)
		}
		if d.Lookup("ns").Str() != "test.c" || d.Lookup("queryShapeHash").Str() == "" || d.Lookup("queryShapeHash").Str() != list["false"].Lookup("queryShapeHash").Str() {
			t.Errorf("%s: ns %s, shape %s", way, d.Lookup("ns"), d.Lookup("queryShapeHash"))
		}
	}
	if got := list["false"].Lookup("command").Doc(); got.Lookup("filter").Doc().Lookup("a").Str() != long {
		t.Errorf("without truncateOps: %.200s", got)
	}
	huge := shown(h, running(h, "find", value.NewDoc("find", value.String("c"), "comment", value.String(long))).ID)["command"]
	if len(huge) > 5000 || !strings.HasPrefix(huge.Lookup("command").Doc().Lookup("comment").Doc().Lookup("$truncated").Str(), `{ comment: "xxx`) {
		t.Errorf("a long comment is shown in %d bytes: %.300s", len(huge), huge)
	}
}

// TestCurrentOpCursor: a getMore has the cursor that it uses, with what that had returned
// before, and the comment of the command that opened it.
func TestCurrentOpCursor(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	id := h.OK(`{find: "c", batchSize: 2, comment: "find's"}`).Lookup("cursor").Doc().Lookup("id").Int64()
	op := running(h, "getMore", value.NewDoc("getMore", value.Int64(id), "collection", value.String("c"), "$db", value.String("test")))
	if d := shown(h, op.ID)["false"]; d.Has("cursor") {
		t.Errorf("before it has the cursor: %s", d)
	}
	cur, err := h.Svc.Cursors.Take(id, op, nil)
	if err != nil {
		t.Fatal(err)
	}
	cur.Returned, cur.Batches = 3, 2 // it runs
	for way, d := range shown(h, op.ID) {
		c := d.Lookup("cursor").Doc()
		if c.Lookup("operationUsingCursorId").Int64() != int64(op.ID) || c.Lookup("cursorId").Int64() != id || c.Lookup("nDocsReturned").Int64() != 2 ||
			c.Lookup("nBatchesReturned").Int64() != 1 || c.Lookup("originatingCommand").Doc().Lookup("find").Str() != "c" {
			t.Errorf("%s: %s", way, d)
		}
		if got := d.Lookup("command").Doc().Lookup("comment").Str(); got != "find's" {
			t.Errorf("%s: the comment is %q", way, got)
		}
	}
	h.Svc.Cursors.Release(cur, h.Svc.Real.Now())
	if d := shown(h, op.ID)["false"]; d.Has("cursor") {
		t.Errorf("after it has used the cursor: %s", d)
	}
}

// TestIdleConnections: $currentOp with idleConnections, and currentOp with $all, show the
// connections without an operation.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	h := newCursorHarness(t)
	h.User("bob", "readWrite@test")
	ids := map[string]int64{}
	for _, user := range []string{"", "bob", "root"} {
		conn := h.Svc.NewConn("10.0.0.1:5000", "127.0.0.1:27017")
		if user != "" {
			conn.SetUser(h.Find(user))
		}
		h.Svc.Connected(conn)
		ids[user] = conn.ID
		if user == "root" {
			defer h.Svc.CloseConn(conn)
		}
	}
	idle := func(user, command string) (names string) {
		reply := h.As(user, "admin", command)
		list := harness.Docs(reply)
		for v := range reply.Lookup("inprog").Doc().Values() {
			list = append(list, v.Doc())
		}
		for _, d := range list {
			if d.Lookup("active").Bool() || d.Lookup("type").Str() != "op" {
				continue
			}
			who := d.Lookup("effectiveUsers").Doc().Index(0).Doc().Lookup("user").Str()
			if names += "/" + who; d.Lookup("connectionId").Int64() != ids[who] || d.Lookup("client").Str() != "10.0.0.1:5000" || d.Has("opid") {
				t.Errorf("%s is shown %s", user, d)
			}
		}
		return names
	}
	stage := func(options string) string {
		return `{aggregate: 1, pipeline: [{$currentOp: ` + options + `}], cursor: {batchSize: 1000}}`
	}
	for _, tt := range []struct{ user, command, want string }{
		{"root", stage(`{allUsers: true, idleConnections: true}`), "//bob/root"},
		{"root", stage(`{idleConnections: true}`), "/root"},
		{"bob", stage(`{idleConnections: true}`), "/bob"},
		{"root", stage(`{allUsers: true, idleConnections: false}`), ""},
		{"root", `{currentOp: 1, "$all": true}`, "//bob/root"},
		{"root", `{currentOp: 1}`, ""},
	} {
		if got := idle(tt.user, tt.command); got != tt.want {
			t.Errorf("%s sees with %s %q, want %q", tt.user, tt.command, got, tt.want)
		}
	}
}

// TestLogRotateFields: logRotate takes no other fields than those that every command takes.
func TestLogRotateFields(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for command, code := range map[string]int32{
		`{logRotate: 1}`: 0, `{logRotate: "server", comment: "x"}`: 0, `{logRotate: true}`: 0,
		`{logRotate: 1, unknownField: 1}`: 40415, `{logRotate: 1, unknownField: 1, comment: "x"}`: 40415, `{logRotate: "invalid"}`: 4, `{logRotate: null}`: 14,
	} {
		if r := h.Admin(command); r.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, r)
		}
	}
}

// The deletes of the TTL monitor are shown while a pass is at a collection, to those who see
// the operations of all.
func TestCurrentOpOfMonitor(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 0}]}`)
	batch := `{insert: "c", documents: [` + strings.TrimSuffix(strings.Repeat(`{x: {"$date": "2026-01-01T00:00:00Z"}},`, 5000), ",") + `]}`
	var seen value.Doc
	for seen == nil { // a pass may end between two looks
		h.OK(batch)
		ended := make(chan error)
		go func() {
			_, err := h.Svc.Monitor.RunPass(t.Context(), ttl.All)
			ended <- err
		}()
		for done := false; !done; {
			select {
			case err := <-ended:
				if done = true; err != nil {
					t.Fatal(err)
				}
			default:
			}
			if list := h.Admin(`{currentOp: 1, desc: "TTLMonitor"}`).Lookup("inprog").Doc(); list.Len() > 0 {
				seen = list.Index(0).Doc().Clone()
			}
			if own := h.Admin(`{currentOp: 1, $ownOps: true, desc: "TTLMonitor"}`).Lookup("inprog").Doc(); own.Len() > 0 {
				t.Errorf("among the client's own: %s", own)
			}
		}
	}
	for name, want := range map[string]string{"op": `"remove"`, "ns": `"test.c"`, "active": "true", "effectiveUsers": `[ { user: "__system", db: "local" } ]`} {
		if got := seen.Lookup(name).String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
