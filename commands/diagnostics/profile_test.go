package diagnostics_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// profiled returns the newest entry of test.system.profile.
func profiled(h *harness.Harness) value.Doc {
	h.Helper()
	list := harness.Docs(h.OK(`{find: "system.profile", sort: {$natural: -1}, limit: 2}`))
	if len(list) == 0 {
		h.Fatal("system.profile is empty")
	}
	return list[0]
}

func TestProfileLevels(t *testing.T) {
	h := harness.New(t)
	tests := []struct{ command, reply string }{
		{`{profile: -1}`, `{was: 0, slowms: 100, sampleRate: 1.0, ok: 1.0}`},
		{`{profile: 1, slowms: 20, sampleRate: 0.5}`, `{was: 0, slowms: 100, sampleRate: 1.0, ok: 1.0}`},
		{`{profile: 2}`, `{was: 1, slowms: 20, sampleRate: 0.5, ok: 1.0}`},
		{`{profile: 0, filter: {op: "query"}}`, `{was: 2, slowms: 20, sampleRate: 0.5, ok: 1.0}`},
		{`{profile: 0, filter: "unset"}`, `{was: 0, slowms: 20, sampleRate: 0.5, filter: {op: {$eq: "query"}}, note: "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.", ok: 1.0}`},
		{`{profile: 7}`, `{was: 0, slowms: 20, sampleRate: 0.5, ok: 1.0}`},
	}
	for _, tt := range tests {
		if got := harness.Plain(h.Run(tt.command)); got.String() != harness.Relaxed(tt.reply).String() {
			t.Errorf("%s answered %s\nwant %s", tt.command, got, tt.reply)
		}
	}
	options := harness.Docs(h.OK(`{listCollections: 1, filter: {name: "system.profile"}}`))[0].Lookup("options").Doc()
	if !options.Lookup("capped").Bool() || options.Lookup("size").SafeInt64() != 1<<20 {
		t.Errorf("system.profile has options %s", options)
	}
	if reply := h.RunOn("other", harness.Relaxed(`{profile: -1}`)); reply.Lookup("was").Int32() != 0 {
		t.Errorf("the level of another database is %s", reply)
	}
}

