package lookup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// TestRefusals: the errors of mongod's parsers for $lookup, $facet, $graphLookup and
// $unionWith.
func TestRefusals(t *testing.T) {
	lookup := func(args string) string { return `[{"$lookup": {"as": "d", ` + args + `}}]` }
	graph := func(args string) string { return `[{"$graphLookup": {"from": "x", ` + args + `}}]` }
	var cases []aggtest.Case
	for _, tt := range [][2]string{
		{lookup(`"from": "", "localField": "a", "foreignField": "b"`), "73: invalid $lookup namespace: test."},
		{lookup(`"from": 1`), "9: $lookup 'from' field must be a string, but found int"},
		{lookup(`"from": {"db": "x", "coll": "y"}`), "9: $lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: x and coll: y"},
		{lookup(`"from": "x", "localField": "a..b", "foreignField": "c"`), "15998: FieldPath field names may not be empty strings."},
		{lookup(`"from": "x", "let": {"X": 1}, "pipeline": []`), "9: 'X' starts with an invalid character for a user variable name"},
		{lookup(`"from": "x", "let": {"x": {"$foo": 1}}, "pipeline": []`), "168: Unrecognized expression '$foo'"},
		{lookup(`"pipeline": [{"$match": {}}]`), "9: $lookup stage without explicit collection must have a pipeline with $documents as first stage"},
		{lookup(`"from": "x", "pipeline": [{"$foo": 1}]`), "40324: Unrecognized pipeline stage name: '$foo'"},
		{`[{"$facet": {}}]`, "40169: the $facet specification must be a non-empty object, but found: $facet: {}"},
		{`[{"$facet": 1}]`, "40169: the $facet specification must be a non-empty object, but found: $facet: 1"},
		{`[{"$facet": {"a": 1}}]`, "40170: arguments to $facet must be arrays, a is type int"},
		{`[{"$facet": {"a": [1]}}]`, "40171: elements of arrays in $facet spec must be non-empty objects, a argument contained an element of type int: 1"},
		{`[{"$facet": {"a.b": []}}]`, "16412: FieldPath field names may not contain '.'. Consider using $getField or $setField."},
		{`[{"$facet": {"$a": []}}]`, "16410: FieldPath field names may not start with '$'. Consider using $getField or $setField."},
		{`[{"$facet": {"": []}}]`, "15998: FieldPath field names may not be empty strings."},
		{graph(`"connectFromField": 1`), "40103: expected string as argument for connectFromField, found: int"},
		{graph(`"startWith": {"$foo": 1}`), "168: Unrecognized expression '$foo'"},
		{graph(`"depthField": "$a", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "c"`), "16410: FieldPath field names may not start with '$'. Consider using $getField or $setField."},
		{`[{"$graphLookup": 1}]`, "9: the $graphLookup stage specification must be an object, but found int"},
		{`[{"$unionWith": {"coll": 1}}]`, "14: BSON field '$unionWith.coll' is the wrong type 'int', expected type 'string'"},
		{`[{"$unionWith": {"coll": "x", "pipeline": 1}}]`, "14: BSON field '$unionWith.pipeline' is the wrong type 'int', expected type 'array'"},
		{`[{"$unionWith": {"pipeline": [{"$match": {}}]}}]`, "9: $unionWith stage without explicit collection must have a pipeline with $documents as first stage"},
	} {
		cases = append(cases, aggtest.Case{Name: tt[0], Docs: `[{"_id": 1}]`, Pipeline: tt[0], Err: tt[1]})
	}
	aggtest.RunCases(t, cases, nil)
}

