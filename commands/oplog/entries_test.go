package oplog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// entries returns the entries of the log except the server's own.
func entries(h *harness.Harness) (list []value.Doc) {
	h.Helper()
	for _, d := range harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {ns: {$not: {$regex: "^(admin.system|config|$)"}}}, batchSize: 100000}`))) {
		list = append(list, d.Clone())
	}
	return list
}

// unlike are the fields that differ from run to run.
var unlike = map[string]bool{"ui": true, "ts": true, "t": true, "v": true, "wall": true, "indexBuildUUID": true, "dropTarget": true, "uid": true}

// briefly returns an entry, or an operation, without the values that differ from run to
// run; of a UUID it shows only that it exists.
func briefly(d value.Doc, top bool) value.Doc {
	b := value.NewBuilder()
	for name, v := range d.All() {
		switch {
		case unlike[name] && v.Kind() == value.KindBinary && name != "ui":
			b.Bool(name, true)
		case top && unlike[name]:
		case name == "ui":
		case v.Kind() == value.KindDocument && name != "key" && name != "idIndex":
			b.Document(name, briefly(v.Doc(), false))
		case v.Kind() == value.KindArray && name == "applyOps":
			var list []value.Value
			for e := range v.Doc().Values() {
				list = append(list, value.Document(briefly(e.Doc(), false)))
			}
			b.Append(name, value.NewArray(list...))
		default:
			b.Append(name, v)
		}
	}
	return b.Doc()
}

// TestEntries: what commands write to the log, as the operations of mongod's
// op_observer_impl.cpp and the manual's page "Replica Set Oplog" have it.
func TestEntries(t *testing.T) {
	t.Parallel()
	const id = `{v: 2, key: {_id: 1}, name: "_id_"}`
	for _, tt := range []struct {
		name, before, commands, want string
	}{
		{"insert makes the collection", ``, `{insert: "c", documents: [{_id: 1, a: 1}]}`,
			`{op: "c", ns: "test.$cmd", o: {create: "c", idIndex: ` + id + `}} {op: "i", ns: "test.c", o: {_id: 1, a: 1}}`},
		{"several inserts are one entry", `{create: "c"}`, `{insert: "c", documents: [{_id: 1}, {_id: 2}]}`,
			`{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "i", ns: "test.c", o: {_id: 1}}, {op: "i", ns: "test.c", o: {_id: 2}}]}}`},
		{"update by operators", `{insert: "c", documents: [{_id: 1, a: 1, b: {x: 1, y: 1}, l: [1]}]}`,
			`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2, "b.x": 5, n: 1}, $unset: {"b.y": 1}, $push: {l: 2}}}]}`,
			`{op: "u", ns: "test.c", o: {$v: 2, diff: {u: {a: 2}, i: {n: 1}, sb: {d: {y: false}, u: {x: 5}}, sl: {a: true, u1: 2}}}, o2: {_id: 1}}`},
		{"update that replaces", `{insert: "c", documents: [{_id: 1, a: 1}]}`, `{update: "c", updates: [{q: {_id: 1}, u: {b: 1}}]}`,
			`{op: "u", ns: "test.c", o: {_id: 1, b: 1}, o2: {_id: 1}}`},
		{"update that changes nothing", `{insert: "c", documents: [{_id: 1, a: 1}]}`, `{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`, ``},
		{"delete", `{insert: "c", documents: [{_id: {a: 1}, b: 2}]}`, `{delete: "c", deletes: [{q: {}, limit: 1}]}`, `{op: "d", ns: "test.c", o: {_id: {a: 1}}}`},
		{"drop", `{insert: "c", documents: [{_id: 1}, {_id: 2}]}`, `{drop: "c"}`, `{op: "c", ns: "test.$cmd", o: {drop: "c"}, o2: {numRecords: {$numberLong: "2"}}}`},
		{"dropDatabase", `{create: "c"}`, `{dropDatabase: 1}`, `{op: "c", ns: "test.$cmd", o: {drop: "c"}, o2: {numRecords: {$numberLong: "0"}}} {op: "c", ns: "test.$cmd", o: {dropDatabase: 1}}`},
		{"view", ``, `{create: "v", viewOn: "c", pipeline: []}`, `{op: "c", ns: "test.$cmd", o: {create: "v", viewOn: "c", pipeline: []}}`},
		{"index of an empty collection", `{create: "c"}`, `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`, `{op: "c", ns: "test.$cmd", o: {createIndexes: "c", v: 2, key: {a: 1}, name: "a"}}`},
		{"indexes over documents", `{insert: "c", documents: [{_id: 1}]}`, `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {b: 1}, name: "b"}]}`,
			`{op: "c", ns: "test.$cmd", o: {commitIndexBuild: "c", indexBuildUUID: true, indexes: [{v: 2, key: {a: 1}, name: "a"}, {v: 2, key: {b: 1}, name: "b"}]}}`},
		{"dropIndexes", `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`, `{dropIndexes: "c", index: "a"}`,
			`{op: "c", ns: "test.$cmd", o: {dropIndexes: "c", index: "a"}, o2: {v: 2, key: {a: 1}, name: "a"}}`},
		{"collMod of an index", `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`, `{collMod: "c", index: {name: "a", hidden: true}}`,
			`{op: "c", ns: "test.$cmd", o: {collMod: "c", index: {name: "a", hidden: true}}, o2: {collectionOptions_old: {}, indexOptions_old: {hidden: false}}}`},
		{"collMod of options", `{create: "c", changeStreamPreAndPostImages: {enabled: true}}`, `{collMod: "c", changeStreamPreAndPostImages: {enabled: false}}`,
			`{op: "c", ns: "test.$cmd", o: {collMod: "c", changeStreamPreAndPostImages: {enabled: false}}, o2: {collectionOptions_old: {changeStreamPreAndPostImages: {enabled: true}}}}`},
		{"collMod of a view", `{create: "v", viewOn: "c", pipeline: []}`, `{collMod: "v", viewOn: "d", pipeline: []}`, `{op: "c", ns: "test.$cmd", o: {collMod: "v", viewOn: "d", pipeline: []}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t)
			if tt.before != "" {
				h.OK(tt.before)
			}
			n := len(entries(h))
			h.OK(tt.commands)
			var got, want []string
			for _, d := range entries(h)[n:] {
				got = append(got, briefly(d, true).JSON())
				if d.Lookup("ts").Kind() != value.KindTimestamp || d.Lookup("wall").DateTime() != harness.TestStart.UnixMilli() || d.Lookup("v").SafeInt64() != 2 || d.Lookup("t").Kind() != value.KindInt64 {
					t.Errorf("entry %s", d)
				}
			}
			for v := range harness.Relaxed("{a: [" + strings.ReplaceAll(tt.want, "} {op", "}, {op") + "]}").Lookup("a").Doc().Values() {
				want = append(want, v.Doc().JSON())
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("logged\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// renameCollection with dropTarget is one entry with the UUID of the former target.
func TestEntryOfRename(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "a"}`)
	h.OK(`{create: "b"}`)
	a, b := h.UUIDOf("a"), h.UUIDOf("b")
	n := len(entries(h))
	if r := h.Admin(`{renameCollection: "test.a", to: "test.b", dropTarget: true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	if r := h.Admin(`{renameCollection: "test.b", to: "test.c"}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	list := entries(h)[n:]
	if len(list) != 2 {
		t.Fatalf("entries %v", list)
	}
	for i, want := range []value.Doc{
		value.NewDoc("renameCollection", value.String("test.a"), "to", value.String("test.b"), "stayTemp", value.Bool(false), "dropTarget", b),
		value.NewDoc("renameCollection", value.String("test.b"), "to", value.String("test.c"), "stayTemp", value.Bool(false)),
	} {
		if got := list[i].Lookup("o").Doc(); got.CanonicalJSON() != want.CanonicalJSON() || !value.Equal(list[i].Lookup("ui"), a) {
			t.Errorf("%s, want %s", list[i], want)
		}
	}
}

// The entry of an expired document has the policy, the due time and the time of removal.
func TestEntryOfExpiry(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at", expireAfterSeconds: 10}]}`)
	at := harness.TestStart.UnixMilli()
	h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: 1, at: {$date: {$numberLong: "%d"}}}]}`, at))
	h.Pass(60)
	list := entries(h)
	last := list[len(list)-1]
	want := fmt.Sprintf(`{policy: "ttl", dueAt: {$date: {$numberLong: "%d"}}, removedAt: {$date: {$numberLong: "%d"}}}`, at+10_000, at+60_000)
	got := last.Lookup("expiration").Doc()
	if last.Lookup("op").Str() != "d" || got.CanonicalJSON() != harness.Relaxed(want).CanonicalJSON() {
		t.Errorf("%s, want %s", last, want)
	}
}

// The statements of a transaction are one entry, applyOps; more than 5000 of them are
// several; each refers to the one before, and the last has the count, as in mongod's
// "large transactions".
func TestEntriesOfTransactions(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: -1, a: 1}]}`)
	n := len(entries(h))
	h.OK(harness.InTxnArgs(`{insert: "c", documents: [{_id: -2}]}`, 1, true))
	h.OK(harness.InTxnArgs(`{update: "c", updates: [{q: {_id: -1}, u: {$set: {a: 2}}}]}`, 1, false))
	h.OK(harness.InTxnArgs(`{delete: "c", deletes: [{q: {_id: -2}, limit: 1}]}`, 1, false))
	if r := h.EndTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	one := entries(h)[n:]
	want := `{lsid: {id: true, uid: true}, txnNumber: {$numberLong: "1"}, op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "i", ns: "test.c", o: {_id: -2}},
		{op: "u", ns: "test.c", o: {$v: 2, diff: {u: {a: 2}}}, o2: {_id: -1}}, {op: "d", ns: "test.c", o: {_id: -2}}]}}`
	if len(one) != 1 {
		t.Fatalf("entries %v", one)
	}
	prev, d := one[0].Lookup("prevOpTime").Doc(), briefly(one[0], true)
	b := value.NewBuilder()
	for name, v := range d.All() {
		switch name {
		case "lsid":
			b.Document(name, value.NewDoc("id", value.Bool(v.Doc().Has("id")), "uid", value.Bool(v.Doc().Has("uid"))))
		case "prevOpTime":
		default:
			b.Append(name, v)
		}
	}
	if got := b.Doc(); got.JSON() != harness.Relaxed(want).JSON() {
		t.Errorf("%s, want %s", got.JSON(), want)
	}
	if prev.JSON() != harness.Relaxed(`{ts: {$timestamp: {t: 0, i: 0}}, t: {$numberLong: "-1"}}`).JSON() {
		t.Errorf("the first points to %s", prev)
	}

	var docs []string
	for i := range 5001 {
		docs = append(docs, fmt.Sprintf("{_id: %d}", i))
	}
	h.OK(harness.InTxnArgs(`{insert: "c", documents: [`+strings.Join(docs, ", ")+`]}`, 2, true))
	if r := h.EndTxn("commitTransaction", 2); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	list := entries(h)[n+1:]
	if len(list) != 2 {
		t.Fatalf("%d entries", len(list))
	}
	first, last := list[0].Lookup("o").Doc(), list[1].Lookup("o").Doc()
	if k := first.Lookup("applyOps").Doc().Len(); k != 5000 || !first.Lookup("partialTxn").Truthy() || first.Has("count") {
		t.Errorf("the first has %d operations", k)
	}
	if k := last.Lookup("applyOps").Doc().Len(); k != 1 || last.Has("partialTxn") || last.Lookup("count").Int64() != 5001 {
		t.Errorf("the last has %d operations, count %s", k, last.Lookup("count"))
	}
	if prev := list[1].Lookup("prevOpTime").Doc(); !value.Equal(prev.Lookup("ts"), list[0].Lookup("ts")) || !value.Equal(prev.Lookup("t"), list[0].Lookup("t")) {
		t.Errorf("the last points to %s", prev)
	}
}

