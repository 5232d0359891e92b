package ddl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// step is a command and the fields of its reply beside ok, or what listCollections
// shows afterwards.
type step struct{ command, reply, options string }

// runSteps runs the steps in order. options are those of the collection coll.
func runSteps(h *harness.Harness, coll string, list []step) {
	h.Helper()
	for _, s := range list {
		reply := h.OK(s.command)
		if s.reply != "" {
			if got, want := without(reply, "ok", "$clusterTime", "operationTime"), harness.Relaxed(s.reply).CanonicalJSON(); got != want {
				h.Errorf("%s\nanswered %s, want %s", s.command, got, want)
			}
		}
		if s.options != "" {
			if got, want := fieldsOf(optionsOf(h, coll).CanonicalJSON()), fieldsOf(harness.Relaxed(s.options).CanonicalJSON()); got != want {
				h.Errorf("after %s the options are\n%s, want\n%s", s.command, got, want)
			}
		}
	}
}

// without returns a document as JSON without some fields.
func without(d value.Doc, names ...string) string {
	b := value.NewBuilder()
	for name, v := range d.All() {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			b.Append(name, v)
		}
	}
	return b.Doc().CanonicalJSON()
}

func optionsOf(h *harness.Harness, coll string) value.Doc {
	h.Helper()
	for _, d := range harness.Docs(h.OK(`{listCollections: 1, filter: {name: "` + coll + `"}}`)) {
		return d.Lookup("options").Doc()
	}
	h.Fatalf("%s is not listed", coll)
	return nil
}

// indexOf returns the listed definition of an index without version and name.
func indexOf(h *harness.Harness, coll, name string) string {
	h.Helper()
	for _, d := range harness.Docs(h.OK(`{listIndexes: "` + coll + `"}`)) {
		if d.Lookup("name").Str() == name {
			return without(d, "v", "name")
		}
	}
	return ""
}

const long = `{"$numberLong": "`

// The reply of collMod has, for each changed property of an index, the old value if it
// had one, and the new one. Unchanged properties are not in the reply, except
// expireAfterSeconds (coll_mod.idl).
func TestCollModIndexReplies(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {b: 1}, name: "b"}, {key: {u: 1}, name: "u", unique: true}]}`)
	for _, s := range []struct{ command, reply, index, shown string }{
		{`{name: "a", expireAfterSeconds: 100}`, `{expireAfterSeconds_new: ` + long + `100"}}`, "a", `{key: {a: 1}, expireAfterSeconds: 100}`},
		{`{keyPattern: {a: 1}, expireAfterSeconds: 50.6}`, `{expireAfterSeconds_old: ` + long + `100"}, expireAfterSeconds_new: ` + long + `50"}}`, "a", `{key: {a: 1}, expireAfterSeconds: 50}`},
		{`{name: "a", expireAfterSeconds: {"$numberDecimal": "50.6"}}`, `{expireAfterSeconds_old: ` + long + `50"}, expireAfterSeconds_new: ` + long + `51"}}`, "a", `{key: {a: 1}, expireAfterSeconds: 51}`},
		{`{name: "a", expireAfterSeconds: 51}`, `{expireAfterSeconds_old: ` + long + `51"}, expireAfterSeconds_new: ` + long + `51"}}`, "a", `{key: {a: 1}, expireAfterSeconds: 51}`},
		{`{name: "a", expireAfterSeconds: {"$numberDouble": "Infinity"}}`, `{expireAfterSeconds_old: ` + long + `51"}, expireAfterSeconds_new: ` + long + `2147483647"}}`, "a", `{key: {a: 1}, expireAfterSeconds: 2147483647}`},
		{`{name: "b", hidden: true}`, `{hidden_old: false, hidden_new: true}`, "b", `{key: {b: 1}, hidden: true}`},
		{`{name: "b", hidden: true}`, `{}`, "b", `{key: {b: 1}, hidden: true}`},
		{`{name: "b", hidden: false}`, `{hidden_old: true, hidden_new: false}`, "b", `{key: {b: 1}}`},
		{`{name: "b", expireAfterSeconds: 5, hidden: true}`, `{expireAfterSeconds_new: ` + long + `5"}, hidden_old: false, hidden_new: true}`, "b", `{key: {b: 1}, hidden: true, expireAfterSeconds: 5}`},
		{`{name: "b", prepareUnique: true}`, `{prepareUnique_old: false, prepareUnique_new: true}`, "b", `{key: {b: 1}, prepareUnique: true, hidden: true, expireAfterSeconds: 5}`},
		{`{name: "b", prepareUnique: false}`, `{prepareUnique_old: true, prepareUnique_new: false}`, "b", `{key: {b: 1}, hidden: true, expireAfterSeconds: 5}`},
		{`{name: "u", unique: true}`, `{}`, "u", `{key: {u: 1}, unique: true}`},
		{`{name: "u", prepareUnique: true}`, `{}`, "u", `{key: {u: 1}, unique: true}`},
	} {
		reply := h.OK(`{collMod: "c", index: ` + s.command + `}`)
		if got, want := without(reply, "ok", "$clusterTime", "operationTime"), harness.Relaxed(s.reply).CanonicalJSON(); got != want {
			t.Errorf("%s\nanswered %s, want %s", s.command, got, want)
		}
		if got, want := fieldsOf(indexOf(h, "c", s.index)), fieldsOf(harness.Relaxed(s.shown).CanonicalJSON()); got != want {
			t.Errorf("after %s the index is %s, want %s", s.command, got, want)
		}
	}
}