// Since 8.2 the arguments of $lookup are checked as those of commands are.
func TestArgumentsByVersion(t *testing.T) {
	var cases []aggtest.Case
	for _, tt := range []struct{ args, before, now string }{
		{`"from": "x", "localField": "a", "foreignField": "b"`, "9: must specify 'as' field for a $lookup", "40414: BSON field '$lookup.as' is missing but a required field"},
		{`"from": "x", "foo": "y"`, "9: unknown argument to $lookup: foo", "40415: BSON field '$lookup.foo' is an unknown field."},
		{`"as": "d", "from": "x", "localField": 1`, "9: $lookup argument 'localField' must be a string, found localField: 1: int",
			"14: BSON field '$lookup.localField' is the wrong type 'int', expected type 'string'"},
		{`"as": "d", "from": "x", "let": 1, "pipeline": []`, "9: $lookup argument 'let: 1' must be an object, is type int",
			"14: BSON field '$lookup.let' is the wrong type 'int', expected type 'object'"},
		{`"as": "d", "from": "x", "localField": null, "pipeline": []`, "9: $lookup argument 'localField' must be a string, found localField: null: null", ""},
		{`"as": "d", "from": "x", "let": null, "pipeline": []`, "9: $lookup argument 'let: null' must be an object, is type null", ""},
		{`"as": "d", "from": "x", "pipeline": [], "as": "e"`, "", "40413: BSON field '$lookup.as' is a duplicate field"},
	} {
		pipeline := `[{"$lookup": {` + tt.args + `}}, {"$project": {"_id": 1}}]`
		for as, err := range map[dialect.Dialect]string{dialect.Mongo80: tt.before, dialect.Mongo82As80: tt.now, dialect.Mongo82: tt.now} {
			cases = append(cases, aggtest.Case{Name: as.Version() + pipeline, Docs: `[{"_id": 1}]`, Pipeline: pipeline, Err: err, Want: `[{"_id": 1}]`, As: as})
		}
	}
	aggtest.RunCases(t, cases, nil)
}

