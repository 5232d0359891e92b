package match

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Schema is $jsonSchema: the whole document satisfies a JSON Schema (draft
// 4, with bsonType).
type Schema struct {
	schema *schema
	spec   value.Doc
}

// Children returns nil: rules of a schema are not nodes.
func (n *Schema) Children() []Node { return nil }

func (n *Schema) rank() int { return rankSchema }

func (n *Schema) shape() uint64 { return uint64(shapeOffset.text("$jsonSchema")) }

func (n *Schema) explain(x *explainer, inverted bool) {
	x.b.String("operatorName", "$jsonSchema")
	if inverted {
		x.b.Document("specifiedAs", value.NewDoc("$jsonSchema", value.Document(n.spec))).
			String("reason", "schema matched")
		return
	}
	n.schema.explainTitle(x.b)
	n.schema.explainRules(x.env, x.b, "schemaRulesNotSatisfied", value.Document(x.d))
}

func (n *Schema) debug(w *treeWriter, depth int) { w.other(n, depth) }

func (n *Schema) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	return n.schema.holds(env, value.Document(d))
}

func (n *Schema) matchValue(env *expr.Env, v value.Value, _ *int) (bool, error) {
	return n.schema.holds(env, v)
}

func (n *Schema) appendTo(b *value.Builder) { b.Document("$jsonSchema", n.spec) }

// schema is one (sub-)schema: a list of rules that all must hold.
type schema struct {
	title, description string
	rules              []rule
}

// rule is one keyword of a schema. A rule about one type is satisfied by
// values of every other type.
type rule interface {
	holds(env *expr.Env, v value.Value) (bool, error)
	// explain writes the fields after operatorName that describe why v does not
	// satisfy the rule.
	explain(env *expr.Env, b *value.Builder, v value.Value)
	// keyword is the rule's name in the schema.
	keyword() string
}

func (s *schema) holds(env *expr.Env, v value.Value) (bool, error) {
	if err := env.Tick(); err != nil {
		return false, err
	}
	for _, r := range s.rules {
		if ok, err := r.holds(env, v); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func parseSchemaOperator(p *parser, e element, _ bool) (Node, error) {
	if p.o.NoSchema {
		return nil, mongoerr.New(mongoerr.QueryFeatureNotAllowed, "$jsonSchema is not allowed in this context")
	}
	if e.v.Kind() != value.KindDocument {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "$jsonSchema must be an object")
	}
	s, err := parseSchema(e.v.Doc())
	if err != nil {
		return nil, err
	}
	return &Schema{s, e.v.Doc()}, nil
}

// schemaParser reads one keyword and may add a rule to s. whole is the schema
// around it, for keywords that depend on others.
type schemaParser func(s *schema, k keyword, whole value.Doc) error

// keyword is the name of a keyword, and its argument.
type keyword element

// String prints the keyword as it stands in the schema.
func (k keyword) String() string { return element(k).String() }

// mustBe is the error of an argument of the wrong type.
func (k keyword) mustBe(what string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "$jsonSchema keyword '%s' must be %s", k.name, what)
}

// fails is an error of a keyword.
func (k keyword) fails(code mongoerr.Code, what string) error {
	return mongoerr.Newf(code, "$jsonSchema keyword '%s' %s", k.name, what)
}

func (k keyword) object() (value.Doc, error) {
	if k.v.Kind() != value.KindDocument {
		return nil, k.mustBe("an object")
	}
	return k.v.Doc(), nil
}

func (k keyword) array() (value.Doc, error) {
	if k.v.Kind() != value.KindArray {
		return nil, k.mustBe("an array")
	}
	return k.v.Doc(), nil
}

func (k keyword) bool() (bool, error) {
	if k.v.Kind() != value.KindBool {
		return false, k.mustBe("a boolean")
	}
	return k.v.Bool(), nil
}

// schemaKeywords is in the order in which the rules are checked and
// explained. It is filled in init because keywords contain schemas.
var schemaKeywords []struct {
	name  string
	parse schemaParser
}