// TestInitialProfiling: --profile, --slowms and --slowOpSampleRate hold for
// every database until a client says otherwise.
func TestInitialProfiling(t *testing.T) {
	h := harness.NewWith(t, kernel.Options{Profiling: &observe.Profiling{Level: 2, SlowMS: 5, SampleRate: 0.5}})
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	if op := profiled(h).Lookup("op").Str(); op != "insert" {
		t.Errorf("the profile ends with %s", op)
	}
	if got, want := harness.Plain(h.Run(`{profile: 0}`)), harness.Relaxed(`{was: 2, slowms: 5, sampleRate: 0.5, ok: 1.0}`); got.String() != want.String() {
		t.Errorf("got %s, want %s", got, want)
	}
	if was := h.Run(`{profile: -1}`).Lookup("was").Int32(); was != 0 {
		t.Errorf("switched off, the level is %d", was)
	}
	if was := h.RunOn("other", harness.Relaxed(`{profile: -1}`)).Lookup("was").Int32(); was != 2 {
		t.Errorf("the level of another database is %d", was)
	}
	if was := h.RunOn("local", harness.Relaxed(`{profile: -1}`)).Lookup("was").Int32(); was != 0 {
		t.Errorf("the level of local is %d", was)
	}
	for _, bad := range []observe.Profiling{{Level: 3, SampleRate: 1}, {Level: -1, SampleRate: 1}, {SampleRate: 1.5}, {SampleRate: math.NaN()}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestProfileErrors(t *testing.T) {
	h := harness.New(t)
	h.Fails(14, `{profile: "1"}`)
	h.Fails(2, `{profile: 1, sampleRate: 1.5}`)
	h.Fails(14, `{profile: 1, sampleRate: "x"}`)
	h.Fails(2, `{profile: 1, filter: "set"}`)
	h.Fails(2, `{profile: 1, filter: 1}`)
	h.Fails(2, `{profile: 1, filter: null}`)
	h.Fails(2, `{profile: 1, filter: {$bad: 1}}`)
	h.Fails(40415, `{profile: 1, foo: 1}`)
}

// The fields of the entries, as the tests of mongod's profiler assert them.
func TestProfileEntries(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}, {_id: 3, a: 3}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{profile: 2}`)
	planner := h.OK(`{explain: {find: "c", filter: {a: {$gte: 9}}}}`).Lookup("queryPlanner").Doc()
	tests := []struct {
		command string
		want    map[string]string
	}{
		{`{find: "c", filter: {a: {$gte: 2}}}`, map[string]string{
			"queryHash": planner.Lookup("queryHash").Str(), "planCacheShapeHash": planner.Lookup("planCacheShapeHash").Str(), "planCacheKey": planner.Lookup("planCacheKey").Str(),
		}},
		{`{find: "c", filter: {_id: 1}}`, map[string]string{"queryHash": "missing"}},
		{`{distinct: "c", key: "a"}`, map[string]string{"planSummary": "DISTINCT_SCAN { a: 1 }"}},
		{`{find: "c", filter: {a: {$gte: 2}}}`, map[string]string{
			"op": "query", "ns": "test.c", "keysExamined": "2", "docsExamined": "2", "nreturned": "2", "cursorExhausted": "true", "planSummary": "IXSCAN { a: 1 }",
		}},
		{`{find: "c", filter: {x: 1}}`, map[string]string{"docsExamined": "3", "keysExamined": "0", "nreturned": "0", "planSummary": "COLLSCAN"}},
		{`{find: "c", sort: {x: 1}}`, map[string]string{"hasSortStage": "true"}},
		{`{find: "c", filter: {_id: 1}}`, map[string]string{"docsExamined": "1", "nreturned": "1", "planSummary": "EXPRESS_IXSCAN { _id: 1 }"}},
		{`{insert: "c", documents: [{_id: 4}, {_id: 5}]}`, map[string]string{"op": "insert", "ninserted": "2"}},
		{`{update: "c", updates: [{q: {a: 1}, u: {$set: {b: 1}}}]}`, map[string]string{"op": "update", "nMatched": "1", "nModified": "1", "nUpserted": "0", "command": `{ q: { a: 1 }, u: { $set: { b: 1 } } }`}},
		{`{update: "c", updates: [{q: {_id: 9}, u: {$set: {b: 1}}, upsert: true}]}`, map[string]string{"nMatched": "0", "nUpserted": "1"}},
		{`{delete: "c", deletes: [{q: {_id: 9}, limit: 1}]}`, map[string]string{"op": "remove", "ndeleted": "1", "command": `{ q: { _id: 9 }, limit: 1 }`}},
		{`{delete: "c", deletes: [{q: {_id: 9}, limit: 1}], comment: "why"}`, map[string]string{"op": "remove", "command": `{ q: { _id: 9 }, limit: 1, comment: "why" }`}},
		{`{update: "c", updates: [{q: {_id: 9}, u: {$set: {z: 1}}}], comment: "why"}`, map[string]string{"op": "update", "command": `{ q: { _id: 9 }, u: { $set: { z: 1 } }, comment: "why" }`}},
		// write_ops_parsers.cpp reads a hint by name into a document.
		{`{update: "c", updates: [{q: {_id: 9}, u: {$set: {z: 2}}, hint: "_id_"}]}`, map[string]string{"op": "update", "command": `{ q: { _id: 9 }, u: { $set: { z: 2 } }, hint: { $hint: "_id_" } }`}},
		{`{update: "c", updates: [{q: {_id: 9}, u: {$set: {z: 3}}, hint: {_id: 1}}]}`, map[string]string{"op": "update", "command": `{ q: { _id: 9 }, u: { $set: { z: 3 } }, hint: { _id: 1 } }`}},
		{`{delete: "c", deletes: [{q: {_id: 9}, limit: 0, hint: "_id_"}], comment: "why"}`, map[string]string{"op": "remove", "command": `{ q: { _id: 9 }, limit: 0, hint: { $hint: "_id_" }, comment: "why" }`}},
		{`{findAndModify: "c", query: {_id: 4}, remove: true}`, map[string]string{"op": "command", "ndeleted": "1"}},
		{`{count: "c", query: {a: 1}}`, map[string]string{"op": "command"}},
		{`{find: "c", filter: {$bad: 1}}`, map[string]string{"ok": "0", "errCode": "2", "errName": "BadValue"}},
	}
	for _, tt := range tests {
		h.Run(tt.command)
		entry := profiled(h)
		for name, want := range tt.want {
			if got := strings.Trim(entry.Lookup(name).String(), `"`); got != want {
				t.Errorf("%s: %s is %s, want %s\n%s", tt.command, name, got, want, entry)
			}
		}
		if entry.Has("_id") || !entry.Has("ts") || !entry.Has("millis") || !entry.Has("allUsers") {
			t.Errorf("entry %s", entry)
		}
	}
	reply := h.OK(`{find: "c", batchSize: 1}`)
	h.RunOn("test", value.NewDoc("getMore", reply.Lookup("cursor").Doc().Lookup("id"), "collection", value.String("c"), "batchSize", value.Int32(1)))
	if e := profiled(h); e.Lookup("op").Str() != "getmore" || e.Lookup("originatingCommand").Doc().Lookup("find").Str() != "c" || e.Lookup("cursorid").Int64() == 0 {
		t.Errorf("getMore: %s", e)
	}
}

