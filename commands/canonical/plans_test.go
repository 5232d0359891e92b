package canonical_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// used returns the index that a find uses, "" for a scan of the collection.
func used(h *harness.Harness, find string) string {
	h.Helper()
	stage := h.OK(`{explain: ` + find + `, verbosity: "queryPlanner"}`).Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc()
	for stage.Has("inputStage") {
		stage = stage.Lookup("inputStage").Doc()
	}
	return stage.Lookup("indexName").Str()
}

// Query settings choose among the indexes for the queries of a shape, by name, by key
// pattern or with $natural; where none of them can be used they have no effect.
func TestIndexesBySettings(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {a: 1, b: 1}, name: "ab"}, {key: {c: 1}, name: "c"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 1}, {_id: 2, a: 2, b: 2}]}`)
	const find = `{find: "c", filter: {a: 1}}`
	for _, tt := range []struct{ allowed, want string }{
		{`["ab"]`, "ab"}, {`["a"]`, "a"}, {`[{a: 1, b: 1}]`, "ab"}, {`[{$natural: 1}]`, ""}, {`["ab", {$natural: 1}]`, "ab"}, {`["c"]`, "a"},
	} {
		h.Admin(`{setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: ` + tt.allowed + `}}}`)
		if got := used(h, find); got != tt.want {
			t.Errorf("allowed %s: uses %q, want %q", tt.allowed, got, tt.want)
		}
		h.Finds(find, `[{"_id":1,"a":1,"b":1}]`)
		h.Admin(`{removeQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}}`)
	}
	h.Admin(`{setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}, settings: {indexHints: [{ns: {db: "test", coll: "d"}, allowedIndexes: ["x"]}]}}`)
	if got := used(h, find); got != "a" {
		t.Errorf("settings for another collection: uses %q", got)
	}
	h.Admin(`{setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}, settings: {reject: true}}`)
	h.Fails(411, find)
	if got := used(h, find); got != "a" {
		t.Errorf("an explain of a rejected query: uses %q", got)
	}
}

// A hash of a shape is 64 hexadecimal digits.
func TestCheckHash(t *testing.T) {
	t.Parallel()
	for hash, want := range map[string]string{
		strings.Repeat("0aF", 21) + "9": "",
		strings.Repeat("0", 63):         "Invalid hex string length",
		strings.Repeat("0", 63) + "g":   "Invalid hex character",
	} {
		err := canonical.CheckHash(hash)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", hash, err, want)
		}
	}
}

// The plan cache keeps queries of collections with a choice between indexes, unless a
// hint, bounds, $near or distinct values decide.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	meta := func(names ...string) *catalog.Meta {
		h := harness.New(t)
		for _, name := range names {
			h.OK(`{createIndexes: "c", indexes: [{key: {` + name + `: 1}, name: "` + name + `"}]}`)
		}
		var m *catalog.Meta
		err := h.Svc.Engine.View(t.Context(), func(tx storage.Tx) error {
			coll, err := tx.Collection(storage.Namespace{DB: "test", Coll: "c"})
			if err == nil {
				m = catalog.Of(coll.Info())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	many := meta("a", "b", "c")
	query := func(change func(*canonical.Query)) *canonical.Query {
		filter := harness.Relaxed(`{a: 1}`)
		m, err := match.Compile(filter, match.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := &canonical.Query{Filter: filter, Query: plan.Query{Matcher: m}}
		change(q)
		return q
	}
	plain := query(func(*canonical.Query) {}).CacheKey(many)
	if plain == 0 {
		t.Error("a plain query is not cached")
	}
	if key := query(func(q *canonical.Query) { q.Fields = []string{"a"} }).CacheKey(many); key == 0 || key == plain {
		t.Errorf("a query that an index may cover has the key %d, without fields %d", key, plain)
	}
	for name, change := range map[string]func(*canonical.Query){
		"hint":     func(q *canonical.Query) { q.Hint.Name = "a" },
		"min":      func(q *canonical.Query) { q.Min = harness.Relaxed(`{a: 1}`) },
		"max":      func(q *canonical.Query) { q.Max = harness.Relaxed(`{a: 1}`) },
		"near":     func(q *canonical.Query) { q.Near = &match.Near{} },
		"distinct": func(q *canonical.Query) { q.Distinct = "a" },
	} {
		if query(change).CacheKey(many) != 0 {
			t.Errorf("with %s the query is cached", name)
		}
	}
	if query(func(*canonical.Query) {}).CacheKey(meta("a")) != 0 {
		t.Error("a query without a choice is cached")
	}
}

// unreadable is a collection whose figures cannot be read.
type unreadable struct {
	storage.Collection
	count, stats error
}

func (c unreadable) Count() (int64, error) { return 7, c.count }

func (c unreadable) IndexStats(string) (storage.IndexStats, error) {
	return storage.IndexStats{Entries: 7}, c.stats
}

// The planner does without an index that was dropped meanwhile; what cannot be read is
// an error.
func TestPlanCollection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	broken := errors.New("broken")
	err := h.Svc.Engine.View(t.Context(), func(tx storage.Tx) error {
		coll, err := tx.Collection(storage.Namespace{DB: "test", Coll: "c"})
		if err != nil {
			return err
		}
		for _, tt := range []struct {
			only         string
			count, stats error
			indexes      int
			want         error
		}{
			{"", nil, nil, 2, nil}, {"a", nil, nil, 1, nil}, {"", nil, storage.ErrNoIndex, 0, nil}, {"", broken, nil, 0, broken}, {"", nil, broken, 0, broken},
		} {
			pc, err := canonical.PlanCollection(unreadable{coll, tt.count, tt.stats}, coll.Info(), tt.only)
			if !errors.Is(err, tt.want) {
				t.Errorf("%+v: %v", tt, err)
			}
			if err == nil && (len(pc.Indexes) != tt.indexes || pc.Count != 7) {
				t.Errorf("%+v: %d indexes, %d records", tt, len(pc.Indexes), pc.Count)
			}
		}
		m := catalog.Of(coll.Info())
		if p := canonical.LookupID(&plan.Query{}, m); p != nil {
			t.Errorf("a query without a filter is planned as %+v", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
