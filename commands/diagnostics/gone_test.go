package diagnostics_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// listedByTop returns the collections of the test's databases in top.
func listedByTop(h *harness.Harness) string {
	names := ""
	for name := range h.Admin(`{top: 1}`).Lookup("totals").Doc().All() {
		if db, _, _ := strings.Cut(name, "."); name != "note" && kernel.UserDatabase(db) {
			names += " " + name
		}
	}
	return strings.TrimSpace(names)
}

// TestTopForgets: what is remembered of a collection goes with it, by whatever way it goes, and
// names that do not exist are not remembered.
func TestTopForgets(t *testing.T) {
	t.Parallel()
	for _, oplog := range []int64{0, -1} { // with a change log and without
		for _, tt := range []struct {
			name     string
			commands []string
			want     string
		}{
			{"used", []string{`{insert: "c", documents: [{}]}`, `{find: "c"}`}, "test.c"},
			{"dropped", []string{`{insert: "c", documents: [{}]}`, `{find: "c"}`, `{drop: "c"}`}, ""},
			{"dropped and read again", []string{`{insert: "c", documents: [{}]}`, `{drop: "c"}`, `{find: "c"}`, `{count: "c"}`}, ""},
			{"dropped with the database", []string{`{insert: "c", documents: [{}]}`, `{aggregate: 1, pipeline: [{$documents: [{}]}], cursor: {}}`, `{dropDatabase: 1}`}, ""},
			{"the last of the database", []string{`{insert: "c", documents: [{}]}`, `{aggregate: 1, pipeline: [{$documents: [{}]}], cursor: {}}`, `{drop: "c"}`}, ""},
			{"renamed", []string{`{insert: "c", documents: [{}]}`, `admin: {renameCollection: "test.c", to: "test.d"}`}, ""},
			{"renamed and used", []string{`{insert: "c", documents: [{}]}`, `admin: {renameCollection: "test.c", to: "test.d"}`, `{find: "d"}`}, "test.d"},
			{"replaced by a rename", []string{`{insert: "c", documents: [{}]}`, `{insert: "d", documents: [{}]}`, `admin: {renameCollection: "test.c", to: "test.d", dropTarget: true}`}, ""},
			{"converted", []string{`{insert: "c", documents: [{}]}`, `{convertToCapped: "c", size: 10000}`}, "test.c"},
			{"time series", []string{`{create: "c", timeseries: {timeField: "t"}}`, `{insert: "c", documents: [{t: {$date: 0}}]}`, `{find: "c"}`, `{drop: "c"}`}, ""},
			{"view", []string{`{create: "c"}`, `{create: "v", viewOn: "c", pipeline: []}`, `{find: "v"}`, `{drop: "v"}`, `{drop: "c"}`}, ""},
			{"queue", []string{`{create: "q", messageQueue: {}}`, `{find: "q"}`, `{drop: "q"}`}, ""},
			{"expired queue", []string{`{create: "q", messageQueue: {autoDeleteOnIdle: "PT5M"}}`, `{find: "q"}`, `pass`}, ""},
			{"absent", []string{`{find: "c"}`, `{count: "c"}`, `{distinct: "c", key: "x"}`, `{aggregate: "c", pipeline: [], cursor: {}}`, `{delete: "c", deletes: [{q: {}, limit: 0}]}`,
				`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}}]}`, `{aggregate: "c", pipeline: [{$collStats: {latencyStats: {}}}], cursor: {}}`}, ""},
			{"refused", []string{`{getMore: {$numberLong: "1"}, collection: "c"}`, `{getMore: {$numberLong: "1"}, collection: "$cmd.x"}`, `{drop: "c"}`, `{collMod: "c"}`, `{insert: "a..$b", documents: [{}]}`}, ""},
		} {
			h := harness.NewWith(t, kernel.Options{OplogBytes: oplog})
			for _, command := range tt.commands {
				if db, rest, ok := strings.Cut(command, ": {"); ok && db == "admin" {
					h.Admin("{" + rest)
				} else if command == "pass" {
					h.Clock.AdvanceMillis(600_000)
					h.Pass(0)
				} else {
					h.Run(command)
				}
			}
			if got := listedByTop(h); got != tt.want {
				t.Errorf("%s, oplog %d: top lists %q, want %q", tt.name, oplog, got, tt.want)
			}
		}
	}
}

