package applyops_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// An entry that creates a collection may choose its UUID, as mongorestore
// --preserveUUID does.
func TestApplyOpsChoosesUUID(t *testing.T) {
	const id, second = `{$uuid: "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0"}`, `{$uuid: "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"}`
	h := harness.New(t).AsMember()
	create := func(ui, o string) string {
		return `{applyOps: [{op: "c", ns: "test.$cmd", ui: ` + ui + `, o: ` + o + `}]}`
	}
	apply := func(command string) {
		t.Helper()
		if reply := h.Admin(command); !reply.Lookup("ok").Truthy() || reply.Lookup("applied").Int32() != 1 {
			t.Fatalf("%s answered %s", command, reply)
		}
	}
	has := func(coll, want string) {
		t.Helper()
		if got, want := harness.JSONOf(h.UUIDOf(coll)), harness.JSONOf(harness.Relaxed(`{v: `+want+`}`).Lookup("v")); got != want {
			t.Errorf("%s has the UUID %s, want %s", coll, got, want)
		}
	}
	s := h.Watch("c", `{"showExpandedEvents": true}`, "")
	apply(create(id, `{create: "c", validator: {a: {$exists: true}}, idIndex: {v: 2, key: {_id: 1}, name: "_id_"}}`))
	has("c", id)
	h.Fails(121, `{insert: "c", documents: [{b: 1}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}], collectionUUID: ` + id + `}`)
	if e := s.Events()[0]; harness.JSONOf(e.Lookup("collectionUUID")) != harness.JSONOf(h.UUIDOf("c")) {
		t.Errorf("the event of the creation is %s", e)
	}

	apply(create(id, `{create: "c"}`)) // it is there
	apply(create(id, `{create: "renamed"}`))
	has("renamed", id)
	h.Holds("renamed", `{_id: 1, a: 1}`)

	apply(create(second, `{create: "ts", timeseries: {timeField: "t"}}`))
	has("system.buckets.ts", second)
	h.OK(`{insert: "ts", documents: [{t: {$date: "2024-01-01T00:00:00Z"}}]}`)

	h.OK(`{create: "other"}`)
	for _, tt := range []struct {
		command string
		code    int32
		says    string
	}{
		{create(id, `{create: "other"}`), 48, ""},
		{create(`{$uuid: "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f2"}`, `{create: "other", capped: true, size: 4096}`), 48, ""},
		{create(`{$uuid: "0f1e2d3c-4b5a-1978-8695-a4b3c2d1e0f0"}`, `{create: "x"}`), 207, "Invalid UUID in applyOps create command"},
		{create(`{$binary: {base64: "AA==", subType: "04"}}`, `{create: "x"}`), 207, ""},
		{create(`1`, `{create: "x"}`), 207, ""},
		{strings.Replace(create(id, `{create: "x"}`), "test.$cmd", "other.$cmd", 1), 40655, "Invalid name other.x for UUID"},
	} {
		if reply := h.Admin(tt.command); reply.Lookup("code").Int32() != tt.code || !strings.Contains(reply.Lookup("errmsg").Str(), tt.says) {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
}
