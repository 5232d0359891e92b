package window_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
)

// TestRefusals: the errors of mongod's parsers for $setWindowFields and its operators,
// $fill and $densify.
func TestRefusals(t *testing.T) {
	sum := func(bounds string) string {
		return `[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": {"$sum": 1, "window": ` + bounds + `}}}}]`
	}
	out := func(spec string) string {
		return `[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": ` + spec + `}}}]`
	}
	var cases []aggtest.Case
	for _, tt := range [][2]string{
		{`[{"$setWindowFields": 1}]`, "9: the $setWindowFields stage specification must be an object, found int"},
		{`[{"$setWindowFields": {"output": 1}}]`, "14: BSON field '$setWindowFields.output' is the wrong type 'int', expected type 'object'"},
		{`[{"$setWindowFields": {"output": {"a": 1}}}]`, "9: The field 'a' must be an object"},
		{`[{"$setWindowFields": {"output": {"a..b": {"$sum": 1}}}}]`, "15998: FieldPath field names may not be empty strings."},
		{`[{"$setWindowFields": {"partitionBy": {"$foo": 1}, "output": {}}}]`, "168: Unrecognized expression '$foo'"},
		{`[{"$setWindowFields": {"sortBy": {"a": 5}, "output": {}}}]`, "15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)"},
		{sum(`1`), "9: 'window' field must be an object"},
		{sum(`{"documents": [0, 1], "range": [0, 1]}`), "9: Window bounds can specify either 'documents' or 'unit', not both."},
		{sum(`{"unit": "day"}`), "9: Window bounds can only specify 'unit' with range-based bounds."},
		{sum(`{"foo": 1}`), "9: 'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field"},
		{sum(`{"documents": [0, 1], "foo": 1}`), "9: 'window' field that specifies documents cannot have other fields"},
		{sum(`{"range": [0, 1], "unit": "day", "foo": 1}`), "9: 'window' field that specifies unit cannot have other fields besides 'range'"},
		{sum(`{"range": [0, 1], "unit": 1}`), "9: 'unit' must be a string"},
		{sum(`{"range": [0, 1], "foo": 1}`), "9: 'window' field that specifies range cannot have other fields besides 'unit'"},
		{sum(`{"range": ["x", 1]}`), "9: …"},
		{sum(`{"range": [0, {"$literal": "x"}]}`), "9: Range-based bounds expression must be a number"},
		{sum(`{"range": [0.5, 1], "unit": "day"}`), "9: With 'unit', range-based bounds must be an integer"},
		{sum(`{"documents": [1]}`), "9: Window bounds must be a 2-element array: …"},
		{sum(`{"documents": 1}`), "9: Window bounds must be a 2-element array: …"},
		{sum(`{"documents": ["$a", 1]}`), "9: …"},
		{sum(`{"documents": [{"$add": ["$a", 1]}, 1]}`), "9: Window bounds expression must be a constant."},
		{sum(`{"documents": [0, {"$foo": 1}]}`), "168: Unrecognized expression '$foo'"},
		{out(`{"$shift": 1}`), "9: Argument to $shift must be an object"},
		{out(`{"$shift": {"by": 1}}`), "9: '$shift' requires an 'output' expression."},
		{out(`{"$shift": {"output": 1, "by": 1.5}}`), "9: '$shift:by' field must be an integer, but found by: 1.5"},
		{out(`{"$shift": {"output": 1, "by": 1, "x": 1}}`), "9: Unknown argument in $shift"},
		{out(`{"$shift": {"output": 1, "by": 1, "default": "$a"}}`), "9: '$shift:default' expression must yield a constant value."},
		{out(`{"$shift": {"output": 1, "by": 1}, "window": {}}`), "9: 'window' field is not allowed in '$shift'"},
		{out(`{"$expMovingAvg": 1}`), "9: $expMovingAvg must have exactly one argument that is an object"},
		{out(`{"$expMovingAvg": {"input": 1, "N": "x"}}`), "9: 'N' field must be an integer, but found type string"},
		{out(`{"$expMovingAvg": {"input": 1, "N": 1.5}}`), "9: 'N' field must be an integer, but found  N: 1.5. To use a non-integer, use the 'alpha' argument instead"},
		{out(`{"$expMovingAvg": {"input": 1, "alpha": "x"}}`), "9: 'alpha' must be a number"},
		{out(`{"$expMovingAvg": {"input": 1, "alpha": 1}}`), "9: 'alpha' must be between 0 and 1 (exclusive), found alpha: 1"},
		{out(`{"$expMovingAvg": {"input": {"$foo": 1}, "alpha": 0.5}}`), "168: Unrecognized expression '$foo'"},
		{`[{"$setWindowFields": {"output": {"r": {"$expMovingAvg": {"input": 1, "N": 2}}}}}]`, "9: $expMovingAvg requires an explicit 'sortBy'"},
		{`[{"$setWindowFields": {"output": {"r": {"$derivative": {"input": 1}, "window": {}}}}}]`, "9: $derivative requires a sortBy"},
		{`[{"$setWindowFields": {"sortBy": {"a": 1, "b": 1}, "output": {"r": {"$derivative": {"input": 1}, "window": {}}}}}]`, "9: $derivative requires a non-compound sortBy"},
		{out(`{"$derivative": 1, "window": {}}`), "9: $derivative expects an object, but got a int: $derivative: 1"},
		{out(`{"$derivative": {"unit": "day"}, "window": {}}`), "9: $derivative requires an 'input' expression"},
		{out(`{"$derivative": {"input": 1, "foo": 1}, "window": {}}`), "9: $derivative got unexpected argument: foo"},
		{out(`{"$sum": 1, "$avg": 1}`), "9: Cannot specify two functions in window function spec"},
		{`[{"$fill": {"sortBy": {"a": 1}}}]`, "40414: BSON field '$fill.output' is missing but a required field"},
		{`[{"$fill": {"output": {"a": 1}}}]`, "6050200: Each fill output specification must be an object with exactly one field"},
		{`[{"$fill": {"output": {"a": {"method": 1}}}}]`, "14: BSON field '$fill.method' is the wrong type 'int', expected type 'string'"},
		{`[{"$fill": {"partitionBy": 1, "output": {"a": {"value": 1}}}}]`, "14: BSON field '$fill.partitionBy' is the wrong type 'int', expected types '[string, object]'"},
		{`[{"$fill": {"foo": 1, "output": {"a": {"value": 1}}}}]`, "40415: BSON field '$fill.foo' is an unknown field."},
	} {
		cases = append(cases, aggtest.Case{Name: tt[0], Docs: `[{"_id": 1, "a": 1}]`, Pipeline: tt[0], Err: tt[1]})
	}
	aggtest.RunCases(t, cases, nil)
}

// TestExplained: explain shows the stages that $setWindowFields becomes.
func TestExplained(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$setWindowFields": {"partitionBy": "$p", "sortBy": {"t": 1}, "output": {"a": {"$sum": "$x", "window": {"documents": ["unbounded", "current"]}}, "b": {"$rank": {}}}}}]`: `[{"$sort":{"sortKey":{"p":1,"t":1}}},{"$_internalSetWindowFields":{"partitionBy":"$p","sortBy":{"t":1},"output":{"a":{"$sum":"$x","window":{"documents":["unbounded","current"]}},"b":{"$rank":{}}}}}]`,
		`[{"$setWindowFields": {"sortBy": {"t": 1}, "output": {"a": {"$sum": "$x", "window": {"range": [-1, 2], "unit": "day"}}}}}]`:                                                `[{"$sort":{"sortKey":{"t":1}}},{"$_internalSetWindowFields":{"sortBy":{"t":1},"output":{"a":{"$sum":"$x","window":{"range":[-1,2],"unit":"day"}}}}}]`,
	} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if names := window.Operators(); len(names) != 35 {
		t.Error(names)
	}
}