func TestProfileFilter(t *testing.T) {
	h := harness.New(t)
	h.OK(`{profile: 1, filter: {op: "insert"}}`)
	h.OK(`{find: "c"}`)
	h.OK(`{insert: "c", documents: [{}]}`)
	h.OK(`{find: "c"}`)
	if list := harness.Docs(h.OK(`{find: "system.profile"}`)); len(list) != 1 || list[0].Lookup("op").Str() != "insert" {
		t.Errorf("profiled %v", list)
	}
}

// Profiling writes to a capped collection, which deletes its oldest entries.
func TestProfileIsCapped(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "system.profile", capped: true, size: 4096}`)
	h.OK(`{profile: 2}`)
	for range 50 {
		h.OK(`{find: "c"}`)
	}
	if n := h.OK(`{count: "system.profile"}`).Lookup("n").Int32(); n < 2 || n > 20 {
		t.Errorf("%d entries in 4096 bytes", n)
	}
}

func TestSlowQueryLog(t *testing.T) {
	var out bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&out)})
	h.OK(`{find: "c", filter: {a: 1}}`)
	if out.Len() != 0 {
		t.Fatalf("logged %s", out.String())
	}
	h.OK(`{profile: 0, slowms: -1}`)
	out.Reset()
	h.OK(`{find: "c", filter: {a: 1}}`)
	line, err := value.ParseJSON(out.String())
	if err != nil {
		t.Fatalf("logged %s: %v", out.String(), err)
	}
	if line.Lookup("message").Str() != "Slow query" || line.Lookup("ns").Str() != "test.c" || !line.Lookup("attr").Doc().Has("command") {
		t.Errorf("logged %s", line)
	}
	out.Reset()
	h.OK(`{profile: 0, sampleRate: 0}`)
	out.Reset()
	if h.OK(`{find: "c"}`); out.Len() != 0 {
		t.Errorf("sampleRate 0 logged %s", out.String())
	}
}

// A long command is shown as the beginning of its text, which may be shorter
// than its bytes, and which ends between characters.
func TestProfileTruncates(t *testing.T) {
	h := harness.New(t)
	h.OK(`{profile: 2}`)
	for name, tt := range map[string]struct {
		filter string
		size   int
		end    string
	}{
		"letters":    {`{a: "` + strings.Repeat("x", 60<<10) + `"}`, 50 << 10, "x..."},
		"runes":      {`{a: "` + strings.Repeat("€", 20<<10) + `"}`, 50<<10 - 2, "€..."},
		"short text": {`{a: [` + strings.Repeat("0, ", 6000) + `0]}`, 3 * 6000, ""},
	} {
		h.Run(`{find: "c", filter: ` + tt.filter + `, comment: "long"}`)
		command := profiled(h).Lookup("command").Doc()
		text := command.Lookup("$truncated").Str()
		if command.Lookup("comment").Str() != "long" || strings.Contains(text, "comment") || !utf8.ValidString(text) {
			t.Errorf("%s: %s", name, command)
		}
		if tt.end != "" && (len(text) != tt.size || !strings.HasSuffix(text, tt.end)) || tt.end == "" && len(text) < tt.size {
			t.Errorf("%s: %d bytes, ending in %q", name, len(text), text[len(text)-10:])
		}
	}
}

// Only commands on a collection, or on the size of a database, are profiled:
// profile1.js counts the entries of a test that changes the level, and
// profile_list_collections.js and profile_list_indexes.js say which listing is
// among them. Counters of queries (mongoengine's query_counter) rely on it.
func TestProfileOfCollectionsOnly(t *testing.T) {
	tests := []struct {
		command  string
		profiled bool
	}{
		{`{profile: -1}`, false},
		{`{ping: 1}`, false},
		{`{buildInfo: 1}`, false},
		{`{usersInfo: "somebody"}`, false},
		{`{connectionStatus: 1}`, false},
		{`{listCollections: 1}`, false},
		{`{getMore: {$numberLong: "1"}, collection: "$cmd.listCollections"}`, false},
		{`{listIndexes: "c"}`, true},
		{`{getMore: {$numberLong: "1"}, collection: "c"}`, true},
		{`{killCursors: "c", cursors: [{$numberLong: "1"}]}`, true},
		{`{explain: {find: "c"}}`, true},
		{`{collStats: "c"}`, true},
		{`{dbStats: 1}`, true},
		{`{aggregate: 1, pipeline: [{$documents: []}], cursor: {}}`, true},
		{`{create: "d"}`, true},
		{`{drop: "c"}`, true},
	}
	for _, tt := range tests {
		h := harness.New(t)
		h.OK(`{create: "c"}`)
		h.OK(`{profile: 2}`)
		h.Run(tt.command)
		list := harness.Docs(h.OK(`{find: "system.profile"}`))
		if profiled := len(list) != 0; profiled != tt.profiled || len(list) > 1 {
			t.Errorf("%s is profiled %t: %v", tt.command, profiled, list)
		}
	}
}
