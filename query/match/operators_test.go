package match

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

func TestLogical(t *testing.T) {
	runCases(t, []matchCase{
		{`{}`, []string{`{}`, `{a: 1}`}, nil},
		{`{$and: [{a: 1}, {b: 2}]}`, []string{`{a: 1, b: 2}`}, []string{`{a: 1}`}},
		{`{$or: [{a: 1}, {b: 2}]}`, []string{`{a: 1}`, `{b: 2}`}, []string{`{a: 2}`}},
		{`{$nor: [{a: 1}, {b: 2}]}`, []string{`{a: 2}`, `{}`}, []string{`{a: 1}`, `{b: 2}`}},
		{`{a: {$not: {$gt: 5}}}`, []string{`{a: 5}`, `{}`, `{a: "x"}`}, []string{`{a: 6}`, `{a: [1, 6]}`}},
		{`{a: {$not: {$gt: 5, $lt: 10}}}`, []string{`{a: 5}`, `{a: 12}`}, []string{`{a: 6}`}},
		{`{a: {$not: {"$regularExpression": {pattern: "^x", options: ""}}}}`, []string{`{a: "y"}`, `{}`}, []string{`{a: "xy"}`}},
		{`{a: {$gt: 1, $lt: 5}}`, []string{`{a: 3}`, `{a: [0, 9]}`}, []string{`{a: 5}`}},
		{`{$alwaysTrue: 1}`, []string{`{}`}, nil},
		{`{$alwaysFalse: 1}`, nil, []string{`{}`}},
		{`{a: 1, $comment: "why"}`, []string{`{a: 1}`}, []string{`{a: 2}`}},
		{`{$expr: {$gt: ["$a", "$b"]}}`, []string{`{a: 2, b: 1}`}, []string{`{a: 1, b: 2}`}},
		{`{$sampleRate: 1}`, []string{`{}`}, nil},
		{`{$sampleRate: 0.0}`, nil, []string{`{}`}},
		{`{"$id": 5}`, []string{`{"$id": 5}`}, []string{`{a: 5}`}},
		{`{a: {"$ref": "c", "$id": 5}}`, []string{`{a: {"$ref": "c", "$id": 5}}`}, []string{`{a: {"$ref": "c"}}`}},
	})
	refused(t, `{$and: 1}`, mongoerr.BadValue, "$and must be an array")
	refused(t, `{$or: []}`, mongoerr.BadValue, "$and/$or/$nor must be a nonempty array")
	refused(t, `{$nor: [1]}`, mongoerr.BadValue, "$or/$and/$nor entries need to be full objects")
	refused(t, `{a: {$not: 1}}`, mongoerr.BadValue, "$not needs a regex or a document")
	refused(t, `{a: {$not: {}}}`, mongoerr.BadValue, "$not cannot be empty")
	refused(t, `{$alwaysTrue: 2}`, mongoerr.FailedToParse, "$alwaysTrue must be an integer value of 1")
	refused(t, `{$where: "1"}`, mongoerr.BadValue, "$where is not allowed in this context")
	refused(t, `{a: {$where: "1"}}`, mongoerr.BadValue, "$where cannot be applied to a field")
	refused(t, `{a: {$elemMatch: {$expr: 1}}}`, mongoerr.BadValue, "$expr can only be applied to the top-level document")
	refused(t, `{$sampleRate: "x"}`, mongoerr.BadValue, "argument to $sampleRate must be a numeric type")
	refused(t, `{$sampleRate: 1.5}`, mongoerr.BadValue, "numeric argument to $sampleRate must be in [0, 1]")
	refused(t, `{$text: {$search: "x"}}`, mongoerr.BadValue, "$text is not allowed in this context")
}

// nullDocs are the documents of MongoDB's test of null semantics.
var nullDocs = map[string]string{
	"a_empty_subobject":       `{a: {}}`,
	"a_null":                  `{a: null}`,
	"a_number":                `{a: 4}`,
	"a_subobject_b_not_null":  `{a: {b: "hi"}}`,
	"a_subobject_b_null":      `{a: {b: null}}`,
	"a_subobject_b_undefined": `{a: {b: undef}}`,
	"a_undefined":             `{a: undef}`,
	"no_a":                    `{}`,
	"a_double_array":          `{a: [[]]}`,
	"a_empty_array":           `{a: []}`,
	"b_mix":                   `{a: [{b: null}, {b: undef}, {b: null}, {}]}`,
	"no_b_nulls":              `{a: [{b: 1}, {b: 3}, {b: "string"}]}`,
	"some_b_nulls":            `{a: [{b: null}, {b: 3}, {b: null}]}`,
	"some_b_undefined":        `{a: [{b: undef}, {b: 3}]}`,
	"some_b_missing":          `{a: [{b: 3}, {}]}`,
	"all_nulls":               `{a: [null, null]}`,
	"no_nulls":                `{a: [1, "string", 4]}`,
	"with_null":               `{a: [1, "string", null, 4]}`,
	"with_undefined":          `{a: [1, "string", undef, 4]}`,
}

