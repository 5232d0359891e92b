package applyops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/applyops"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// applyOps applies the validator of the collection unless the command has
// bypassDocumentValidation.
func TestApplyOpsValidates(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", validator: {a: {$type: "int"}}}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: {"$numberInt": "1"}}]}`)
	for _, entry := range []string{
		`{op: "i", ns: "test.c", o: {_id: 2, a: "x"}}`,
		`{op: "i", ns: "test.c", o: {_id: 1, a: "x"}}`,
		`{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {u: {a: "x"}}}}`,
		`{op: "u", ns: "test.c", o2: {_id: 1}, o: {_id: 1, a: "x"}}`,
		`{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "i", ns: "test.c", o: {_id: 2, a: "x"}}]}}`,
	} {
		reply := h.Admin(`{applyOps: [` + entry + `]}`)
		if reply.Lookup("code").Int32() != 121 || reply.Lookup("applied").Int32() != 1 || reply.Lookup("results").Doc().Index(0).Truthy() {
			t.Errorf("%s answered %s", entry, reply)
		}
	}
	h.Holds("c", `{_id: 1, a: 1}`)
	for _, command := range []string{
		`{applyOps: [{op: "i", ns: "test.c", o: {_id: 2, a: "x"}}], bypassDocumentValidation: true}`,
		`{applyOps: [{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "i", ns: "test.c", o: {_id: 3, a: "x"}}]}}], bypassDocumentValidation: true}`,
	} {
		if reply := h.Admin(command); !reply.Lookup("ok").Truthy() {
			t.Errorf("%s answered %s", command, reply)
		}
	}
	h.Holds("c", `{_id: 1, a: 1} {_id: 2, a: "x"} {_id: 3, a: "x"}`)
}

// applyOps, like any write, does not see expired documents.
func TestApplyOpsDoesNotRevive(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 10}}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, old: 1}, {_id: 2, a: 1, old: 1}, {_id: 3, a: 1, old: 1}, {_id: 4, a: 1, old: 1}]}`)
	if err := h.Clock.Advance(11 * time.Second); err != nil {
		t.Fatal(err)
	}
	update := `{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {i: {a: 2}}}}`
	if reply := h.Admin(`{applyOps: [` + update + `]}`); reply.Lookup("code").Int32() != 8 {
		t.Errorf("an update without upsert answered %s", reply)
	}
	update = strings.Replace(update, `op: "u"`, `op: "u", b: true`, 1)
	reply := h.Admin(`{applyOps: [` + update + `, {op: "i", ns: "test.c", o: {_id: 2, a: 2}},
		{op: "u", b: true, ns: "test.c", o2: {_id: 3}, o: {$set: {b: 1}}}, {op: "d", ns: "test.c", o: {_id: 4}}]}`)
	if !reply.Lookup("ok").Truthy() {
		t.Fatalf("answered %s", reply)
	}
	h.Holds("c", `{_id: 1, a: 2} {_id: 2, a: 2} {_id: 3, b: 1}`)
}

// TestApplyOpsNested checks the limits of an applyOps within another.
func TestApplyOpsNested(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	nested := func(depth int, inner string) string {
		for range depth {
			inner = `{op: "c", ns: "admin.$cmd", o: {applyOps: [` + inner + `]}}`
		}
		return `{applyOps: [` + inner + `]}`
	}
	insert := `{op: "i", ns: "test.c", o: {_id: 1}}`
	for _, tt := range []struct {
		command string
		code    int32
		text    string
	}{
		{nested(applyops.MaxDepth, insert), 0, ""},
		{nested(applyops.MaxDepth+1, insert), 9, "Too many nested applyOps"},
		{nested(1, `{op: "c", ns: "test.$cmd", o: {dropDatabase: 1}}`), 9585500, "dropDatabase is not allowed inside nested applyOps"},
		{nested(0, `{op: null, op: "d", ns: "test.c", o: {_id: 1}}`), 14, "Wrong type for 'op'"},
		{nested(0, `{op: "i", op: "d", ns: "test.c", o: {_id: 1}}`), 40413, "BSON field 'applyOps.applyOps.op' is a duplicate field"},
	} {
		reply := h.Admin(tt.command)
		if reply.Lookup("code").Int32() != tt.code && (tt.code != 0 || !reply.Lookup("ok").Truthy()) || !strings.Contains(reply.Lookup("errmsg").Str(), tt.text) {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
	h.Holds("c", `{_id: 1}`)
}

// A field that is given twice is refused, although null counts as absent: otherwise
// the checked privileges and the executed command could differ.
func TestNullsAreDuplicatesToo(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"insert": "secret", "documents": [{"_id": 1}]}`)
	h.MustOn("test", `{"createRole": "makes", "roles": [], "privileges": [{"resource": {"db": "test", "collection": "v"}, "actions": ["find", "createCollection"]}]}`)
	h.Conn.User = h.User("ann", "makes@test")
	h.Svc.Options.Security.Auth = true
	b := value.NewBuilder()
	b.String("create", "v").Null("viewOn").String("viewOn", "secret")
	if reply := h.RunOn("test", b.Doc()); reply.Lookup("code").Int32() != 40413 {
		t.Errorf("answered %s", reply)
	}
	h.Fails(13, `{create: "v", viewOn: "secret"}`)
}
