package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Operations are listed as copies, by their ids; those that an expiry pass yields to are
// counted separately.
func TestRunningOperations(t *testing.T) {
	t.Parallel()
	r := harness.New(t).Svc.Ops
	body, plan := value.MustJSON(`{"find": "c", "$db": "test"}`), "COLLSCAN"
	var ops []*kernel.Operation
	for i, name := range []string{"find", "hello", "getMore", "testClock", "aggregate", "runExpirationPass", "insert"} {
		for range 10 { // more than there are shards
			op := &kernel.Operation{Name: name, Body: body, Started: int64(i), User: "admin.ann"}
			op.Plan.Store(&plan)
			r.Add(op)
			ops = append(ops, op)
		}
	}
	if r.Count() != 70 || r.CountClients() != 40 {
		t.Errorf("%d operations, %d of clients", r.Count(), r.CountClients())
	}
	r.Kill(kernel.ErrKilled, func(op *kernel.Operation) bool { return op == ops[3] })
	list := r.ListWith(-1, func(value.Doc) string { return "" })
	for i, op := range list {
		if i > 0 && op.ID <= list[i-1].ID {
			t.Errorf("%d comes behind %d", op.ID, list[i-1].ID)
		}
		if op.Name != ops[i].Name || op.User != "admin.ann" || op.Body.String() != body.String() || *op.Plan.Load() != plan || op.Killed.Load() != (i == 3) {
			t.Errorf("listed as %s %s %s", op.Name, op.User, op.Body)
		}
	}
	clear(body)
	if list[0].Body.Lookup("find").Str() != "c" {
		t.Error("the list shares the body of the command")
	}
	if r.List()[0].Body != nil {
		t.Error("the body is copied without need")
	}
	// From the middle, the end and the beginning of the shards.
	for _, i := range []int{35, 0, 69, 20, 16, 48, 1} {
		r.Remove(ops[i])
		ops[i] = nil
	}
	left := 0
	for _, op := range ops {
		if op != nil {
			left++
		}
	}
	if r.Count() != left {
		t.Errorf("%d operations are left, want %d", r.Count(), left)
	}
	for _, op := range ops {
		if op != nil {
			r.Remove(op)
		}
	}
	if r.Count() != 0 {
		t.Errorf("%d operations are left at last", r.Count())
	}
}

// The namespace that currentOp shows for a command, as mongod's parseNs gives it.
func TestNamespaceOfOperation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string][2]string{
		"find":      {`{find: "c", $db: "test"}`, "test.c"},
		"getMore":   {`{getMore: {$numberLong: "1"}, collection: "c", $db: "test"}`, "test.c"},
		"aggregate": {`{aggregate: 1, pipeline: [], $db: "test"}`, "test.$cmd.aggregate"},
		"ping":      {`{ping: 1, $db: "admin"}`, "admin.$cmd"},
	} {
		if got := kernel.OperationNamespace(&kernel.Operation{Name: name, Body: harness.Relaxed(tt[0])}); got != tt[1] {
			t.Errorf("%s: %s, want %s", name, got, tt[1])
		}
	}
}

// A command of more than 50 KB is shown as the beginning of its text, with its comment
// (jstests/core/currentop_query.js: $truncated).
func TestTruncatedCommands(t *testing.T) {
	t.Parallel()
	short := value.NewDoc("find", value.String("c"), "comment", value.String("mine"))
	if got := kernel.Truncated(short, kernel.MaxProfiled); got.String() != short.String() {
		t.Errorf("a short one is %s", got)
	}
	for _, tt := range []struct {
		text    string
		comment bool
	}{{strings.Repeat("x", 60_000), true}, {strings.Repeat("ä", 60_000), false}} {
		b := value.NewBuilder()
		b.String("find", "c").String("filter", tt.text)
		if tt.comment {
			b.String("comment", "mine")
		}
		got := kernel.Truncated(b.Doc(), kernel.MaxProfiled)
		said := got.Lookup("$truncated").Str()
		if !strings.HasPrefix(said, `{ find: "c", filter: "`+tt.text[:100]) || !strings.HasSuffix(said, "...") || len(said) > 50<<10 || strings.Contains(said, "mine") || strings.ToValidUTF8(said, "") != said {
			t.Errorf("%d bytes: %.40s", len(said), said)
		}
		if got.Has("comment") != tt.comment || tt.comment && got.Lookup("comment").Str() != "mine" {
			t.Errorf("the comment is %s", got.Lookup("comment"))
		}
	}
}

// The profiler records commands that open a collection, or read its statistics.
func TestProfiledCommands(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	h.OK(`{profile: 2}`)
	h.OK(`{find: "c", comment: "find"}`)
	h.OK(`{dbStats: 1, comment: "dbStats"}`)
	h.OK(`{ping: 1, comment: "ping"}`)
	h.OK(`{listCollections: 1, comment: "listCollections"}`)
	id := h.OK(`{find: "c", batchSize: 1, comment: "opens"}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", comment: "getMore"}`, id))
	h.OK(`{profile: 0}`)
	var seen []string
	for _, d := range harness.Docs(h.OK(`{find: "system.profile", sort: {$natural: 1}}`)) {
		if c := d.Lookup("command").Doc().Lookup("comment"); !c.IsMissing() {
			seen = append(seen, c.Str())
		}
	}
	if got := strings.Join(seen, " "); got != "find dbStats opens getMore" {
		t.Errorf("profiled: %s", got)
	}
}