// TestExplained: explain shows what the optimiser put into the stages.
func TestExplained(t *testing.T) {
	for _, tt := range [][2]string{
		{`[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c"}}, {"$unwind": {"path": "$c", "includeArrayIndex": "i"}}]`,
			`[{"$lookup":{"from":"x","localField":"a","foreignField":"b","as":"c","unwinding":{"preserveNullAndEmptyArrays":false,"includeArrayIndex":"i"}}}]`},
		{`[{"$unionWith": {"coll": "x", "pipeline": [{"$limit": 2}]}}]`, `[{"$unionWith":{"coll":"x","pipeline":[{"$limit":2}]}}]`},
		{`[{"$unionWith": "x"}, {"$match": {"a": 1}}]`, `[{"$match":{"a":1}},{"$unionWith":{"coll":"x","pipeline":[{"$match":{"a":1}}]}}]`},
		{`[{"$facet": {"a": [{"$match": {"x": 1}}], "b": []}}]`, `[{"$facet":{"a":[{"$match":{"x":1}}],"b":[]}}]`},
	} {
		p, err := agg.Compile(aggtest.Array(t, tt[0]), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != tt[1] {
			t.Errorf("got  %s\nwant %s", got, tt[1])
		}
	}
	p, err := agg.Compile(aggtest.Array(t, `[{"$facet": {"a": [{"$unionWith": "u"}, {"$lookup": {"from": "l", "as": "x", "pipeline": []}}]}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Namespaces()); got != "[test.u test.l]" {
		t.Error(got)
	}
}

// TestFailures: an error of the foreign collection, of a variable or of a found document
// ends the run, and so does an interruption.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for _, pipeline := range []string{
		`[{"$lookup": {"from": "d", "localField": "a", "foreignField": "b", "as": "c"}}]`,
		`[{"$lookup": {"from": "d", "as": "c", "pipeline": [{"$limit": 1}]}}]`,
		`[{"$lookup": {"from": "d", "localField": "a", "foreignField": "b", "as": "c"}}, {"$unwind": "$c"}]`,
		`[{"$unionWith": "d"}]`,
		`[{"$graphLookup": {"from": "d", "startWith": "$a", "connectFromField": "a", "connectToField": "b", "as": "c"}}]`,
		`[{"$facet": {"x": [{"$unionWith": "d"}]}}]`,
	} {
		for _, what := range []string{"open", "resolve"} {
			h := aggtest.NewHost()
			h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "a": 1}]`)
			n := 0
			h.Fail = func(w string) error {
				if w == what {
					if n++; n > 1 { // not for test.c
						return broken
					}
				}
				return nil
			}
			if _, err := aggtest.Run(t, h, pipeline); !errors.Is(err, broken) {
				t.Errorf("%s, %s: %v", what, pipeline, err)
			}
		}
	}
	const docs = `[{"_id": 1, "a": 0}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "let", Docs: docs, Pipeline: `[{"$lookup": {"from": "c", "let": {"x": {"$divide": [1, "$a"]}}, "as": "d", "pipeline": []}}]`, Err: "2: can't $divide by zero"},
		{Name: "inner", Docs: docs, Pipeline: `[{"$lookup": {"from": "c", "as": "d", "pipeline": [{"$set": {"x": {"$divide": [1, "$a"]}}}]}}]`, Err: "2: can't $divide by zero"},
		{Name: "inner, unwound", Docs: docs, Pipeline: `[{"$lookup": {"from": "c", "as": "d", "pipeline": [{"$set": {"x": {"$divide": [1, "$a"]}}}]}}, {"$unwind": "$d"}]`, Err: "2: can't $divide by zero"},
		{Name: "startWith", Docs: docs, Pipeline: `[{"$graphLookup": {"from": "c", "startWith": {"$divide": [1, "$a"]}, "connectFromField": "a", "connectToField": "b", "as": "c"}}]`, Err: "2: can't $divide by zero"},
		{Name: "facet", Docs: docs, Pipeline: `[{"$facet": {"x": [{"$set": {"x": {"$divide": [1, "$a"]}}}]}}]`, Err: "2: can't $divide by zero"},
		{Name: "before the facet", Docs: docs, Pipeline: `[{"$set": {"x": {"$divide": [1, "$a"]}}}, {"$facet": {"x": []}}]`, Err: "2: can't $divide by zero"},
		{Name: "no _id", Docs: docs, Pipeline: `[{"$graphLookup": {"from": "noid", "startWith": 1, "connectFromField": "x", "connectToField": "x", "as": "c"}}]`,
			Err: "40271: Documents in the 'test.noid' namespace must contain an _id for de-duplication in $graphLookup"},
	}, func(h *aggtest.Host) { h.Colls["test.noid"] = aggtest.Docs(t, `[{"x": 1}]`) })
}

// TestLimitsOfMemory: how much memory joins and facets may use.
func TestLimitsOfMemory(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1}, {"_id": 2}]`)
	for i := range 100 {
		h.Colls["test.d"] = append(h.Colls["test.d"], value.MustJSON(fmt.Sprintf(`{"_id": %d, "to": %d, "v": "some text"}`, i, i+1)))
	}
	for _, tt := range []struct {
		coll, pipeline, want string
		set                  func(*stage.Exec)
	}{
		{"c", `[{"$lookup": {"from": "d", "as": "d", "pipeline": []}}]`, "4568: Total size of documents in d matching pipeline's $lookup stage exceeds 1000 bytes", func(x *stage.Exec) { x.Limits.LookupDoc = 1000 }},
		{"c", `[{"$graphLookup": {"from": "d", "startWith": 1, "connectFromField": "to", "connectToField": "_id", "as": "d"}}]`, "40099: $graphLookup reached maximum memory consumption", func(x *stage.Exec) { x.MemoryLimit = 1000 }},
		{"d", `[{"$facet": {"a": []}}]`, "4031700: document constructed by $facet is …", func(x *stage.Exec) { x.Limits.FacetDoc = 1000 }},
		{"d", `[{"$facet": {"a": [{"$count": "n"}]}}]`, "292: Exceeded memory limit for $facet, but didn't allow external sort. Pass allowDiskUse:true to opt in.", func(x *stage.Exec) { x.AllowDiskUse, x.Limits.Facet = false, 1000 }},
		{"d", `[{"$facet": {"a": [{"$count": "n"}]}}]`, "39: …", func(x *stage.Exec) { x.TempDir, x.Limits.Facet = t.TempDir()+"/none", 1000 }},
	} {
		x := aggtest.Exec(h)
		tt.set(x)
		_, err := aggtest.Drain(t, tt.pipeline, stage.Options{DB: "test", Coll: tt.coll}, x)
		aggtest.CheckError(t, err, tt.want)
	}
	x := aggtest.Exec(h)
	x.TempDir, x.Limits.Facet = t.TempDir(), 1000
	got, err := aggtest.Drain(t, `[{"$facet": {"n": [{"$count": "n"}], "l": [{"$sort": {"_id": -1}}, {"$limit": 1}, {"$project": {"_id": 1}}]}}]`, stage.Options{DB: "test", Coll: "d"}, x)
	if err != nil || !x.UsedDisk() || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"n": [{"n": 100}], "l": [{"_id": 99}]}]`)) {
		t.Error(aggtest.Canonical(got), err)
	}
	x = aggtest.Exec(h) // a result that is too large to be kept is read again
	x.MemoryLimit = 1000
	got, err = aggtest.Drain(t, `[{"$lookup": {"from": "d", "as": "d", "pipeline": [{"$match": {"v": "some text"}}]}}, {"$project": {"n": {"$size": "$d"}}}]`, stage.Options{DB: "test", Coll: "c"}, x)
	if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"_id": 1, "n": 100}, {"_id": 2, "n": 100}]`)) {
		t.Error(aggtest.Canonical(got), err)
	}
}

