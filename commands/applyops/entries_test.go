package applyops_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Entries of each kind, in the forms that oplogs have had: an operator update ($v 1), a
// difference ($v 2), a whole document; commands; no-ops.
func TestApplyOpsEntries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, entries, reply, left string }{
		{"insert", `{op: "i", ns: "test.c", o: {_id: 3}}`, `{applied: 1, results: [true]}`, `{_id: 1, a: 1} {_id: 2, a: 1} {_id: 3}`},
		{"insert in place of another", `{op: "i", ns: "test.c", o: {_id: 1, b: 1}}`, `{applied: 1, results: [true]}`, `{_id: 1, b: 1} {_id: 2, a: 1}`},
		{"operators", `{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 1, $set: {b: 2}, $unset: {a: 1}}}`, `{applied: 1, results: [true]}`, `{_id: 1, b: 2} {_id: 2, a: 1}`},
		{"difference", `{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {d: {a: false}, i: {b: 2}}}}`, `{applied: 1, results: [true]}`, `{_id: 1, b: 2} {_id: 2, a: 1}`},
		{"replacement", `{op: "u", ns: "test.c", o2: {_id: 1}, o: {_id: 1, b: 2}}`, `{applied: 1, results: [true]}`, `{_id: 1, b: 2} {_id: 2, a: 1}`},
		{"upsert", `{op: "u", b: true, ns: "test.c", o2: {_id: 5}, o: {$set: {b: 2}}}`, `{applied: 1, results: [true]}`, `{_id: 1, a: 1} {_id: 2, a: 1} {_id: 5, b: 2}`},
		{"delete", `{op: "d", ns: "test.c", o: {_id: 1}}, {op: "d", ns: "test.c", o: {_id: 9}}, {op: "d", ns: "test.none", o: {_id: 1}}`, `{applied: 3, results: [true, true, true]}`, `{_id: 2, a: 1}`},
		{"no-op", `{op: "n", ns: "", o: {msg: "x"}}, {op: "d", ns: "test.c", o: {_id: 1}}`, `{applied: 1, results: [true]}`, `{_id: 2, a: 1}`},
		{
			"an update that finds nothing fails, and what follows is applied",
			`{op: "u", ns: "test.c", o2: {_id: 9}, o: {$set: {b: 2}}}, {op: "d", ns: "test.c", o: {_id: 1}}`,
			`{code: 8, applied: 2, results: [false, true]}`, `{_id: 2, a: 1}`,
		},
		{
			"another error ends the list",
			`{op: "d", ns: "test.c", o: {_id: 1}}, {op: "i", ns: "test.none", o: {_id: 1}}, {op: "d", ns: "test.c", o: {_id: 2}}`,
			`{code: 26, applied: 2, results: [true, false]}`, `{_id: 2, a: 1}`,
		},
		{"commands", `{op: "c", ns: "test.$cmd", o: {create: "d"}}`, `{applied: 1, results: [true]}`, `{_id: 1, a: 1} {_id: 2, a: 1}`},
		{"rename and back", `{op: "c", ns: "test.$cmd", o: {renameCollection: "test.c", to: "test.e"}}`, `{applied: 1, results: [true]}`, ``},
		{"index", `{op: "c", ns: "test.$cmd", o: {createIndexes: "c", v: 2, key: {a: 1}, name: "a_1"}}, {op: "c", ns: "test.$cmd", o: {startIndexBuild: "c"}}`, `{applied: 2, results: [true, true]}`, `{_id: 1, a: 1} {_id: 2, a: 1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
			reply := h.Admin(`{applyOps: [` + tt.entries + `]}`)
			for name, want := range harness.Relaxed(tt.reply).All() {
				if got := reply.Lookup(name); got.String() != want.String() {
					t.Errorf("%s is %s, want %s: %s", name, got, want, reply)
				}
			}
			if want := harness.Relaxed(tt.reply); reply.Lookup("ok").Truthy() == want.Has("code") {
				t.Errorf("answered %s", reply)
			}
			h.Holds("c", tt.left)
		})
	}
}

// Entries that no list may contain are refused before any entry is applied (mongod's
// OplogApplicationChecks and apply_ops_cmd). An entry of an unknown type fails when it
// is applied.
func TestApplyOpsRefuses(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	const good = `{op: "d", ns: "test.c", o: {_id: 1}}, `
	test := func(entry string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "admin", Command: `{applyOps: [` + good + entry + `]}`, Code: code, Text: text}
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{applyOps: 1}`, Code: 14},
		{DB: "admin", Command: `{applyOps: [], prepare: true}`, Code: 2, Text: "applyOps command can't have 'prepare' field"},
		{DB: "admin", Command: `{applyOps: [], partialTxn: true}`, Code: 31056, Text: "applyOps command can't have 'partialTxn' field."},
		{DB: "admin", Command: `{applyOps: [], count: {$numberLong: "1"}}`, Code: 31240, Text: "applyOps command can't have 'count' field."},
		{DB: "admin", Command: `{applyOps: [], preCondition: []}`, Code: 6711600, Text: "applyOps command no longer supports the 'preCondition' option"},
		{DB: "admin", Command: `{applyOps: [], alwaysUpsert: true}`, Code: 6711601, Text: "applyOps command no longer supports the 'alwaysUpsert' option"},
		test(`null`, 14, ""),
		test(`1`, 14, ""),
		test(`{ns: "test.c", o: {}}`, 4, "Wrong type for 'op'. Expected a string, got a missing"),
		test(`{op: 1, ns: "test.c", o: {}}`, 14, ""),
		test(`{op: "", ns: "test.c", o: {}}`, 20, `"op" field value cannot be empty: 1`),
		test(`{op: "i", o: {}}`, 20, `op does not contain required "ns" field: 1`),
		test(`{op: "i", ns: 1, o: {}}`, 20, `"ns" field is not a string: 1`),
		test(`{op: "i", ns: "", o: {}}`, 20, `"ns" field value cannot be empty when op type is not 'n': 1`),
		test(`{op: "i", ns: "test.\u0000", o: {}}`, 20, "namespaces cannot have embedded null characters"),
		test(`{op: "c", ns: "test.$cmd", o: {applyOps: 1}}`, 14, ""),
		test(`{op: "c", ns: "test.$cmd", o: {applyOps: [{op: "i"}]}}`, 20, ""),
	})
	h.Holds("c", `{_id: 1}`)
	alone := func(entry string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "admin", Command: `{applyOps: [` + entry + `]}`, Code: code, Text: text}
	}
	h.Refuses([]harness.Refusal{
		alone(`{op: "x", ns: "test.c", o: {}}`, 2, "Enumeration value 'x' for field 'OplogEntryBase.op' is not a valid value."),
		alone(`{op: "i", ns: "test.c"}`, 40414, "BSON field 'OplogEntryBase.o' is missing but a required field"),
		alone(`{op: "i", ns: "a b.c", o: {}}`, 73, ""),
		alone(`{op: "i", ns: "test.", o: {}}`, 73, ""),
		alone(`{op: "i", ns: "test.c", o: {a: 1}}`, 4, "Failed to apply insert due to missing _id: *"),
		alone(`{op: "u", ns: "test.c", o: {a: 1}, o2: {}}`, 4, "Failed to apply update due to missing _id: *"),
		alone(`{op: "i", ns: "test.c", o: {_id: [1]}}`, 53, ""),
		alone(`{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {u: 1}}}`, 4770507, "Expected u section to be type object"),
		alone(`{op: "u", ns: "test.c", o2: {_id: 1}, o: {$bad: {a: 1}}}`, 9, ""),
		alone(`{op: "u", ns: "test.c", o2: {_id: 1}, o: {$inc: {_id: "x"}}}`, 14, ""),
		alone(`{op: "c", ns: "test.$cmd", o: {ping: 1}}`, 2, "Invalid key 'ping' found in 'o'"),
		alone(`{op: "c", ns: "test.$cmd", o: {drop: "none"}}`, 0, ""),
		alone(`{op: "i", ns: "test.c", ui: {$uuid: "00000000-0000-4000-8000-000000000001"}, o: {_id: 1}}`, 26, ""),
		alone(`{op: "c", ns: "test.$cmd", o: {applyOps: [], alwaysUpsert: true}}`, 6711601, ""),
	})
	h.Holds("c", `{_id: 1}`)
}