func TestNullSemantics(t *testing.T) {
	cases := map[string][]string{
		`{a: {$eq: null}}`:                    {"a_null", "no_a", "all_nulls", "with_null"},
		`{a: {$gte: null}}`:                   {"a_null", "no_a", "all_nulls", "with_null"},
		`{a: {$in: [null, 4]}}`:               {"a_null", "no_a", "a_number", "all_nulls", "with_null", "no_nulls", "with_undefined"},
		`{a: {$exists: false}}`:               {"no_a"},
		`{"a.b": {$eq: null}}`:                {"a_empty_subobject", "a_null", "a_number", "a_subobject_b_null", "a_undefined", "no_a", "b_mix", "some_b_nulls", "some_b_missing"},
		`{"a.b": {$exists: false}}`:           {"no_a", "a_empty_subobject", "a_null", "a_number", "a_undefined", "a_double_array", "a_empty_array", "all_nulls", "no_nulls", "with_null", "with_undefined"},
		`{a: {$elemMatch: {$ne: null}}}`:      {"a_double_array", "b_mix", "no_b_nulls", "some_b_nulls", "some_b_undefined", "some_b_missing", "no_nulls", "with_undefined", "with_null"},
		`{a: {$elemMatch: {b: {$ne: null}}}}`: {"no_b_nulls", "some_b_nulls", "some_b_undefined", "some_b_missing", "b_mix"},
		`{"a.b": {$elemMatch: {$eq: null}}}`:  {},
		`{a: {$elemMatch: {$eq: null}}}`:      {"all_nulls", "with_null"},
		`{a: {$elemMatch: {b: {$eq: null}}}}`: {"b_mix", "some_b_nulls", "some_b_missing", "a_double_array"},
	}
	for filter, want := range cases {
		expected := map[string]bool{}
		for _, name := range want {
			expected[name] = true
		}
		negated := `{$nor: [` + filter + `]}`
		for name, d := range nullDocs {
			if got := matches(t, filter, d); got != expected[name] {
				t.Errorf("%s on %s %s: %v", filter, name, d, got)
			}
			if got := matches(t, negated, d); got == expected[name] {
				t.Errorf("%s on %s %s: %v", negated, name, d, got)
			}
		}
	}
}

func TestElement(t *testing.T) {
	runCases(t, []matchCase{
		{`{a: {$exists: true}}`, []string{`{a: null}`, `{a: []}`, `{a: undef}`}, []string{`{}`}},
		{`{a: {$exists: 0}}`, []string{`{}`}, []string{`{a: 1}`}},
		{`{"a.0": {$exists: true}}`, []string{`{a: [1]}`, `{a: {"0": 1}}`}, []string{`{a: []}`, `{a: 1}`}},
		{`{a: {$type: "string"}}`, []string{`{a: "x"}`, `{a: [1, "x"]}`}, []string{`{a: 1}`, `{}`}},
		{`{a: {$type: 2}}`, []string{`{a: "x"}`}, []string{`{a: 1}`}},
		{`{a: {$type: "array"}}`, []string{`{a: []}`, `{a: [[1]]}`}, []string{`{a: {}}`}},
		{`{a: {$type: "number"}}`, []string{`{a: 1}`, `{a: 1.5}`, `{a: {"$numberLong": "1"}}`, `{a: {"$numberDecimal": "1"}}`}, []string{`{a: "1"}`}},
		{`{a: {$type: ["int", "null", 9]}}`, []string{`{a: 1}`, `{a: null}`, `{a: {"$date": "2020-01-01T00:00:00Z"}}`}, []string{`{a: 1.5}`, `{}`}},
		{`{a: {$type: -1}}`, []string{`{a: minkey}`}, []string{`{a: maxkey}`}},
		{`{a: {$type: "undefined"}}`, []string{`{a: undef}`}, []string{`{}`, `{a: null}`}},
	})
	refused(t, `{a: {$type: "foo"}}`, mongoerr.BadValue, "Unknown type name alias: foo")
	refused(t, `{a: {$type: true}}`, mongoerr.TypeMismatch, "type must be represented as a number or a string")
	refused(t, `{a: {$type: 20}}`, mongoerr.BadValue, "Invalid numerical type code: 20")
	refused(t, `{a: {$type: 1.5}}`, mongoerr.BadValue, "Invalid numerical type code: 1.5")
	refused(t, `{a: {$type: 0}}`, mongoerr.BadValue, "Invalid numerical type code: 0. Instead use {$exists:false}.")
	refused(t, `{a: {$type: []}}`, mongoerr.FailedToParse, "a must match at least one type")
}