// TestValuesThatJoin: arrays, missing fields, positions and expressions, whether the host
// or the stages sort and limit.
func TestValuesThatJoin(t *testing.T) {
	for _, eager := range []bool{false, true} {
		aggtest.RunCases(t, []aggtest.Case{
			{Name: "element documents", Docs: `[{"_id": 1, "a": [{"b": {"c": 2}}, {"b": [{"c": 3}]}]}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a.b.c", "foreignField": "k", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [2, 3]}]`},
			{Name: "array in array", Docs: `[{"_id": 1, "a": [[2, 3]]}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a", "foreignField": "k", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": []}]`},
			{Name: "equality in an expression", Docs: `[{"_id": 1, "a": 2}]`, Pipeline: `[{"$lookup": {"from": "d", "let": {"v": "$a"}, "as": "d", "pipeline": [{"$match": {"$expr": {"$eq": ["$$v", "$k"]}, "_id": {"$gt": 0}}}, {"$sort": {"_id": -1}}, {"$limit": 1}]}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [2]}]`},
			{Name: "sorted", Docs: `[{"_id": 1, "a": [2, 3, 5]}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a", "foreignField": "k", "as": "d", "pipeline": [{"$sort": {"_id": -1}}, {"$limit": 2}]}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [5, 3]}]`},
			{Name: "regular expressions in arrays", Docs: `[{"_id": 1, "a": [{"$regularExpression": {"pattern": "x", "options": ""}}, 2]}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a", "foreignField": "k", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [2]}]`},
			{Name: "undefined", Docs: `[{"_id": 1, "a": {"$undefined": true}}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a", "foreignField": "k", "as": "d"}}, {"$project": {"n": {"$size": "$d"}}}]`, Want: `[{"_id": 1, "n": 0}]`},
			{Name: "sample", Docs: `[{"_id": 1}, {"_id": 2}]`, Pipeline: `[{"$lookup": {"from": "d", "as": "d", "pipeline": [{"$sample": {"size": 2}}]}}, {"$project": {"n": {"$size": "$d"}}}]`, Want: `[{"_id": 1, "n": 2}, {"_id": 2, "n": 2}]`},
			{Name: "condition on what is unwound", Docs: `[{"_id": 1, "a": [2, 3]}]`, Pipeline: `[{"$lookup": {"from": "d", "localField": "a", "foreignField": "k", "as": "d"}}, {"$unwind": "$d"}, {"$match": {"d.k": {"$gt": 2}}}, {"$project": {"k": "$d.k"}}]`, Want: `[{"_id": 1, "k": 3}]`},
			{Name: "graph from arrays", Docs: `[{"_id": 1, "a": [2, 2, null, {"$regularExpression": {"pattern": "x", "options": ""}}]}]`, Pipeline: `[{"$graphLookup": {"from": "d", "startWith": "$a", "connectFromField": "none", "connectToField": "k", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [2]}]`},
			{Name: "graph and unwind", Docs: `[{"_id": 1, "a": 2}]`, Pipeline: `[{"$graphLookup": {"from": "d", "startWith": "$a", "connectFromField": "none", "connectToField": "k", "as": "d"}}, {"$unwind": "$d"}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": 2}]`},
		}, func(h *aggtest.Host) {
			h.Eager = eager
			h.Colls["test.d"] = aggtest.Docs(t, `[{"_id": 1, "k": 1}, {"_id": 2, "k": 2}, {"_id": 3, "k": 3}, {"_id": 5, "k": 5}]`)
		})
	}
}