// fieldsOf returns a document with its fields sorted by name.
func fieldsOf(json string) string {
	if json == "" {
		return "no index"
	}
	var list []string
	for name, v := range value.MustJSON(json).All() {
		list = append(list, name+": "+harness.JSONOf(v))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// A refused collMod changes nothing (semantics.md 3.5, coll_mod.cpp).
func TestCollModIndexRefusals(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {x: 1, y: 1}, name: "xy"}, {key: {t: 1}, name: "t", expireAfterSeconds: 5}, {key: {t: 1}, name: "t_fr", collation: {locale: "fr"}}]}`)
	h.OK(`{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true, name: "own"}}`)
	h.OK(`{createIndexes: "system.js", indexes: [{key: {a: 1}, name: "a"}]}`)
	before := h.OK(`{listIndexes: "c"}`).String()
	list := []harness.Refusal{}
	for _, r := range []harness.Refusal{
		{Command: `{keyPattern: {a: 1}, name: "a", hidden: true}`, Code: 72, Text: "Cannot specify both key pattern and name."},
		{Command: `{hidden: true}`, Code: 72, Text: "Must specify either index name or key pattern."},
		{Command: `{name: "a"}`, Code: 72, Text: "no expireAfterSeconds, hidden, unique, or prepareUnique field"},
		{Command: `{name: "nope", hidden: true}`, Code: 27, Text: "cannot find index nope for ns test.c"},
		{Command: `{keyPattern: {nope: 1}, hidden: true}`, Code: 27, Text: "cannot find index { nope: 1 } for ns test.c"},
		{Command: `{keyPattern: {t: 1}, hidden: true}`, Code: 181, Text: "index keyPattern { t: 1 } matches 2 indexes, must use index name. Conflicting indexes:*"},
		{Command: `{name: "a", expireAfterSeconds: "100"}`, Code: 14},
		{Command: `{name: "a", expireAfterSeconds: -1}`, Code: 72, Text: "TTL index 'expireAfterSeconds' option cannot be less than 0*"},
		{Command: `{name: "a", expireAfterSeconds: {"$numberDouble": "NaN"}}`, Code: 72},
		{Command: `{name: "_id_", expireAfterSeconds: 100}`, Code: 72, Text: "the _id field does not support TTL indexes"},
		{Command: `{name: "xy", expireAfterSeconds: 100}`, Code: 72, Text: "TTL indexes are single-field indexes, compound indexes do not support TTL"},
		{Command: `{name: "_id_", hidden: true}`, Code: 2, Text: "can't hide _id index"},
		{Command: `{name: "a", prepareUnique: true, hidden: true}`, Code: 72, Text: "prepareUnique cannot be combined with any other modification."},
		{Command: `{name: "a", unique: true}`, Code: 72, Text: "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first."},
		{Command: `{name: "a", unique: false}`, Code: 2, Text: "Cannot make index non-unique"},
		{Command: `{name: "a", fly: true}`, Code: 40415, Text: "BSON field 'collMod.index.fly' is an unknown field."},
	} {
		r.DB, r.Command = "test", `{collMod: "c", index: `+r.Command+`}`
		list = append(list, r)
	}
	list = append(list,
		harness.Refusal{DB: "test", Command: `{collMod: "clustered", index: {name: "own", hidden: true}}`, Code: 6011800, Text: "The 'hidden' option is not supported for a clusteredIndex"},
		harness.Refusal{DB: "test", Command: `{collMod: "clustered", index: {keyPattern: {_id: 1}, hidden: true}}`, Code: 6011800, Text: "The 'hidden' option is not supported for a clusteredIndex"},
		harness.Refusal{DB: "test", Command: `{collMod: "clustered", index: {keyPattern: {a: 1}, hidden: true}}`, Code: 27},
		harness.Refusal{DB: "test", Command: `{collMod: "clustered", index: {name: "own", expireAfterSeconds: 5}}`, Code: 27, Text: "cannot find index own for ns test.clustered"},
		harness.Refusal{DB: "test", Command: `{collMod: "system.js", index: {name: "a", hidden: true}}`, Code: 2, Text: "Can't hide index on system collection"},
		harness.Refusal{DB: "test", Command: `{createIndexes: "system.js", indexes: [{key: {b: 1}, name: "b", hidden: true}]}`, Code: 2, Text: "Can't hide index on system collection"},
		harness.Refusal{DB: "test", Command: `{collMod: "missing", index: {name: "a", hidden: true}}`, Code: 26, Text: "ns does not exist*"},
	)
	h.Refuses(list)
	if after := h.OK(`{listIndexes: "c"}`).String(); after != before {
		t.Errorf("the indexes were %s, are %s", before, after)
	}
}

// The conversion to a unique index: prepareUnique, which refuses new duplicates, then
// unique, which reports existing ones (the manual, "Convert an Existing Index to a Unique
// Index"). A dry run also reports them, and changes nothing.
func TestCollModUnique(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 100}, {_id: 2, a: 100}, {_id: 3, a: 5}, {_id: 4, a: 7}, {_id: 5, a: 7}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.OK(`{collMod: "c", index: {name: "a", prepareUnique: true}}`)
	h.Fails(11000, `{insert: "c", documents: [{_id: 6, a: 5}]}`)
	for _, dry := range []string{``, `, dryRun: true`} {
		reply := h.Run(`{collMod: "c", index: {name: "a", unique: true}` + dry + `}`)
		want := harness.Relaxed(`{v: [{ids: [4, 5]}, {ids: [1, 2]}]}`).Lookup("v").String()
		if reply.Lookup("code").Int32() != 359 || reply.Lookup("codeName").Str() != "CannotConvertIndexToUnique" || reply.Lookup("violations").String() != want {
			t.Errorf("unique%s answered %s, want violations %s", dry, reply, want)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", index: {name: "a", hidden: true}, dryRun: true}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", validationLevel: "off", dryRun: true}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", dryRun: true}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", index: {name: "a", unique: true}, validationLevel: "off", dryRun: true}`, Code: 72},
	})
	h.OK(`{delete: "c", deletes: [{q: {_id: {$in: [2, 5]}}, limit: 0}]}`)
	runSteps(h, "c", []step{{command: `{collMod: "c", index: {name: "a", unique: true}, dryRun: true}`, reply: `{}`}})
	if got := indexOf(h, "c", "a"); !strings.Contains(got, "prepareUnique") {
		t.Errorf("after the dry run the index is %s", got)
	}
	runSteps(h, "c", []step{{command: `{collMod: "c", index: {name: "a", unique: true}}`, reply: `{unique_new: true}`}})
	if got, want := indexOf(h, "c", "a"), harness.Relaxed(`{key: {a: 1}, unique: true}`).CanonicalJSON(); got != want {
		t.Errorf("the index is %s, want %s", got, want)
	}
	h.Fails(11000, `{insert: "c", documents: [{_id: 6, a: 5}]}`)
}

