package flow_test

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// TestRefusals: the errors of mongod's parsers for these stages, and errors of
// expressions at run time.
func TestRefusals(t *testing.T) {
	const docs = `[{"_id": 1, "a": 0, "s": [{"a": 0}]}]`
	const divide = `{"$divide": [1, "$a"]}`
	var cases []aggtest.Case
	for _, tt := range [][2]string{
		{`[{"$match": {"$foo": 1}}]`, "2: unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField."},
		{`[{"$limit": 1}, {"$match": {"$and": [{"a": 1}, {"$text": {"$search": "x"}}]}}]`, "17313: $match with $text is only allowed as the first pipeline stage"},
		{`[{"$match": {"$expr": ` + divide + `}}]`, "2: can't $divide by zero"},
		{`[{"$project": {"a": 1, "b": 0}}]`, "31254: Invalid $project :: caused by :: Cannot do exclusion on field b in inclusion projection"},
		{`[{"$set": {"a": {"$foo": 1}}}]`, "168: Invalid $set :: caused by :: Unrecognized expression '$foo'"},
		{`[{"$set": {"x": ` + divide + `}}]`, "2: can't $divide by zero"},
		{`[{"$unset": "a..b"}]`, "15998: Invalid $unset :: caused by :: FieldPath field names may not be empty strings."},
		{`[{"$unset": ["a", "a.b"]}]`, "31249: Invalid $unset :: caused by :: Path collision at a.b remaining portion b"},
		{`[{"$redact": ` + divide + `}]`, "2: can't $divide by zero"},
		{`[{"$redact": {"$foo": 1}}]`, "168: Unrecognized expression '$foo'"},
		{`[{"$redact": {"$cond": [{"$isArray": "$s"}, "$$DESCEND", ` + divide + `]}}]`, "2: can't $divide by zero"},
		{`[{"$replaceRoot": {"x": 1}}]`, "40415: BSON field '$replaceRoot.x' is an unknown field."},
		{`[{"$replaceWith": {"$foo": 1}}]`, "168: Unrecognized expression '$foo'"},
		{`[{"$replaceWith": ` + divide + `}]`, "2: can't $divide by zero"},
		{`[{"$replaceWith": "$a"}]`, "40228: 'replacement document'  must evaluate to an object, but resulting value was: 0. Type of resulting value: 'int'. Input document: …"},
		{`[{"$set": {"x": ` + divide + `}}, {"$sample": {"size": 1}}]`, "2: can't $divide by zero"},
		{`[{"$unwind": "$a\u0000b"}]`, "16419: field path must not contain embedded null characters"},
		{`[{"$unwind": {"path": "$a", "includeArrayIndex": 1}}]`, "28810: expected a non-empty string for the includeArrayIndex  option to $unwind stage, got int"},
		{`[{"$unwind": {"path": "$a", "includeArrayIndex": "a..b"}}]`, "15998: FieldPath field names may not be empty strings."},
		{`[{"$unwind": "$a..b"}]`, "15998: FieldPath field names may not be empty strings."},
	} {
		cases = append(cases, aggtest.Case{Name: tt[0], Docs: docs, Pipeline: tt[0], Err: tt[1]})
	}
	aggtest.RunCases(t, cases, nil)
}

// TestRedactKeeps: $$KEEP ends the descent, in arrays of arrays too.
func TestRedactKeeps(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "keep", Docs: `[{"_id": 1, "l": 1, "sub": {"l": 9}}]`, Pipeline: `[{"$redact": "$$KEEP"}]`, Want: `[{"_id": 1, "l": 1, "sub": {"l": 9}}]`},
		{Name: "prune", Docs: `[{"_id": 1}]`, Pipeline: `[{"$redact": "$$PRUNE"}]`, Want: `[]`},
		{Name: "arrays", Docs: `[{"_id": 1, "l": 1, "s": [[{"l": 9}, {"l": 1}], 5]}]`, Pipeline: `[{"$redact": {"$cond": [{"$gt": ["$l", 5]}, "$$PRUNE", "$$DESCEND"]}}]`, Want: `[{"_id": 1, "l": 1, "s": [[{"l": 1}], 5]}]`},
	}, nil)
}

// TestSpecs: explain shows each stage as mongod serializes it.
func TestSpecs(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$limit": 5}, {"$skip": 2}]`: `[{"$limit":5},{"$skip":2}]`,
		`[{"$match": {"a": 1}}]`:        `[{"$match":{"a":1}}]`,
		`[{"$replaceWith": "$a"}]`:      `[{"$replaceRoot":{"newRoot":"$a"}}]`,
		`[{"$sample": {"size": 3}}]`:    `[{"$sample":{"size":3}}]`,
		`[{"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "i"}}]`: `[{"$unwind":{"path":"$a","preserveNullAndEmptyArrays":true,"includeArrayIndex":"i"}}]`,
	} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestConditionsMove: a condition moves in front of a stage that does not change what it