// Namespaces that a transaction must not write to, and the limit of its size.
func TestTransactionIsBounded(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.OK(`{create: "series", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "c"}`)
	for i, tt := range []struct {
		command, text string
		code          int32
	}{
		{`{insert: "capped", documents: [{_id: 1}]}`, "Collection 'test.capped' is a capped collection. Writes in transactions are not allowed on capped collections.", 263},
		{`{insert: "series", documents: [{t: {$date: {$numberLong: "1"}}}]}`, "Cannot insert into a time-series collection in a multi-document transaction", 263},
	} {
		if got := h.Fails(tt.code, harness.InTxnArgs(tt.command, i+1, true)); !strings.HasPrefix(got, tt.text) {
			t.Errorf("%s: %q, want %q", tt.command, got, tt.text)
		}
	}
	if r := h.Admin(`{setParameter: 1, transactionSizeLimitBytes: 1000}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	h.OK(harness.InTxnArgs(`{insert: "c", documents: [{_id: 1}]}`, 5, true))
	got := h.Fails(257, harness.InTxnArgs(`{insert: "c", documents: [{_id: 2, a: "`+strings.Repeat("x", 1000)+`"}]}`, 5, false))
	if got != "Total size of all transaction operations must be less than server parameter 'transactionSizeLimitBytes' = 1000" {
		t.Error(got)
	}
	if h.Count("c") != 0 {
		t.Error("the transaction was not aborted")
	}
}

// A retried findAndModify returns the same version of the document as the first attempt,
// although the document has changed since.
func TestImagesOfRetriedFindAndModify(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
	for i, command := range []string{
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {n: 1}}}`, `{findAndModify: "c", query: {_id: 1}, update: {$inc: {n: 1}}, new: true}`,
		`{findAndModify: "c", query: {_id: 2}, update: {$inc: {n: 1}}, new: true, upsert: true}`, `{findAndModify: "c", query: {_id: 3}, update: {$inc: {n: 1}}, upsert: true}`,
		`{findAndModify: "c", query: {_id: 1}, remove: true}`,
	} {
		first := h.OK(harness.RetryArgs(command, i+1))
		h.OK(`{update: "c", updates: [{q: {}, u: {$inc: {n: 100}}, multi: true}]}`)
		n := len(entries(h))
		second := h.OK(harness.RetryArgs(command, i+1))
		if a, b := first.Lookup("value").String(), second.Lookup("value").String(); a != b {
			t.Errorf("%s answered %s, then %s", command, a, b)
		}
		if len(entries(h)) != n {
			t.Errorf("%s is done twice", command)
		}
	}
}
