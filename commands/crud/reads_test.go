package crud_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// count and distinct have the same result on a collection, on a view and with a hint
// (reference/command/count, reference/command/distinct).
func TestCountAndDistinctOnViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, t: "x"}, {_id: 2, a: 2, t: "X"}, {_id: 3, a: 2, t: "y"}, {_id: 4, t: "z"}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {_id: {$lt: 4}}}]}`)
	for _, tt := range []struct {
		rest string
		c, v int32
	}{
		{``, 4, 3},
		{`, query: {a: 2}`, 2, 2},
		{`, query: {a: {$gt: 0}}, limit: 2`, 2, 2},
		{`, query: {a: {$gt: 0}}, skip: 2`, 1, 1},
		{`, query: {t: {$ne: "y"}}, limit: 2`, 2, 2},
		{`, query: {t: {$ne: "y"}}, skip: 1, limit: 5`, 2, 1},
		{`, query: {$expr: {$gt: ["$a", "$_id"]}}`, 0, 0},
	} {
		for coll, want := range map[string]int32{"c": tt.c, "v": tt.v} {
			if got := h.OK(`{count: "` + coll + `"` + tt.rest + `}`).Lookup("n"); got.Int32() != want || got.Kind() != value.KindInt32 {
				t.Errorf("count of %s%s is %s, want %d", coll, tt.rest, got, want)
			}
		}
	}
	for command, want := range map[string]string{
		`{distinct: "v", key: "a"}`:                                            "[ 1, 2 ]",
		`{distinct: "v", key: "t", query: {a: 2}}`:                             `[ "X", "y" ]`,
		`{distinct: "v", key: "a", hint: {a: 1}}`:                              "[ 1, 2 ]",
		`{distinct: "c", key: "a", query: {t: "y"}}`:                           "[ 2 ]",
		`{distinct: "none", key: "a", query: {t: "y"}}`:                        "[]",
		`{distinct: "c", key: "t", collation: {locale: "en", strength: 2}}`:    `[ "x", "y", "z" ]`,
		`{distinct: "c", key: "a", query: {_id: {$in: [1, 2]}}, hint: "_id_"}`: "[ 1, 2 ]",
	} {
		if got := h.OK(command).Lookup("values").String(); strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

func TestRefusedReads(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	test := func(command string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: command, Code: code, Text: text}
	}
	h.Refuses([]harness.Refusal{
		test(`{count: "c", hint: 1}`, 9, "Hint must be a string or an object"),
		test(`{count: "c", limit: {$numberLong: "-9223372036854775808"}}`, 2, ""),
		test(`{count: "c", query: {$bad: 1}}`, 2, ""),
		test(`{count: "c", query: {a: 1}, hint: "none"}`, 2, ""),
		test(`{count: "c", query: {a: 1}, collation: {locale: "xx"}}`, 2, ""),
		test(`{count: "c", query: {$expr: {$divide: ["$_id", 0]}}}`, 2, ""),
		test(`{count: "v", collation: {locale: "en"}}`, 167, ""),
		test(`{distinct: "", key: "a"}`, 73, ""),
		test(`{distinct: "c", key: "a\u0000b"}`, 31032, ""),
		test(`{distinct: "c", key: "a", query: {$bad: 1}}`, 2, ""),
		test(`{distinct: "c", key: "a", collation: {locale: "xx"}}`, 2, ""),
		test(`{distinct: "c", key: "a", hint: "none"}`, 2, ""),
		test(`{distinct: "c", key: "a", query: {$expr: {$divide: ["$_id", 0]}}}`, 2, ""),
		test(`{find: "v", tailable: true}`, 168, "Tailable cursors are not supported in aggregation."),
		test(`{find: "v", filter: {$bad: 1}}`, 2, ""),
		test(`{find: "c", filter: {$expr: {$divide: ["$_id", 0]}}}`, 2, ""),
		test(`{find: "c", projection: {s: {$meta: "textScore"}}}`, 40218, "query requires text score metadata, but it is not available"),
	})
}

// Pipelines that end with $out or $merge return an empty batch, whatever the batchSize.
func TestAggregateThatWrites(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 2}, {_id: 2, a: 0}]}`)
	reply := h.OK(`{aggregate: "c", pipeline: [{$match: {_id: 1}}, {$out: "d"}], cursor: {batchSize: 1}}`)
	if len(harness.Docs(reply)) != 0 || reply.Lookup("cursor").Doc().Lookup("id").Int64() != 0 {
		t.Errorf("answered %s", reply)
	}
	h.Holds("d", `{_id: 1, a: 2}`)
	h.Fails(2, `{aggregate: "c", pipeline: [{$project: {a: {$divide: [1, "$a"]}}}, {$out: "d"}], cursor: {}}`)
	h.Holds("d", `{_id: 1, a: 2}`)
	explained := h.OK(`{aggregate: "c", pipeline: [{$match: {a: 2}}], explain: true}`)
	if stage := explained.Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc().Lookup("stage").Str(); stage != "COLLSCAN" {
		t.Errorf("explained as %s", explained)
	}
}
