package match

import (
	"sync"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
)

// TestExplainRules breaks one rule of a schema at a time. The expected texts
// are the entry of schemaRulesNotSatisfied, or the details of property a.
func TestExplainRules(t *testing.T) {
	const whole, property = "", "a"
	cases := []struct{ where, schema, d, want string }{
		{property, `{maximum: 5}`, `{a: 6}`, `{ operatorName: "maximum", specifiedAs: { maximum: 5 }, reason: "comparison failed", consideredValue: 6 }`},
		{property, `{minimum: 5, exclusiveMinimum: true}`, `{a: 5}`, `{ operatorName: "minimum", specifiedAs: { minimum: 5, exclusiveMinimum: true }, reason: "comparison failed", consideredValue: 5 }`},
		{property, `{minLength: 3}`, `{a: "x"}`, `{ operatorName: "minLength", specifiedAs: { minLength: 3 }, reason: "specified string length was not satisfied", consideredValue: "x" }`},
		{property, `{pattern: "^x"}`, `{a: "y"}`, `{ operatorName: "pattern", specifiedAs: { pattern: "^x" }, reason: "regular expression did not match", consideredValue: "y" }`},
		{property, `{multipleOf: 2}`, `{a: 3}`, `{ operatorName: "multipleOf", specifiedAs: { multipleOf: 2 }, reason: "considered value is not a multiple of the specified value", consideredValue: 3 }`},
		{property, `{enum: [1, 2]}`, `{a: 3}`, `{ operatorName: "enum", specifiedAs: { enum: [ 1, 2 ] }, reason: "value was not found in enum", consideredValue: 3 }`},
		{property, `{maxItems: 1}`, `{a: [1, 2]}`, `{ operatorName: "maxItems", specifiedAs: { maxItems: 1 }, reason: "array did not match specified length", consideredValue: [ 1, 2 ] }`},
		{property, `{uniqueItems: true}`, `{a: [1, 2, 1]}`, `{ operatorName: "uniqueItems", specifiedAs: { uniqueItems: true }, reason: "found a duplicate item", consideredValue: [ 1, 2, 1 ], duplicatedValue: 1 }`},
		{property, `{items: {minimum: 2}}`, `{a: [3, 1]}`, `{ operatorName: "items", reason: "At least one item did not match the sub-schema", itemIndex: 1, details: [ { operatorName: "minimum", specifiedAs: { minimum: 2 }, reason: "comparison failed", consideredValue: 1 } ] }`},
		{property, `{items: [{}], additionalItems: false}`, `{a: [1, 2, 3]}`, `{ operatorName: "additionalItems", specifiedAs: { additionalItems: false }, reason: "found additional items", additionalItems: [ 2, 3 ] }`},
		{property, `{not: {bsonType: "int"}}`, `{a: 1}`, `{ operatorName: "not", reason: "child expression matched" }`},
		{property, `{anyOf: [{minimum: 5}, {bsonType: "string"}]}`, `{a: 1}`, `{ operatorName: "anyOf", schemasNotSatisfied: [ { index: 0, details: [ { operatorName: "minimum", specifiedAs: { minimum: 5 }, reason: "comparison failed", consideredValue: 1 } ] }, { index: 1, details: [ { operatorName: "bsonType", specifiedAs: { bsonType: "string" }, reason: "type did not match", consideredValue: 1, consideredType: "int" } ] } ] }`},
		{property, `{oneOf: [{minimum: 0}, {maximum: 9}]}`, `{a: 1}`, `{ operatorName: "oneOf", reason: "more than one subschema matched", matchingSchemaIndexes: [ 0, 1 ] }`},
		{whole, `{minProperties: 2}`, `{a: 1}`, `{ operatorName: "minProperties", specifiedAs: { minProperties: 2 }, reason: "specified number of properties was not satisfied", numberOfProperties: 1 }`},
		{whole, `{properties: {b: {}}, additionalProperties: false}`, `{a: 1, b: 2}`, `{ operatorName: "additionalProperties", specifiedAs: { additionalProperties: false }, additionalProperties: [ "a" ] }`},
		{whole, `{additionalProperties: {bsonType: "string"}}`, `{a: 1}`, `{ operatorName: "additionalProperties", reason: "at least one additional property did not match the subschema", failingProperty: "a", details: [ { operatorName: "bsonType", specifiedAs: { bsonType: "string" }, reason: "type did not match", consideredValue: 1, consideredType: "int" } ] }`},
		{whole, `{patternProperties: {"^a": {bsonType: "string"}}}`, `{a: 1}`, `{ operatorName: "patternProperties", details: [ { propertyName: "a", regexMatched: "^a", details: [ { operatorName: "bsonType", specifiedAs: { bsonType: "string" }, reason: "type did not match", consideredValue: 1, consideredType: "int" } ] } ] }`},
		{whole, `{dependencies: {a: ["b"]}}`, `{a: 1}`, `{ operatorName: "dependencies", failingDependencies: [ { conditionalProperty: "a", missingProperties: [ "b" ] } ] }`},
		{whole, `{allOf: [{required: ["b"]}]}`, `{a: 1}`, `{ operatorName: "allOf", schemasNotSatisfied: [ { index: 0, details: [ { operatorName: "required", specifiedAs: { required: [ "b" ] }, missingProperties: [ "b" ] } ] } ] }`},
	}
	for _, c := range cases {
		filter, want := `{$jsonSchema: `+c.schema+`}`, c.want
		if c.where == property {
			filter = `{$jsonSchema: {properties: {a: ` + c.schema + `}}}`
			want = `{ operatorName: "properties", propertiesNotSatisfied: [ { propertyName: "a", details: [ ` + want + ` ] } ] }`
		}
		want = `{ operatorName: "$jsonSchema", schemaRulesNotSatisfied: [ ` + want + ` ] }`
		m := compile(t, filter)
		if ok, _ := m.Match(expr.NewEnv(0), doc(c.d)); ok {
			t.Errorf("%s matches %s", filter, c.d)
		}
		if got := m.Explain(expr.NewEnv(0), doc(c.d)).String(); got != want {
			t.Errorf("%s on %s:\n got %s\nwant %s", filter, c.d, got, want)
		}
	}
}