func TestArray(t *testing.T) {
	runCases(t, []matchCase{
		{`{a: {$size: 2}}`, []string{`{a: [1, 2]}`, `{a: [[], 1]}`}, []string{`{a: [[1, 2]]}`, `{a: 2}`, `{a: [1]}`}},
		{`{"a.b": {$size: 1}}`, []string{`{a: [{b: [1]}]}`}, []string{`{a: [{b: 1}]}`}},
		{`{a: {$all: [1, 2]}}`, []string{`{a: [1, 2, 3]}`, `{a: [2, 1]}`}, []string{`{a: [1]}`, `{a: 1}`}},
		{`{a: {$all: [1]}}`, []string{`{a: 1}`, `{a: [1, 2]}`}, []string{`{a: [2]}`}},
		{`{a: {$all: [[1, 2]]}}`, []string{`{a: [1, 2]}`, `{a: [[1, 2]]}`}, []string{`{a: [2, 1]}`}},
		{`{a: {$all: []}}`, nil, []string{`{a: []}`, `{}`}},
		{`{a: {$all: [{$elemMatch: {b: 1}}, {$elemMatch: {b: 2, c: 3}}]}}`, []string{`{a: [{b: 1}, {b: 2, c: 3}]}`}, []string{`{a: [{b: 1}, {b: 2}, {c: 3}]}`}},
		{`{a: {$elemMatch: {$gte: 80, $lt: 85}}}`, []string{`{a: [82, 1]}`}, []string{`{a: [75, 88]}`, `{a: 82}`, `{a: [[82]]}`}},
		{`{a: {$elemMatch: {b: 1, c: 2}}}`, []string{`{a: [{b: 1, c: 2}]}`}, []string{`{a: [{b: 1}, {c: 2}]}`, `{a: {b: 1, c: 2}}`}},
		{`{a: {$elemMatch: {"0": 5}}}`, []string{`{a: [[5]]}`}, []string{`{a: [5]}`}},
		{`{a: {$elemMatch: {}}}`, []string{`{a: [{}]}`, `{a: [[]]}`}, []string{`{a: [1]}`, `{a: []}`}},
		{`{a: {$elemMatch: {$not: {$gt: 1}}}}`, []string{`{a: [1]}`}, []string{`{a: [2]}`, `{a: []}`}},
		{`{a: {$elemMatch: {$or: [{b: 1}, {c: 1}]}}}`, []string{`{a: [{c: 1}]}`}, []string{`{a: [{d: 1}]}`}},
		{`{a: {$elemMatch: {$elemMatch: {$gt: 1}}}}`, []string{`{a: [[2]]}`}, []string{`{a: [2]}`}},
		{`{a: {$elemMatch: {$in: [1, 2]}}}`, []string{`{a: [2]}`}, []string{`{a: [3]}`}},
		{`{"a.0": 5}`, []string{`{a: [5]}`}, []string{`{a: [[5]]}`, `{a: [1, 5]}`}},
		{`{"a.1.b": 5}`, []string{`{a: [0, {b: 5}]}`, `{a: [{"1": {b: 5}}]}`}, []string{`{a: [{b: 5}]}`}},
	})
	refused(t, `{a: {$size: -1}}`, mongoerr.BadValue, "Failed to parse $size. Expected a non-negative number in: $size: -1")
	refused(t, `{a: {$size: "2"}}`, mongoerr.BadValue, `Failed to parse $size. Expected a number in: $size: "2"`)
	refused(t, `{a: {$size: 1.5}}`, mongoerr.BadValue, "Failed to parse $size. Expected an integer: $size: 1.5")
	refused(t, `{a: {$all: 1}}`, mongoerr.BadValue, "$all needs an array")
	refused(t, `{a: {$all: [{$gt: 1}]}}`, mongoerr.BadValue, "no $ expressions in $all")
	refused(t, `{a: {$all: [{$elemMatch: {}}, 1]}}`, mongoerr.BadValue, "$all/$elemMatch has to be consistent")
	refused(t, `{a: {$elemMatch: 1}}`, mongoerr.BadValue, "$elemMatch needs an Object")
}