// Expired documents do not prevent the conversion to a unique index (semantics.md 7.4).
func TestCollModUniquePastExpired(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: -1}}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, ttl: 10}, {_id: 2, a: 1}]}`)
	h.OK(`{collMod: "c", index: {name: "a", prepareUnique: true}}`)
	h.Fails(359, `{collMod: "c", index: {name: "a", unique: true}}`)
	h.Advance(10)
	h.OK(`{collMod: "c", index: {name: "a", unique: true}}`)
	h.Holds("c", `{_id: 2, a: 1}`)
	if r := h.OK(`{validate: "c"}`); !r.Lookup("valid").Truthy() || r.Lookup("nrecords").SafeInt64() != 1 {
		t.Errorf("validate answered %s", r)
	}
}

// A change of expireAfterSeconds, as of hidden, begins a new count of uses.
func TestCollModBeginsNewCountOfUses(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1"}]}`)
	uses := func() int64 {
		return harness.Docs(h.OK(`{aggregate: "c", pipeline: [{$indexStats: {}}, {$match: {name: "x_1"}}], cursor: {}}`))[0].Lookup("accesses").Doc().Lookup("ops").Int64()
	}
	for _, tt := range []struct {
		change string
		want   int64
	}{
		{`expireAfterSeconds: 10`, 0}, {`expireAfterSeconds: 10`, 1}, {`expireAfterSeconds: 20`, 0}, {`hidden: true`, 0}, {`hidden: false`, 0}, {`hidden: false`, 1},
	} {
		h.OK(`{find: "c", filter: {x: 1}}`)
		h.OK(`{collMod: "c", index: {name: "x_1", ` + tt.change + `}}`)
		if got := uses(); got != tt.want {
			t.Errorf("after %s: %d uses, want %d", tt.change, got, tt.want)
		}
	}
}
