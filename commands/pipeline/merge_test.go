package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
)

// $merge creates a missing target with the first inserted document, and not before;
// documents that a validator refuses are written with bypassDocumentValidation
// (reference/operator/aggregation/merge).
func TestMergeIntoNothing(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	run := func(stage, rest string) string {
		return `{aggregate: "c", pipeline: [{$project: {a: 1}}, {$merge: ` + stage + `}], cursor: {}` + rest + `}`
	}
	exists := func(coll string) bool {
		return len(harness.Docs(h.OK(`{listCollections: 1, filter: {name: "`+coll+`"}}`))) == 1
	}
	h.OK(run(`{into: "fresh", whenNotMatched: "discard"}`, ``))
	if exists("fresh") {
		t.Error("a collection was made for nothing")
	}
	h.OK(run(`{into: "fresh", on: "_id"}`, ``))
	h.Holds("fresh", `{_id: 1, a: 1} {_id: 2, a: 2} {_id: 3, a: 2}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: run(`{into: "missing", on: "a"}`, ``), Code: 51183, Text: "Cannot find index to verify that join fields will be unique"},
		{DB: "test", Command: run(`{into: "missing", whenNotMatched: "fail"}`, ``), Code: 13113},
		{DB: "test", Command: run(`"v"`, ``), Code: 166},
		{DB: "test", Command: run(`{into: {db: "admin", coll: "x"}}`, ``), Code: 31320, Text: "Cannot $merge to internal database: admin"},
	})
	if exists("missing") {
		t.Error("a refused $merge has made its collection")
	}
	h.OK(`{create: "strict", validator: {a: {$gt: 1}}}`)
	h.Fails(121, run(`"strict"`, ``))
	h.Holds("strict", `{_id: 2, a: 2} {_id: 3, a: 2}`) // the others are written
	h.OK(run(`"strict"`, `, bypassDocumentValidation: true`))
	h.Holds("strict", `{_id: 1, a: 1} {_id: 2, a: 2} {_id: 3, a: 2}`)
	h.OK(`{create: "ts", timeseries: {timeField: "t"}}`)
	if r := h.Run(run(`"ts"`, ``)); r.Lookup("ok").Truthy() {
		t.Errorf("into a time series: %s", r)
	}
}

// The fields of on need a unique index over exactly them, in any order, that is not
// partial and has the collation of the command.
func TestMergeOnFields(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 1, s: "X"}]}`)
	h.OK(`{createIndexes: "to", indexes: [{key: {b: 1, a: 1}, name: "ba", unique: true}, {key: {s: 1}, name: "s", unique: true, collation: {locale: "en", strength: 2}},
		{key: {p: 1}, name: "p", unique: true, partialFilterExpression: {p: {$gt: 0}}}, {key: {n: 1}, name: "n"}]}`)
	h.OK(`{insert: "to", documents: [{_id: 7, a: 1, b: 1, s: "x", old: true}]}`)
	run := func(on, rest string) string {
		return `{aggregate: "c", pipeline: [{$project: {_id: 0, a: 1, b: 1, s: 1}}, {$set: {new: true}}, {$merge: {into: "to", on: ` + on + `}}], cursor: {}` + rest + `}`
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: run(`"a"`, ``), Code: 51183},
		{DB: "test", Command: run(`["a", "n"]`, ``), Code: 51183},
		{DB: "test", Command: run(`"p"`, ``), Code: 51183},
		{DB: "test", Command: run(`"s"`, ``), Code: 51183},
		{DB: "test", Command: run(`["a", "b"]`, `, collation: {locale: "fr"}`), Code: 51183},
	})
	h.OK(run(`["a", "b"]`, ``))
	h.Holds("to", `{_id: 7, a: 1, b: 1, s: "X", old: true, new: true}`)
	h.OK(`{update: "to", updates: [{q: {}, u: {$set: {s: "x"}}}]}`)
	h.OK(run(`"s"`, `, collation: {locale: "en", strength: 2}`))
	h.Holds("to", `{_id: 7, a: 1, b: 1, s: "X", old: true, new: true}`)
}

// The documents before and after the failed one are written.
func TestMergeGoesOnBehindAFault(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	h.OK(`{insert: "to", documents: [{_id: 2, old: 1}]}`)
	h.Fails(11000, `{aggregate: "c", pipeline: [{$merge: {into: "to", whenMatched: "fail"}}], cursor: {}}`)
	h.Holds("to", `{_id: 1} {_id: 2, old: 1} {_id: 3}`)
}

