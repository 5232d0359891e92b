package write_test

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// TestRefusals: the errors of mongod's parsers for $merge and $out.
func TestRefusals(t *testing.T) {
	merge := func(args string) string { return `[{"$merge": {"into": "t", ` + args + `}}]` }
	var cases []aggtest.Case
	for _, tt := range [][2]string{
		{`[{"$merge": {"into": ""}}]`, "5786800: $merge 'into' field cannot be an empty string"},
		{`[{"$merge": "a$b"}]`, "73: Invalid $merge target namespace: 'test.a$b'"},
		{`[{"$merge": {"into": {"db": "admin", "coll": "x"}}}]`, "31320: Cannot $merge to internal database: admin"},
		{`[{"$merge": {"into": 1}}]`, "51178: $merge 'into' field  must be either a string or an object, but found int"},
		{`[{"$merge": {"into": {"coll": 1}}}]`, "14: BSON field 'into.coll' is the wrong type 'int', expected type 'string'"},
		{`[{"$merge": {"into": {"coll": "x", "foo": 1}}}]`, "40415: BSON field 'into.foo' is an unknown field."},
		{merge(`"whenMatched": 1`), "51191: $merge 'whenMatched' field  must be either a string or an array, but found int"},
		{merge(`"whenNotMatched": 1`), "14: BSON field '$merge.whenNotMatched' is the wrong type 'int', expected type 'string'"},
		{merge(`"whenNotMatched": "x"`), "2: Enumeration value 'x' for field '$merge.whenNotMatched' is not a valid value."},
		{merge(`"foo": 1`), "40415: BSON field '$merge.foo' is an unknown field."},
		{merge(`"on": 1`), "51186: $merge 'on' field  must be either a string or an array of strings, but found int"},
		{merge(`"on": []`), "51187: If explicitly specifying $merge 'on', must include at least one field"},
		{merge(`"on": ["a", 1]`), "51134: $merge 'on' array elements must be strings, but found int"},
		{merge(`"on": "a..b"`), "15998: FieldPath field names may not be empty strings."},
		{merge(`"let": {"X": 1}, "whenMatched": []`), "9: 'X' starts with an invalid character for a user variable name"},
		{merge(`"let": {"x": {"$foo": 1}}, "whenMatched": []`), "168: Unrecognized expression '$foo'"},
		{`[{"$out": {"db": "x", "coll": "y", "foo": 1}}]`, "40415: BSON field '$out.foo' is an unknown field."},
		{`[{"$out": {"db": "x", "coll": null}}]`, "40414: BSON field '$out.coll' is missing but a required field"},
		{`[{"$out": {"db": 1, "coll": "y"}}]`, "14: BSON field '$out.db' is the wrong type 'int', expected type 'string'"},
		{`[{"$out": {"db": "x", "db": "x"}}]`, "40413: BSON field '$out.db' is a duplicate field"},
		{`[{"$out": "a$b"}]`, "20: Executor error during aggregate command on namespace: test.c :: caused by :: error with target namespace: Invalid collection name: a$b"},
		{`[{"$out": ""}]`, "73: Invalid $out target namespace, test."},
		{`[{"$out": {"db": "x", "coll": "y", "timeseries": 1}}]`, "14: BSON field '$out.timeseries' is the wrong type 'int', expected type 'object'"},
		{`[{"$out": {"db": "x", "coll": "y", "timeseries": {"timeField": 1}}}]`, "14: BSON field '$out.timeseries.timeField' is the wrong type 'int', expected type 'string'"},
		{`[{"$out": {"db": "x", "coll": "y", "timeseries": {"timeField": "t", "foo": 1}}}]`, "40415: BSON field '$out.timeseries.foo' is an unknown field."},
		{`[{"$out": {"db": "x", "coll": "y", "timeseries": {"timeField": "t", "bucketMaxSpanSeconds": "x"}}}]`, "14: BSON field '$out.timeseries.bucketMaxSpanSeconds' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	} {
		cases = append(cases, aggtest.Case{Name: tt[0], Pipeline: tt[0], Err: tt[1]})
	}
	aggtest.RunCases(t, cases, nil)
}

// TestTargets: the targets that the host gets, and how explain shows them.
func TestTargets(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$merge": "t"}]`: `[{"$merge":{"into":{"db":"test","coll":"t"},"on":["_id"],"whenMatched":"merge","whenNotMatched":"insert"}}]`,
		`[{"$merge": {"into": {"db": "d", "coll": "t"}, "on": ["a", "b"], "let": {"x": 1}, "whenMatched": [{"$set": {"a": "$$x"}}], "whenNotMatched": "discard"}}]`: `[{"$merge":{"into":{"db":"d","coll":"t"},"on":["a","b"],"let":{"x":1},"whenMatched":[{"$set":{"a":"$$x"}}],"whenNotMatched":"discard"}}]`,
		`[{"$out": "t"}]`: `[{"$out":{"coll":"t","db":"test"}}]`,
		`[{"$out": {"db": "d", "coll": "t", "timeseries": {"timeField": "t", "metaField": null}}}]`: `[{"$out":{"coll":"t","db":"d","timeseries":{"timeField":"t","metaField":null}}}]`,
	} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		db, coll, ok := p.Target()
		if ns := p.Namespaces(); !ok || !p.Writes() || len(ns) != 1 || ns[0] != db+"."+coll || coll != "t" {
			t.Error(db, coll, ok, ns)
		}
	}
	p, err := agg.Compile(aggtest.Array(t, `[{"$merge": {"into": "t", "on": "k", "whenMatched": "fail"}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := p.MergeTarget(); !ok || !m.Insert || m.Coll != "t" || len(m.On) != 1 || m.On[0] != "k" {
		t.Error(m, ok)
	}
}

// TestFailuresOfTheTarget: a failure leaves the old collection of an $out as it was, and
// closes what was opened.
func TestFailuresOfTheTarget(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		what, pipeline  string
		aborted, closed int
	}{
		{"out", `[{"$out": "t"}]`, 0, 0}, {"write", `[{"$out": "t"}]`, 1, 0}, {"commit", `[{"$out": "t"}]`, 1, 0},
		{"merge", `[{"$merge": "t"}]`, 0, 0}, {"close", `[{"$merge": "t"}]`, 0, 1},
	} {
		h := aggtest.NewHost()
		h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1}]`)
		h.Colls["test.t"] = aggtest.Docs(t, `[{"_id": 1, "old": true}]`)
		h.Fail = func(what string) error {
			if what == tt.what {
				return broken
			}
			return nil
		}
		_, err := aggtest.Run(t, h, tt.pipeline)
		if !errors.Is(err, broken) && tt.what != "close" || h.Aborted != tt.aborted || h.Closed < tt.closed || h.Colls["test.t"][0].JSON() != `{"_id":1,"old":true}` {
			t.Error(tt.what, err, h.Aborted, h.Closed, h.Colls["test.t"])
		}
	}
	for _, pipeline := range []string{`[{"$set": {"a": {"$divide": [1, "$b"]}}}, {"$out": "t"}]`, `[{"$set": {"a": {"$divide": [1, "$b"]}}}, {"$merge": "t"}]`} {
		h := aggtest.NewHost()
		h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "b": 0}]`)
		h.Colls["test.t"] = aggtest.Docs(t, `[{"_id": 1, "old": true}]`)
		_, err := aggtest.Run(t, h, pipeline)
		aggtest.CheckError(t, err, "2: can't $divide by zero")
		if len(h.Colls["test.t"]) != 1 || h.Colls["test.t"][0].JSON() != `{"_id":1,"old":true}` {
			t.Error(h.Colls["test.t"])
		}
	}
}

// TestMergeByPaths: identifying fields inside documents, many documents at once, and
// failures of the variables.
func TestMergeByPaths(t *testing.T) {
	h := aggtest.NewHost()
	h.Unique["a.b"] = true
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 5, "a": {"b": 1}, "v": 2}]`)
	h.Colls["test.t"] = aggtest.Docs(t, `[{"_id": 5, "a": {"b": 1}}]`)
	if _, err := aggtest.Run(t, h, `[{"$merge": {"into": "t", "on": "a.b"}}]`); err != nil || h.Colls["test.t"][0].JSON() != `{"_id":5,"a":{"b":1},"v":2}` {
		t.Error(err, h.Colls["test.t"])
	}
	h.Colls["test.c"], h.Sparse = aggtest.Docs(t, `[{"_id": 5, "a": 1}]`), true
	_, err := aggtest.Run(t, h, `[{"$merge": {"into": "t", "on": "a.b"}}]`)
	aggtest.CheckError(t, err, "51132: $merge write error: 'on' field 'a.b' cannot be missing, null or undefined if supporting index is sparse")
	_, err = aggtest.Run(t, h, `[{"$merge": {"into": "t", "let": {"x": {"$divide": [1, {"$subtract": ["$a", 1]}]}}, "whenMatched": [{"$set": {"v": "$$x"}}]}}]`)
	aggtest.CheckError(t, err, "2: can't $divide by zero")
	many := aggtest.NewHost()
	for i := range 1100 {
		many.Colls["test.c"] = append(many.Colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	if _, err := aggtest.Run(t, many, `[{"$merge": "t"}]`); err != nil || len(many.Colls["test.t"]) != 1100 {
		t.Error(err, len(many.Colls["test.t"]))
	}
}