func TestFeaturesRefused(t *testing.T) {
	for filter, want := range map[string]string{
		`{$expr: true}`:     "$expr is not allowed in this context",
		`{$jsonSchema: {}}`: "$jsonSchema is not allowed in this context",
	} {
		_, err := Compile(doc(filter), Options{NoExpr: true, NoSchema: true})
		if e := mongoerr.From(err); e == nil || e.Code != mongoerr.QueryFeatureNotAllowed || e.Message != want {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

// TestMatcherIsShared runs one matcher from many goroutines.
func TestMatcherIsShared(t *testing.T) {
	m := compile(t, `{a: {$regex: "(?=x)x", $options: "i"}, b: {$in: [1, 2]}, $expr: {$gt: ["$b", 0]}}`)
	d := doc(`{a: "X", b: 2}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			env := expr.NewEnv(0)
			for range 100 {
				if ok, err := m.Match(env, d); !ok || err != nil {
					t.Errorf("%v, %v", ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestErrorsOfExpressions checks that an error at run time is returned from every place
// in the tree.
func TestErrorsOfExpressions(t *testing.T) {
	for _, filter := range []string{
		`{$expr: {$divide: ["$a", "$b"]}}`,
		`{$or: [{a: 9}, {$expr: {$divide: ["$a", "$b"]}}]}`,
		`{$nor: [{$expr: {$divide: ["$a", "$b"]}}]}`,
		`{$and: [{a: 1}, {$expr: {$divide: ["$a", "$b"]}}]}`,
	} {
		if ok, err := compile(t, filter).Match(expr.NewEnv(0), doc(`{a: 1, b: 0}`)); ok || err == nil {
			t.Errorf("%s: %v, %v", filter, ok, err)
		}
	}
}