// The result of JavaScript on a document is written only if the document has not changed
// since.
func TestMergeByJavaScript(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, n: 1}, {_id: 2, n: 2}]}`)
	const merge = `{aggregate: "c", pipeline: [{$merge: {into: "to", whenMatched: [{$set: {n: {$function: {body: "function(a, b) { return a * 10 + b }", args: ["$n", "$$new.n"], lang: "js"}}}}]}}], cursor: {}}`
	h.OK(merge) // there is no collection yet
	h.Holds("to", `{_id: 1, n: 1} {_id: 2, n: 2}`)
	h.OK(merge)
	h.Holds("to", `{_id: 1, n: {"$numberDouble": "11"}} {_id: 2, n: {"$numberDouble": "22"}}`)
}

// $out keeps validators and unique indexes, and does not change its target if it fails.
func TestOutFails(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
	h.OK(`{create: "to", validator: {a: 1}}`)
	h.OK(`{createIndexes: "to", indexes: [{key: {a: 1}, name: "a", unique: true}]}`)
	h.OK(`{insert: "to", documents: [{_id: 9, a: 1}]}`)
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "topic", messageTopic: {}}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "ts", timeseries: {timeField: "t"}}`)
	out := func(stages string) string { return `{aggregate: "c", pipeline: [` + stages + `], cursor: {}}` }
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: out(`{$out: "to"}`), Code: 11000},
		{DB: "test", Command: out(`{$set: {a: "$_id"}}, {$out: "to"}`), Code: 121},
		{DB: "test", Command: out(`{$out: "q"}`), Code: 20, Text: "Executor error during aggregate command on namespace: test.c :: caused by :: cannot replace the messages of test.q by $out: send messages by $merge or insert"},
		{DB: "test", Command: out(`{$out: "topic"}`), Code: 20, Text: "Executor error during aggregate command on namespace: test.c :: caused by :: cannot replace the messages of test.topic by $out: send messages by $merge or insert"},
		{DB: "test", Command: out(`{$out: "capped"}`), Code: 17152, Text: "Executor error during aggregate command on namespace: test.c :: caused by :: namespace 'test.capped' is capped so it can't be used for $out"},
		{DB: "test", Command: out(`{$out: "v"}`), Code: 166},
		{DB: "test", Command: out(`{$out: {db: "test", coll: "v", timeseries: {timeField: "t"}}}`), Code: 7268700},
		{DB: "test", Command: out(`{$out: {db: "test", coll: "ts", timeseries: {timeField: "t", metaField: "m"}}}`), Code: 7406103},
		{DB: "test", Command: out(`{$out: {db: "test", coll: "new", timeseries: {timeField: "a.b"}}}`), Code: 72},
		{DB: "test", Command: out(`{$out: "ts"}`), Code: 2}, // no time
	})
	h.Holds("to", `{_id: 9, a: 1}`)
	for _, d := range h.Listed() {
		if name := d.Lookup("name").Str(); strings.Contains(name, "tmp") || name == "new" {
			t.Errorf("%s is left behind", name)
		}
	}
	h.OK(`{aggregate: "c", pipeline: [{$match: {_id: 1}}, {$set: {a: 5}}, {$out: "to"}], cursor: {}, bypassDocumentValidation: true}`)
	h.Holds("to", `{_id: 1, a: 5}`)
}

// More documents than one transaction takes.
func TestOutOfMany(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	harness.Fill(h)
	for i := range 3 {
		h.OK(fmt.Sprintf(`{aggregate: "c", pipeline: [{$set: {_id: {$add: ["$_id", %d]}, t: {$toDate: {$multiply: ["$_id", {"$numberLong": "1000"}]}}}}, {$merge: "many"}], cursor: {}}`, i*harness.BenchDocs))
	}
	h.OK(`{aggregate: "many", pipeline: [{$out: "copy"}], cursor: {}}`)
	h.OK(`{aggregate: "many", pipeline: [{$out: {db: "test", coll: "series", timeseries: {timeField: "t"}}}], cursor: {}}`)
	for _, coll := range []string{"many", "copy", "series"} {
		h.Finds(`{aggregate: "`+coll+`", pipeline: [{$count: "n"}], cursor: {}}`, fmt.Sprintf(`[{"n": %d}]`, 3*harness.BenchDocs))
	}
}

// A pipeline that writes cannot have read concern linearizable.
func TestOutConcern(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: "c", pipeline: [{$out: "to"}], cursor: {}, readConcern: {level: "linearizable"}}`, Code: 72, Text: "Command aggregate does not support*"},
		{DB: "test", Command: `{aggregate: "c", pipeline: [{$merge: "to"}], cursor: {}, readConcern: {level: "linearizable"}}`, Code: 72},
		{DB: "test", Command: `{aggregate: "c", pipeline: [], cursor: {}, readConcern: {level: "linearizable"}}`},
	})
}

// A collection that cannot be read is reported, whatever stage reads it.
func TestUnreadableInPipelines(t *testing.T) {
	t.Parallel()
	h, e := harness.NewBreakable(t, kernel.Options{})
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{insert: "d", documents: [{_id: 1}]}`)
	e.Broken = storage.Namespace{DB: "test", Coll: "d"}
	for _, command := range []string{
		`{aggregate: "d", pipeline: [], cursor: {}}`, `{aggregate: "c", pipeline: [{$lookup: {from: "d", localField: "_id", foreignField: "_id", as: "l"}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$unionWith: "d"}], cursor: {}}`, `{aggregate: "c", pipeline: [{$merge: {into: "d", on: "_id"}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$merge: "d"}], cursor: {}}`, `{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}`,
		`{aggregate: "d", pipeline: [{$collStats: {count: {}}}], cursor: {}}`, `{aggregate: "d", pipeline: [{$indexStats: {}}], cursor: {}}`,
		`{aggregate: "d", pipeline: [{$planCacheStats: {}}], cursor: {}}`, `{collStats: "d"}`, `{dataSize: "test.d"}`, `{dbStats: 1}`,
	} {
		if r := h.Run(command); r.Lookup("ok").Truthy() || !strings.Contains(r.Lookup("errmsg").Str(), harness.ErrBroken.Error()) {
			t.Errorf("%s answered %s", command, r)
		}
	}
}