// reads, and of this stage only.
func TestConditionsMove(t *testing.T) {
	for _, tt := range []struct {
		stage, filter string
		moves         bool
	}{
		{`{"$set": {"a": 1}}`, `{"b": 1}`, true}, {`{"$set": {"a.b": 1}}`, `{"a.c": 1}`, false}, {`{"$set": {"a": 1}}`, `{"$or": [{"b": 1}, {"a": 1}]}`, false},
		{`{"$set": {"a": 1}}`, `{"$nor": [{"b": 1}, {"c": 1}]}`, true}, {`{"$set": {"a": 1}}`, `{"$expr": {"$gt": ["$b", "$c"]}}`, true},
		{`{"$set": {"a": 1}}`, `{"$expr": {"$gt": ["$$ROOT", "$c"]}}`, false}, {`{"$set": {"a": 1}}`, `{"$or": [{"$expr": {"$gt": ["$$ROOT", 1]}}]}`, false},
		{`{"$set": {"a": 1}}`, `{"$expr": {"$lt": [{"$rand": {}}, 1]}}`, false}, {`{"$set": {"a": 1}}`, `{"$sampleRate": 0.5}`, false},
		{`{"$project": {"_id": 0}}`, `{"b": 1}`, true}, {`{"$project": {"_id": 1}}`, `{"_id": 1}`, true}, {`{"$project": {"x": "$y"}}`, `{"b": 1}`, false},
		{`{"$unwind": {"path": "$a", "includeArrayIndex": "i"}}`, `{"i": 1}`, false}, {`{"$unwind": {"path": "$a", "includeArrayIndex": "i"}}`, `{"b": 1}`, true},
		{`{"$redact": "$$KEEP"}`, `{"b": 1}`, false}, {`{"$replaceWith": "$a"}`, `{"b": 1}`, false}, {`{"$skip": 1}`, `{"b": 1}`, false}, {`{"$sample": {"size": 1}}`, `{"b": 1}`, false},
	} {
		p, err := agg.Compile(aggtest.Array(t, `[`+tt.stage+`, {"$match": `+tt.filter+`}]`), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if first := p.Stages()[0].Name(); (first == "$match") != tt.moves {
			t.Errorf("%s, %s: %s", tt.stage, tt.filter, aggtest.Shape(p))
		}
	}
}

// TestFilters: the functions with which other packages examine filters.
func TestFilters(t *testing.T) {
	doc := func(json string) value.Doc { return value.MustJSON(json) }
	for _, tt := range [][3]string{{`{}`, `{"b": 1}`, `{"b":1}`}, {`{"a": 1}`, `{}`, `{"a":1}`}, {`{"a": 1}`, `{"b": 1}`, `{"$and":[{"a":1},{"b":1}]}`}} {
		if got := flow.Both(doc(tt[0]), doc(tt[1])).JSON(); got != tt[2] {
			t.Errorf("got %s, want %s", got, tt[2])
		}
	}
	filter := value.Document(doc(`{"a": [{"$expr": {"$eq": ["$x", "$$v.y"]}}], "b": "$$w"}`))
	if !flow.Mentions(filter, "$expr") || flow.Mentions(filter, "$text") || flow.Mentions(value.Int32(1), "$expr") {
		t.Error("mentions")
	}
	for name, want := range map[string]bool{"v": true, "w": true, "x": false, "y": false} {
		if got := flow.RefersTo(filter, map[string]bool{name: true}); got != want {
			t.Error(name, got)
		}
	}
}

// TestSampleOfMany: each document is returned at most once, with the random numbers of
// the run or with others.
func TestSampleOfMany(t *testing.T) {
	h := aggtest.NewHost()
	for i := range 100 {
		h.Colls["test.c"] = append(h.Colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	x := aggtest.Exec(h)
	for _, random := range []func() float64{nil, func() float64 { return 0 }, func() float64 { return 0.999 }} {
		x.Env.Rand = random
		got, err := aggtest.Drain(t, `[{"$sample": {"size": 10}}]`, stage.Options{DB: "test", Coll: "c"}, x)
		seen := map[int64]bool{}
		for _, d := range got {
			seen[d.Lookup("_id").Int64()] = true
		}
		if err != nil || len(got) != 10 || len(seen) != 10 {
			t.Error(len(got), len(seen), err)
		}
	}
}

// TestSourceFails: each stage passes on an error of its source.
func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	for _, spec := range []string{`{"$match": {"a": 1}}`, `{"$limit": 1}`, `{"$skip": 1}`, `{"$project": {"a": 1}}`, `{"$redact": "$$KEEP"}`, `{"$replaceWith": {}}`, `{"$sample": {"size": 1}}`, `{"$unwind": "$a"}`} {
		p, err := agg.Compile(aggtest.Array(t, "["+spec+"]"), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		it, err := p.Run(aggtest.Exec(nil), stage.Pull(nil, func() (value.Doc, error) { return nil, broken }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := aggtest.ReadAll(it); !errors.Is(err, broken) {
			t.Error(spec, err)
		}
	}
}