// init fills the table of schema keywords.
func init() {
	add := func(name string, parse schemaParser) {
		schemaKeywords = append(schemaKeywords, struct {
			name  string
			parse schemaParser
		}{name, parse})
	}
	add("title", parseSchemaTitle)
	add("description", parseSchemaTitle)
	add("bsonType", parseSchemaType)
	add("type", parseSchemaType)
	add("maximum", parseLimit)
	add("exclusiveMaximum", parseExclusive("maximum"))
	add("minimum", parseLimit)
	add("exclusiveMinimum", parseExclusive("minimum"))
	add("minLength", parseCount)
	add("maxLength", parseCount)
	add("pattern", parsePattern)
	add("multipleOf", parseMultipleOf)
	add("uniqueItems", parseUniqueItems)
	add("minItems", parseCount)
	add("maxItems", parseCount)
	add("items", parseItems)
	add("additionalItems", parseAdditionalItems)
	add("properties", parseProperties)
	add("patternProperties", parsePatternProperties)
	add("additionalProperties", parseAdditionalProperties)
	add("required", parseRequired)
	add("minProperties", parseCount)
	add("maxProperties", parseCount)
	add("dependencies", parseDependencies)
	add("allOf", parseSchemaList)
	add("anyOf", parseSchemaList)
	add("oneOf", parseSchemaList)
	add("not", parseSchemaNot)
	add("enum", parseEnum)
	add("encrypt", parseEncrypt)
	add("encryptMetadata", parseEncryptMetadata)
}

// unsupportedKeywords are those of draft 4 that MongoDB refuses.
var unsupportedKeywords = map[string]bool{
	"$ref": true, "$schema": true, "default": true, "definitions": true, "format": true, "id": true,
}

// parseSchema compiles one schema document, keyword by keyword in the order of
// schemaKeywords.
func parseSchema(d value.Doc) (*schema, error) {
	if err := checkKeywords(d); err != nil {
		return nil, err
	}
	s := &schema{}
	for _, known := range schemaKeywords {
		v := d.Lookup(known.name)
		if v.IsMissing() {
			continue
		}
		if err := known.parse(s, keyword{known.name, v}, d); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkKeywords refuses unknown and repeated keywords.
func checkKeywords(d value.Doc) error {
	seen := map[string]bool{}
	for name := range d.All() {
		switch {
		case unsupportedKeywords[name]:
			return mongoerr.Newf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' is not currently supported", name)
		case !isKeyword(name):
			return mongoerr.Newf(mongoerr.FailedToParse, "Unknown $jsonSchema keyword: %s", name)
		case seen[name]:
			return mongoerr.Newf(mongoerr.FailedToParse, "Duplicate $jsonSchema keyword: %s", name)
		}
		seen[strings.Clone(name)] = true
	}
	if seen["encrypt"] && (seen["type"] || seen["bsonType"]) {
		return mongoerr.Newf(mongoerr.FailedToParse,
			"$jsonSchema keyword 'encrypt' cannot be used in conjunction with 'type' or 'bsonType'")
	}
	return nil
}

func isKeyword(name string) bool {
	for _, k := range schemaKeywords {
		if k.name == name {
			return true
		}
	}
	return false
}

func parseSchemaTitle(s *schema, k keyword, _ value.Doc) error {
	if k.v.Kind() != value.KindString {
		return k.mustBe("of type string")
	}
	if k.name == "title" {
		s.title = k.v.Str()
	} else {
		s.description = k.v.Str()
	}
	return nil
}

// named is the common part of all rules.
type named struct{ k keyword }

func (n named) keyword() string { return n.k.name }

// specified writes specifiedAs, and reason unless it is empty.
func (n named) specified(b *value.Builder, reason string) {
	b.StartDocument("specifiedAs").Append(n.k.name, n.k.v).End()
	if reason != "" {
		b.String("reason", reason)
	}
}