func TestMod(t *testing.T) {
	runCases(t, []matchCase{
		{`{a: {$mod: [4, 0]}}`, []string{`{a: 0}`, `{a: 12}`, `{a: -4}`, `{a: 4.9}`, `{a: {"$numberDecimal": "8.5"}}`}, []string{`{a: 5}`, `{a: "4"}`, `{a: nan}`, `{}`}},
		{`{a: {$mod: [4.7, 1]}}`, []string{`{a: 5}`}, []string{`{a: 4}`}},
		{`{a: {$mod: [-4, 1]}}`, []string{`{a: 5}`}, []string{`{a: -5}`}},
		{`{a: {$mod: [-1, 0]}}`, []string{`{a: {"$numberLong": "-9223372036854775808"}}`}, nil},
	})
	refused(t, `{a: {$mod: 1}}`, mongoerr.BadValue, "malformed mod, needs to be an array")
	refused(t, `{a: {$mod: []}}`, mongoerr.BadValue, "malformed mod, not enough elements")
	refused(t, `{a: {$mod: [1]}}`, mongoerr.BadValue, "malformed mod, not enough elements")
	refused(t, `{a: {$mod: [1, 2, 3]}}`, mongoerr.BadValue, "malformed mod, too many elements")
	refused(t, `{a: {$mod: ["1", 2]}}`, mongoerr.BadValue, "malformed mod, divisor not a number")
	refused(t, `{a: {$mod: [1, "2"]}}`, mongoerr.BadValue, "malformed mod, remainder not a number")
	refused(t, `{a: {$mod: [0, 2]}}`, mongoerr.BadValue, "divisor cannot be 0")
	refused(t, `{a: {$mod: [nan, 2]}}`, mongoerr.BadValue, "malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type")
	refused(t, `{a: {$mod: [1e20, 2]}}`, mongoerr.BadValue, "malformed mod, divisor value is invalid :: caused by :: Out of bounds coercing to integral value")
}

func TestBits(t *testing.T) {
	binary := func(base64 string) string {
		return `{a: {"$binary": {base64: "` + base64 + `", subType: "00"}}}`
	}
	runCases(t, []matchCase{ // 54 is 00110110, 20 is 00010100
		{`{a: {$bitsAllSet: 50}}`, []string{`{a: 54}`, `{a: 54.0}`, binary("Ng==")}, []string{`{a: 20}`, `{a: 54.5}`, `{a: "54"}`, `{a: nan}`}},
		{`{a: {$bitsAllSet: [1, 5]}}`, []string{`{a: 54}`}, []string{`{a: 20}`}},
		{`{a: {$bitsAllClear: 35}}`, []string{`{a: 20}`, `{a: 20.0}`, `{a: 0}`}, []string{`{a: 54}`}},
		{`{a: {$bitsAnySet: 35}}`, []string{`{a: 54}`, binary("Zg==")}, []string{`{a: 20}`}},
		{`{a: {$bitsAnyClear: [1, 5]}}`, []string{`{a: 20}`}, []string{`{a: 54}`}},
		{`{a: {$bitsAllSet: [200]}}`, []string{`{a: -1}`}, []string{`{a: 1}`}},
		{`{a: {$bitsAllSet: {"$binary": {base64: "MA==", subType: "00"}}}}`, []string{`{a: 54}`}, []string{`{a: 20}`}},
		{`{a: {$bitsAllSet: 0}}`, []string{`{a: 20}`}, []string{`{a: "x"}`}},
		{`{a: {$bitsAnySet: 0}}`, nil, []string{`{a: 20}`}},
		// A decimal's fraction is rounded away; a double with one, or what is no integer of 64 bits, never matches.
		{`{a: {$bitsAllSet: 42}}`, []string{`{a: {"$numberDecimal": "42.13"}}`, `{a: {"$numberDecimal": "41.5"}}`}, []string{`{a: 42.13}`, `{a: {"$numberDecimal": "41.4"}}`}},
		{`{a: {$bitsAllClear: 1}}`, []string{`{a: {"$numberDecimal": "-0.5"}}`}, []string{`{a: {"$numberDecimal": "NaN"}}`, `{a: {"$numberDecimal": "Infinity"}}`, `{a: {"$numberDecimal": "1E+30"}}`, `{a: -0.5}`}},
	})
	refused(t, `{a: {$bitsAllSet: -1}}`, mongoerr.FailedToParse, "Expected a non-negative number in: $bitsAllSet: -1")
	refused(t, `{a: {$bitsAllSet: 1.5}}`, mongoerr.FailedToParse, "Expected an integer: $bitsAllSet: 1.5")
	refused(t, `{a: {$bitsAllSet: "x"}}`, mongoerr.BadValue, `a takes an Array, a number, or a BinData but received: $bitsAllSet: "x"`)
	refused(t, `{a: {$bitsAllSet: ["x"]}}`, mongoerr.BadValue, `Failed to parse bit position. Expected a number in: 0: "x"`)
	refused(t, `{a: {$bitsAllSet: [-1]}}`, mongoerr.BadValue, "Failed to parse bit position. Expected a non-negative number in: 0: -1")
	refused(t, `{a: {$bitsAllSet: [1.5]}}`, mongoerr.BadValue, "Failed to parse bit position. Expected an integer: 0: 1.5")
}