// TestLatencyStatsOfNewCollection: a collection does not inherit the statistics of a dropped
// one with its name, neither on the connection that used that one last nor on others.
func TestLatencyStatsOfNewCollection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	ops := func(of string) int64 {
		d := h.OK(`{aggregate: "c", pipeline: [{$collStats: {latencyStats: {}}}], cursor: {}}`)
		return harness.Docs(d)[0].Lookup("latencyStats").Doc().Lookup(of).Doc().Lookup("ops").SafeInt64()
	}
	for range 3 {
		h.OK(`{insert: "c", documents: [{a: 1}]}`)
		h.OK(`{find: "c"}`)
	}
	if r, w := ops("reads"), ops("writes"); r < 3 || w != 3 {
		t.Errorf("%d reads, %d writes", r, w)
	}
	h.OK(`{drop: "c"}`)
	h.OK(`{insert: "c", documents: [{a: 1}]}`)
	if w := ops("writes"); w != 1 {
		t.Errorf("%d writes of the new one", w)
	}
}

// TestForgottenWithCollection: index filters go with the collection, and move with its name;
// the counters of its indexes and the profiling of a database end as well.
func TestForgottenWithCollection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	filters := func(coll string) int {
		return h.OK(`{planCacheListFilters: "` + coll + `"}`).Lookup("filters").Doc().Len()
	}
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{planCacheSetFilter: "c", query: {a: 1}, indexes: ["a_1"]}`)
	h.Admin(`{renameCollection: "test.c", to: "test.d"}`)
	if c, d := filters("c"), filters("d"); c != 0 || d != 1 {
		t.Errorf("after a rename %d and %d filters", c, d)
	}
	h.OK(`{find: "d", filter: {a: 1}}`)
	h.OK(`{create: "source"}`)
	h.OK(`{aggregate: "source", pipeline: [{$out: "d"}], cursor: {}}`)
	if d := filters("d"); d != 0 {
		t.Errorf("the collection that took the place has %d filters", d)
	}
	h.OK(`{planCacheSetFilter: "d", query: {a: 1}, indexes: ["a_1"]}`)
	h.OK(`{planCacheClearFilters: "d", query: {a: 1}}`)
	if h.Svc.Settings.Filters.Of[storage.Namespace{DB: "test", Coll: "d"}] != nil {
		t.Error("a collection without filters is remembered")
	}
	h.OK(`{profile: 0, filter: {op: "query"}}`)
	h.OK(`{dropDatabase: 1}`)
	if d := h.OK(`{profile: -1}`); d.Has("filter") {
		t.Errorf("the dropped database has %s", d)
	}
	seen := 0
	h.Svc.IndexUse.Keep(func([16]byte) bool { seen++; return true })
	if seen != 0 {
		t.Errorf("%d counters of indexes that are gone", seen)
	}
}

// TestGetMoreComment: a getMore has the comment of the command that opened its cursor, unless
// it has its own.
func TestGetMoreComment(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	for _, name := range []string{"a", "b"} {
		h.OK(`{createIndexes: "c", indexes: [{key: {` + name + `: 1}, name: "` + name + `"}]}`)
	}
	h.OK(`{profile: 2}`)
	for _, tt := range []struct{ open, more, want string }{
		{`{find: "c", batchSize: 1, comment: "find's"}`, ``, `"find's"`},
		{`{find: "c", batchSize: 1, comment: {deep: [1]}}`, ``, `{ deep: [ 1 ] }`},
		{`{find: "c", batchSize: 1, comment: "find's"}`, `, comment: "own"`, `"own"`},
		{`{find: "c", batchSize: 1}`, ``, `missing`},
		{`{aggregate: "c", pipeline: [], cursor: {batchSize: 1}, comment: "agg's"}`, ``, `"agg's"`},
		{`{listIndexes: "c", cursor: {batchSize: 1}, comment: "list's"}`, ``, `"list's"`},
	} {
		cursor := h.OK(tt.open).Lookup("cursor").Doc()
		_, coll, _ := strings.Cut(cursor.Lookup("ns").Str(), ".")
		h.OK(`{getMore: {$numberLong: "` + value.Int64(cursor.Lookup("id").Int64()).String() + `"}, collection: "` + coll + `"` + tt.more + `}`)
		last := harness.Docs(h.OK(`{find: "system.profile", filter: {op: "getmore"}, sort: {$natural: -1}, limit: 1}`))[0]
		if got := last.Lookup("command").Doc().Lookup("comment"); got.String() != tt.want && (tt.want != "missing" || !got.IsMissing()) {
			t.Errorf("%s: the getMore has the comment %s, want %s", tt.open, got, tt.want)
		}
	}
}
