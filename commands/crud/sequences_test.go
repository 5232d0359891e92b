package crud_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Only the commands that write documents take them as sections of the
// message; mongod refuses them for all others.
func TestDocumentSequences(t *testing.T) {
	h := harness.New(t)
	run := func(body, name, doc string) value.Doc {
		t.Helper()
		b := value.NewBuilder()
		it := harness.Relaxed(body).Iter()
		b.Raw(it.Rest()).String("$db", "test")
		out, _ := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: b.Doc(), Sequences: []kernel.Sequence{{ID: name, Docs: harness.Relaxed(doc), Len: 1}}}, nil)
		return value.Doc(out)
	}
	for _, c := range []struct {
		body, name, doc string
		code            int32
	}{
		{`{insert: "c"}`, "documents", `{_id: 1}`, 0},
		{`{update: "c"}`, "updates", `{q: {_id: 1}, u: {$set: {a: 1}}}`, 0},
		{`{delete: "c"}`, "deletes", `{q: {_id: 1}, limit: 1}`, 0},
		{`{createIndexes: "c"}`, "indexes", `{key: {a: 1}, name: "a_1"}`, 40472},
		{`{aggregate: "c", cursor: {}}`, "pipeline", `{$match: {}}`, 40472},
		{`{ping: 1}`, "documents", `{}`, 40472},
	} {
		r := run(c.body, c.name, c.doc)
		if r.Lookup("code").Int32() != c.code || r.Has("writeErrors") {
			t.Errorf("%s: %s", c.body, r)
		}
	}
	const want = "The createIndexes command does not support document sequences."
	if got := run(`{createIndexes: "c"}`, "indexes", `{}`).Lookup("errmsg").Str(); got != want {
		t.Errorf("says %q", got)
	}
}
