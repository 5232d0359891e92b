package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// Forms of out and the other arguments of reference/command/mapReduce.
func TestMapReduceArguments(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, k: "A", v: 3}, {_id: 2, k: "A", v: 1}, {_id: 3, k: "B", v: 2}]}`)
	run := func(rest string) string {
		return `{mapReduce: "c", map: "function() { emit(this.k, this.v) }", reduce: {$code: "function(k, v) { return Array.sum(v) }"}, ` + rest + `}`
	}
	for _, tt := range []struct{ rest, result, db, left string }{
		{`out: {replace: "r", db: "other"}`, `{db: "other", collection: "r"}`, "other", `[{"_id": "A", "value": 4.0}, {"_id": "B", "value": 2.0}]`},
		{`out: {normal: "n"}, sort: {v: 1}, limit: 2`, `"n"`, "test", `[{"_id": "A", "value": 1.0}, {"_id": "B", "value": 2.0}]`},
		{`out: {reduce: "n", nonAtomic: true}, query: {k: "A"}, finalize: "function(k, v) { return v + plus }", scope: {plus: 10}`, `"n"`, "test", `[{"_id": "A", "value": 25.0}, {"_id": "B", "value": 2.0}]`},
		{`out: {merge: "n"}, finalize: null, collation: {locale: "en", strength: 2}, query: {k: "a"}`, `"n"`, "test", `[{"_id": "A", "value": 4.0}, {"_id": "B", "value": 2.0}]`},
	} {
		reply := h.OK(run(tt.rest))
		result := reply.Lookup("result")
		if want := harness.Relaxed(`{r: ` + tt.result + `}`).Lookup("r"); result.String() != want.String() {
			t.Errorf("%s: result %s, want %s", tt.rest, result, want)
		}
		coll := result.Str()
		if d := result.Doc(); result.Kind() == value.KindDocument {
			coll = d.Lookup("collection").Str()
		}
		got := value.NewArray()
		if list := harness.Docs(h.RunOn(tt.db, harness.Relaxed(`{find: "`+coll+`", sort: {_id: 1}}`))); list != nil {
			var values []value.Value
			for _, d := range list {
				values = append(values, value.Document(d))
			}
			got = value.NewArray(values...)
		}
		if want := value.MustJSON(`{"d":` + tt.left + `}`).Lookup("d"); got.String() != want.String() {
			t.Errorf("%s left %s, want %s", tt.rest, got, want)
		}
	}
}

// A default write concern is not the client's: it does not count for results that are not written.
func TestInlineMapReduceWithDefaultWriteConcern(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1, k: "A", v: 3}]}`)
	h.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {w: 1}}`)
	run := `{mapReduce: "c", map: "function() { emit(this.k, this.v) }", reduce: "function(k, v) { return 1 }", out: {inline: 1}}`
	if got, want := h.OK(run).Lookup("results").String(), `[ { _id: "A", value: 1.0 } ]`; got != want {
		t.Errorf("results %s, want %s", got, want)
	}
}

// The errors of mongod's MapReduceOutOptions, MapReduceJavascriptCode and
// map_reduce_agg.
func TestMapReduceRefuses(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, k: "A", v: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	on := func(coll, rest string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: `{mapReduce: "` + coll + `", map: "function() { emit(this.k, this.v) }", reduce: "function(k, v) { return 1 }", ` + rest + `}`, Code: code, Text: text}
	}
	test := func(rest string, code int32, text string) harness.Refusal { return on("c", rest, code, text) }
	h.Refuses([]harness.Refusal{
		test(`out: 1`, 13606, "'out' has to be a string or an object"),
		test(`out: {}`, 13522, "please specify one of [replace|merge|reduce|inline] in 'out' object"),
		test(`out: {db: "x"}`, 13522, ""),
		test(`out: {merge: "m", nonAtomic: false}`, 15895, "The nonAtomic:false option is no longer allowed in the mapReduce command. Please omit or specify nonAtomic:true"),
		test(`out: {merge: "m", sharded: true}`, 72, "Cannot use mapReduce to create a new sharded collection. Please create and shard the target collection before proceeding."),
		test(`out: {merge: "m", db: "admin"}`, 115, "cannot target internal database as output"),
		test(`out: ""`, 73, ""),
		test(`out: {inline: 1}, limit: -1`, 15958, "The limit specified to mapReduce must be positive"),
		test(`out: {inline: 1}, sort: {}`, 15976, "The mapReduce sort option must have at least one sort key"),
		test(`out: {inline: 1}, finalize: 1`, 2, "'finalize' must be of string or code type"),
		test(`out: {inline: 1}, query: {$bad: 1}`, 2, "MapReduce internal error :: caused by :: unknown top level operator: $bad*"),
		test(`out: {inline: 1}, foo: 1`, 40415, ""),
		test(`out: {inline: 1}, writeConcern: {w: 1}`, 72, "Command does not support writeConcern"),
		test(`out: {inline: 1}, finalize: "function(k, v) { throw 'no' }"`, 139, "MapReduce internal error :: caused by :: *"),
		test(`out: "m", finalize: "function(k, v) { throw 'no' }"`, 139, "MapReduce internal error :: caused by :: *"),
		on("v", `out: {inline: 1}`, 166, ""),
		on("", `out: {inline: 1}`, 73, ""),
		{DB: "test", Command: `{mapReduce: "c", map: "function() {}", reduce: 1, out: {inline: 1}}`, Code: 2, Text: "'reduce' must be of string or code type"},
		{DB: "test", Command: `{explain: {mapReduce: "c", map: 1, reduce: "function() {}", out: {inline: 1}}}`, Code: 2, Text: "'map' must be of string or code type"},
	})
	for _, d := range h.Listed() {
		if name := d.Lookup("name").Str(); name != "c" && name != "v" && name != "system.views" {
			t.Errorf("%s was left", name)
		}
	}
}