// Each entry requires the privilege for the command that does the same
// (reference/command/applyOps, "Required Access").
func TestApplyOpsAsksForPrivileges(t *testing.T) {
	t.Parallel()
	h := harness.NewAuth(t)
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}]}`)
	h.MustOn("other", `{"insert": "c", "documents": [{"_id": 1}]}`)
	h.MustOn("admin", `{"createRole": "applies", "roles": [], "privileges": [{"resource": {"cluster": true}, "actions": ["applyOps"]}]}`)
	h.MustOn("admin", `{"createRole": "chooses", "roles": [], "privileges": [{"resource": {"cluster": true}, "actions": ["useUUID", "forceUUID"]}]}`)
	h.User("ann", "applies@admin", "readWrite@test")
	h.User("bob", "applies@admin", "chooses@admin", "readWrite@test", "dbAdmin@test")
	h.User("eve", "readWriteAnyDatabase@admin")
	h.MustOn("admin", `{"createRole": "everything", "roles": [], "privileges": [{"resource": {"anyResource": true}, "actions": ["anyAction"]}]}`)
	h.User("all", "everything@admin")
	id := harness.JSONOf(h.UUIDOf("c"))
	const chosen = `ui: {$uuid: "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0"}, `
	for _, tt := range []struct {
		user, entries string
		code          int32
	}{
		{"eve", `{op: "d", ns: "test.c", o: {_id: 9}}`, 13}, // may not apply at all
		{"ann", `{op: "d", ns: "test.c", o: {_id: 9}}`, 0},
		{"ann", `{op: "d", ns: "other.c", o: {_id: 9}}`, 13},
		{"ann", `{op: "n", ns: "", o: {}}`, 13},
		{"all", `{op: "n", ns: "", o: {}}`, 0},
		{"ann", ``, 13}, // for whom may do everything
		{"all", ``, 0},
		{"ann", `{op: "c", ns: "test.$cmd", o: {drop: "d"}}`, 0},
		{"ann", `{op: "c", ns: "other.$cmd", o: {drop: "c"}}`, 13},
		{"ann", `{op: "c", ns: "test.$cmd", o: {createIndexes: "c", v: 2, key: {a: 1}, name: "a_1"}}`, 0},
		{"ann", `{op: "c", ns: "test.$cmd", o: {collMod: "c"}}`, 13},
		{"bob", `{op: "c", ns: "test.$cmd", o: {collMod: "c"}}`, 0},
		{"ann", `{op: "c", ns: "test.$cmd", o: {ping: 1}}`, 9},
		{"ann", `{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "d", ns: "test.c", o: {_id: 9}}]}}`, 0},
		{"ann", `{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "d", ns: "other.c", o: {_id: 9}}]}}`, 13},
		{"ann", `{op: "d", ns: "test.c", ui: ` + id + `, o: {_id: 9}}`, 13},
		{"bob", `{op: "d", ns: "test.c", ui: ` + id + `, o: {_id: 9}}`, 0},
		{"ann", `{op: "c", ns: "test.$cmd", ` + chosen + `o: {create: "e"}}`, 13},
		{"bob", `{op: "c", ns: "test.$cmd", ` + chosen + `o: {create: "e"}}`, 0},
		{"bob", `{op: "c", ns: "test.$cmd", o: {create: "f"}}, {op: "d", ns: "test.c", o: {_id: 9}}`, 13}, // beside others
		{"all", `{op: "c", ns: "test.$cmd", o: {create: "f"}}, {op: "d", ns: "test.c", o: {_id: 9}}`, 0},
		{"bob", `{op: "c", ns: "test.$cmd", o: {renameCollection: "test.c", to: "other.moved"}}`, 13},
	} {
		if r := h.As(tt.user, "admin", `{applyOps: [`+tt.entries+`]}`); r.Lookup("code").Int32() != tt.code {
			t.Errorf("%s, %s: %s, want %d", tt.user, tt.entries, r, tt.code)
		}
	}
	if n := len(harness.Docs(h.MustOn("other", `{"find": "c"}`))); n != 1 {
		t.Errorf("%d documents in other.c", n)
	}
}
