package match

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
)

func TestSchema(t *testing.T) {
	a := func(schema string) string { return `{$jsonSchema: {properties: {a: ` + schema + `}}}` }
	runCases(t, []matchCase{
		{`{$jsonSchema: {}}`, []string{`{}`, `{a: 1}`}, nil},
		{`{$jsonSchema: {required: ["a", "b"]}}`, []string{`{a: 1, b: null}`}, []string{`{a: 1}`}},
		{`{$jsonSchema: {bsonType: "object"}}`, []string{`{}`}, nil},
		{`{$jsonSchema: {bsonType: "string"}}`, nil, []string{`{}`}},
		{a(`{bsonType: "int"}`), []string{`{a: 1}`, `{}`}, []string{`{a: 1.5}`, `{a: [1]}`}},
		{a(`{bsonType: ["int", "null"]}`), []string{`{a: null}`}, []string{`{a: "x"}`}},
		{a(`{bsonType: "number"}`), []string{`{a: 1.5}`}, []string{`{a: "x"}`}},
		{a(`{type: "boolean"}`), []string{`{a: true}`}, []string{`{a: 1}`}},
		{a(`{minimum: 5}`), []string{`{a: 5}`, `{a: "x"}`, `{}`}, []string{`{a: 4}`}},
		{a(`{minimum: 5, exclusiveMinimum: true}`), []string{`{a: 6}`}, []string{`{a: 5}`}},
		{a(`{maximum: 5, exclusiveMaximum: false}`), []string{`{a: 5}`}, []string{`{a: 6}`}},
		{a(`{minLength: 2, maxLength: 3}`), []string{`{a: "éé"}`, `{a: 1}`}, []string{`{a: "é"}`, `{a: "abcd"}`}},
		{a(`{pattern: "^x"}`), []string{`{a: "xy"}`, `{a: 1}`}, []string{`{a: "y"}`}},
		{a(`{multipleOf: 0.1}`), []string{`{a: 0.3}`, `{a: 5}`, `{a: "x"}`}, []string{`{a: 0.35}`}},
		{a(`{multipleOf: 3}`), []string{`{a: 6}`}, []string{`{a: 7}`, `{a: 1.5}`}},
		{a(`{minItems: 1, maxItems: 2}`), []string{`{a: [1]}`, `{a: 5}`}, []string{`{a: []}`, `{a: [1, 2, 3]}`}},
		{a(`{uniqueItems: true}`), []string{`{a: [1, 2]}`}, []string{`{a: [1, 1.0]}`, `{a: [{x: 1, y: 2}, {y: 2, x: 1}]}`}},
		{a(`{items: {bsonType: "int"}}`), []string{`{a: [1, 2]}`, `{a: 5}`}, []string{`{a: [1, "x"]}`}},
		{a(`{items: [{bsonType: "int"}, {bsonType: "string"}]}`), []string{`{a: [1, "x", true]}`, `{a: [1]}`}, []string{`{a: ["x"]}`}},
		{a(`{items: [{bsonType: "int"}], additionalItems: false}`), []string{`{a: [1]}`}, []string{`{a: [1, 2]}`}},
		{a(`{items: [{bsonType: "int"}], additionalItems: {bsonType: "string"}}`), []string{`{a: [1, "x"]}`}, []string{`{a: [1, 2]}`}},
		{a(`{minProperties: 1, maxProperties: 2}`), []string{`{a: {x: 1}}`}, []string{`{a: {}}`, `{a: {x: 1, y: 2, z: 3}}`}},
		{a(`{enum: [1, "x", {p: 1, q: 2}, null]}`), []string{`{a: 1.0}`, `{a: {q: 2, p: 1}}`, `{a: null}`, `{}`}, []string{`{a: 2}`}},
		{`{$jsonSchema: {properties: {a: {}}, additionalProperties: false}}`, []string{`{a: 1}`}, []string{`{a: 1, b: 2}`}},
		{`{$jsonSchema: {properties: {a: {}}, patternProperties: {"^x": {bsonType: "int"}}, additionalProperties: {bsonType: "bool"}}}`,
			[]string{`{a: "s", xy: 1, z: true}`}, []string{`{xy: "s"}`, `{z: 1}`}},
		{`{$jsonSchema: {dependencies: {a: ["b"]}}}`, []string{`{}`, `{a: 1, b: 1}`}, []string{`{a: 1}`}},
		{`{$jsonSchema: {dependencies: {a: {required: ["b"]}}}}`, []string{`{b: 1}`, `{a: 1, b: 1}`}, []string{`{a: 1}`}},
		{a(`{allOf: [{minimum: 1}, {maximum: 5}]}`), []string{`{a: 3}`}, []string{`{a: 6}`}},
		{a(`{anyOf: [{bsonType: "int"}, {bsonType: "string"}]}`), []string{`{a: 3}`}, []string{`{a: true}`}},
		{a(`{oneOf: [{minimum: 1}, {minimum: 5}]}`), []string{`{a: 3}`}, []string{`{a: 6}`, `{a: 0}`}},
		{a(`{not: {bsonType: "int"}}`), []string{`{a: "x"}`, `{}`}, []string{`{a: 1}`}},
		{a(`{encrypt: {}}`), []string{`{a: {"$binary": {base64: "AQ==", subType: "06"}}}`}, []string{`{a: 1}`}},
		{a(`{title: "t", description: "d"}`), []string{`{a: 1}`}, nil},
		{`{a: 1, $jsonSchema: {required: ["b"]}}`, []string{`{a: 1, b: 1}`}, []string{`{a: 1}`}},
	})
}

