package match

import (
	"testing"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// TestSchemaConditions compares the conditions with the schemas that they come from: what
// satisfies the schema satisfies them, and only the keywords that MongoDB reads as
// operators become conditions.
func TestSchemaConditions(t *testing.T) {
	docs := []string{
		`{}`, `{a: 1}`, `{a: 2}`, `{a: 2.5, b: "x"}`, `{a: "x"}`, `{a: "yx"}`, `{a: null}`, `{a: [2, 3]}`, `{a: ["x"]}`,
		`{a: [{b: 1}]}`, `{a: {b: 3}}`, `{b: "x", c: 5}`, `{"a.b": 3}`, `{a: nan}`, `{c: {$numberLong: "7"}}`,
	}
	cases := []struct{ schema, want string }{
		{`{required: ["a"]}`, `[{a: {$exists: true}}]`},
		{`{required: ["a", "c"]}`, `[{a: {$exists: true}}, {c: {$exists: true}}]`},
		{`{required: ["a.b"]}`, `[]`},
		{`{properties: {a: {minimum: 2}}}`, `[]`},
		{`{properties: {a: {type: "string", minimum: 2}}}`, `[]`},
		{`{properties: {a: {type: ["number", "string"], minimum: 2}}}`, `[]`},
		{`{properties: {a: {type: "number", minimum: 2}}}`, `[{$or: [{a: {$not: {$exists: true}}}, {a: {$gte: 2}}]}]`},
		{`{required: ["a"], properties: {a: {type: "number", minimum: 2, exclusiveMinimum: true}}}`,
			`[{a: {$gt: 2}}, {a: {$exists: true}}]`},
		{`{required: ["a"], properties: {a: {bsonType: "int", maximum: 1, minimum: 0}}}`,
			`[{a: {$lte: 1}}, {a: {$gte: 0}}, {a: {$exists: true}}]`},
		{`{required: ["a"], properties: {a: {bsonType: "string", pattern: "^x"}}}`, `[{a: {$regex: "^x"}}, {a: {$exists: true}}]`},
		{`{required: ["a"], properties: {a: {pattern: "^x"}}}`, `[{a: {$exists: true}}]`},
		{`{properties: {a: {enum: [1]}}}`, `[]`},
		{`{properties: {a: {type: "object", required: ["b"], properties: {b: {type: "number", minimum: 2}}}}}`, `[]`},
		{`{allOf: [{required: ["a"]}, {required: ["b"]}]}`, `[{a: {$exists: true}}, {b: {$exists: true}}]`},
		{`{anyOf: [{required: ["a"]}, {required: ["b"]}]}`, `[{$or: [{a: {$exists: true}}, {b: {$exists: true}}]}]`},
		{`{anyOf: [{required: ["a"]}, {minProperties: 2}]}`, `[]`},
		{`{oneOf: [{required: ["a"]}, {required: ["b"]}]}`, `[]`},
		{`{not: {required: ["a"]}}`, `[]`},
	}
	for _, c := range cases {
		m, err := Compile(value.NewDoc("$jsonSchema", value.Document(doc(c.schema))), Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		conditions := rootSchema(t, m).Conditions()
		var b value.Builder
		b.Reset(nil)
		b.StartArray("l")
		for _, n := range conditions {
			b.StartDocument("")
			n.appendTo(&b)
			b.End()
		}
		b.End()
		if got, want := b.Doc(), doc(`{l: `+c.want+`}`); got.String() != want.String() {
			t.Errorf("%s has the conditions %s, want %s", c.schema, got, want)
		}
		env := expr.NewEnv(0)
		for _, text := range docs {
			d, none := doc(text), -1
			if ok, _ := m.Match(env, d); !ok {
				continue
			}
			for _, n := range conditions {
				if ok, err := n.match(env, d, &none); !ok || err != nil {
					t.Errorf("%s satisfies %s, but not its condition %v: %v", text, c.schema, n, err)
				}
			}
		}
	}
}

func rootSchema(t *testing.T, m *Matcher) *Schema {
	t.Helper()
	switch n := m.Root().(type) {
	case *Schema:
		return n
	case *And:
		return n.Nodes[0].(*Schema)
	}
	t.Fatalf("%T is no schema", m.Root())
	return nil
}