func TestSchemaErrors(t *testing.T) {
	cases := []struct {
		schema  string
		code    mongoerr.Code
		message string
	}{
		{`{foo: 1}`, mongoerr.FailedToParse, "Unknown $jsonSchema keyword: foo"},
		{`{default: 1}`, mongoerr.FailedToParse, "$jsonSchema keyword 'default' is not currently supported"},
		{`{type: "int", bsonType: "int"}`, mongoerr.FailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'"},
		{`{type: "integer"}`, mongoerr.FailedToParse, "$jsonSchema type 'integer' is not currently supported."},
		{`{type: "int"}`, mongoerr.BadValue, "Unknown type name alias: int"},
		{`{bsonType: 1}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'bsonType' must be either a string or an array of strings"},
		{`{required: []}`, mongoerr.FailedToParse, "$jsonSchema keyword 'required' cannot be an empty array"},
		{`{required: 1}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'required' must be an array"},
		{`{required: [1]}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'required' must be an array of strings, but found an element of type: int"},
		{`{required: ["a", "a"]}`, mongoerr.FailedToParse, "$jsonSchema keyword 'required' array cannot contain duplicate values"},
		{`{properties: {a: 1}}`, mongoerr.TypeMismatch, "Nested schema for $jsonSchema property 'a' must be an object"},
		{`{maximum: "x"}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'maximum' must be a number"},
		{`{exclusiveMaximum: true}`, mongoerr.FailedToParse, "$jsonSchema keyword 'maximum' must be a present if exclusiveMaximum is present"},
		{`{minLength: -1}`, mongoerr.FailedToParse, "Expected a non-negative number in: minLength: -1"},
		{`{multipleOf: 0}`, mongoerr.FailedToParse, "$jsonSchema keyword 'multipleOf' must have a positive value"},
		{`{allOf: []}`, mongoerr.BadValue, "$jsonSchema keyword 'allOf' must be a non-empty array"},
		{`{enum: []}`, mongoerr.FailedToParse, "$jsonSchema keyword 'enum' cannot be an empty array"},
		{`{enum: [1, 1]}`, mongoerr.FailedToParse, "$jsonSchema keyword 'enum' array cannot contain duplicate values."},
		{`{uniqueItems: 1}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'uniqueItems' must be a boolean"},
		{`{title: 1}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'title' must be of type string"},
		{`{not: 1}`, mongoerr.TypeMismatch, "$jsonSchema keyword 'not' must be an object"},
	}
	for _, c := range cases {
		refused(t, `{$jsonSchema: `+c.schema+`}`, c.code, c.message)
	}
	refused(t, `{$jsonSchema: 1}`, mongoerr.TypeMismatch, "$jsonSchema must be an object")
}

// TestExplain expects the details that MongoDB's manual shows.
func TestExplain(t *testing.T) {
	cases := []struct{ filter, d, want string }{
		{`{$jsonSchema: {bsonType: "object", title: "Student Object Validation", required: ["name"], properties: {gpa: {bsonType: ["double"], description: "'gpa' must be a double if the field exists"}}}}`,
			`{name: "Alice", gpa: {"$numberInt": "3"}}`,
			`{ operatorName: "$jsonSchema", title: "Student Object Validation", schemaRulesNotSatisfied: [ { operatorName: "properties", propertiesNotSatisfied: [ { propertyName: "gpa", description: "'gpa' must be a double if the field exists", details: [ { operatorName: "bsonType", specifiedAs: { bsonType: [ "double" ] }, reason: "type did not match", consideredValue: 3, consideredType: "int" } ] } ] } ] }`},
		{`{$jsonSchema: {required: ["name", "x"]}}`, `{x: 1}`,
			`{ operatorName: "$jsonSchema", schemaRulesNotSatisfied: [ { operatorName: "required", specifiedAs: { required: [ "name", "x" ] }, missingProperties: [ "name" ] } ] }`},
		{`{a: {$gt: 5}}`, `{a: 3}`,
			`{ operatorName: "$gt", specifiedAs: { a: { $gt: 5 } }, reason: "comparison failed", consideredValue: 3 }`},
		{`{a: {$gt: 5}}`, `{}`,
			`{ operatorName: "$gt", specifiedAs: { a: { $gt: 5 } }, reason: "field was missing" }`},
		{`{a: 5}`, `{a: [1, 2]}`,
			`{ operatorName: "$eq", specifiedAs: { a: 5 }, reason: "comparison failed", consideredValues: [ 1, 2, [ 1, 2 ] ] }`},
		{`{$or: [{a: 1}, {b: {$exists: true}}]}`, `{a: 2}`,
			`{ operatorName: "$or", clausesNotSatisfied: [ { index: 0, details: { operatorName: "$eq", specifiedAs: { a: 1 }, reason: "comparison failed", consideredValue: 2 } }, { index: 1, details: { operatorName: "$exists", specifiedAs: { b: { $exists: true } }, reason: "path does not exist" } } ] }`},
		{`{$nor: [{a: 1}]}`, `{a: 1}`,
			`{ operatorName: "$nor", clausesSatisfied: [ { index: 0, details: { operatorName: "$eq", specifiedAs: { a: 1 }, reason: "comparison succeeded", consideredValue: 1 } } ] }`},
		{`{a: {$ne: 1}}`, `{a: 1}`,
			`{ operatorName: "$ne", specifiedAs: { a: { $ne: 1 } }, reason: "comparison succeeded", consideredValue: 1 }`},
		{`{a: {$not: {$gt: 1}}}`, `{a: 2}`,
			`{ operatorName: "$not", details: { operatorName: "$gt", specifiedAs: { a: { $gt: 1 } }, reason: "comparison succeeded", consideredValue: 2 } }`},
		{`{a: {$type: "string"}}`, `{a: 2}`,
			`{ operatorName: "$type", specifiedAs: { a: { $type: "string" } }, reason: "type did not match", consideredValue: 2, consideredType: "int" }`},
		{`{a: {$all: [1, 2]}}`, `{a: [1, 3]}`,
			`{ operatorName: "$all", specifiedAs: { a: { $all: [ 1, 2 ] } }, reason: "array did not contain all specified values", consideredValue: [ 1, 3 ] }`},
		{`{a: {$in: ["b", "a"]}}`, `{a: 2}`,
			`{ operatorName: "$in", specifiedAs: { a: { $in: [ "b", "a" ] } }, reason: "no matching value found in array", consideredValue: 2 }`},
		{`{a: {$exists: false}}`, `{a: 2}`,
			`{ operatorName: "$exists", specifiedAs: { a: { $exists: false } }, reason: "path does exist", consideredValue: 2 }`},
		{`{$expr: {$eq: ["$a", 1]}}`, `{a: 2}`,
			`{ operatorName: "$expr", specifiedAs: { $expr: { $eq: [ "$a", 1 ] } }, reason: "expression did not match", expressionResult: false }`},
		{`{$expr: {$divide: [1, "$a"]}}`, `{a: 0}`,
			`{ operatorName: "$expr", specifiedAs: { $expr: { $divide: [ 1, "$a" ] } }, reason: "failed to evaluate aggregation expression", details: { code: 2, codeName: "BadValue", errmsg: "can't $divide by zero" } }`},
	}
	for _, c := range cases {
		m := compile(t, c.filter)
		if got := m.Explain(expr.NewEnv(0), doc(c.d)).String(); got != c.want {
			t.Errorf("%s on %s:\n got %s\nwant %s", c.filter, c.d, got, c.want)
		}
	}
}
