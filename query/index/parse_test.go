package index

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestParseListed(t *testing.T) {
	const simple = `{"locale":"fr","caseLevel":false,"caseFirst":"off","strength":3,"numericOrdering":false,"alternate":"non-ignorable","maxVariable":"punct","normalization":false,"backwards":false,"version":"57.1"}`
	tests := []struct{ spec, want string }{
		{`{"key":{"a":1},"name":"a_1"}`, `{"v":2,"key":{"a":1},"name":"a_1"}`},
		{`{"name":"n","unique":true,"key":{"a":1,"b":-1},"v":1}`, `{"v":1,"key":{"a":1,"b":-1},"name":"n","unique":true}`},
		{`{"key":{"a":1},"name":"a_1","unique":1,"sparse":0,"background":true,"ns":"x.y","dropDups":true}`,
			`{"v":2,"key":{"a":1},"name":"a_1","unique":true,"sparse":false,"background":true}`},
		{`{"key":{"a":1},"name":"a_1","hidden":false}`, `{"v":2,"key":{"a":1},"name":"a_1"}`},
		{`{"key":{"a":1},"name":"a_1","hidden":true}`, `{"v":2,"key":{"a":1},"name":"a_1","hidden":true}`},
		{`{"key":{"a":1},"name":"a_1","expireAfterSeconds":10000.7}`, `{"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":10000}`},
		{`{"key":{"a":1},"name":"a_1","expireAfterSeconds":2147483647}`, `{"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":2147483647}`},
		{`{"key":{"_id":1},"name":"mine"}`, `{"v":2,"key":{"_id":1},"name":"_id_"}`},
		{`{"key":{"a":1},"name":"a_1","collation":{"locale":"simple"}}`, `{"v":2,"key":{"a":1},"name":"a_1"}`},
		{`{"key":{"a":1},"collation":{"locale":"fr"},"name":"a_1","sparse":true}`, `{"v":2,"key":{"a":1},"name":"a_1","sparse":true,"collation":` + simple + `}`},
		{`{"key":{"loc":"2dsphere"},"name":"g"}`, `{"v":2,"key":{"loc":"2dsphere"},"name":"g","2dsphereIndexVersion":3}`},
		{`{"key":{"loc":"2d"},"name":"g","bits":20}`, `{"v":2,"key":{"loc":"2d"},"name":"g","bits":20}`},
		{`{"key":{"b":"text","a":"text"},"name":"t"}`,
			`{"v":2,"key":{"_fts":"text","_ftsx":1},"name":"t","weights":{"a":1,"b":1},"default_language":"english","language_override":"language","textIndexVersion":3}`},
		{`{"key":{"x":1,"b":"text","y":-1},"name":"t","weights":{"b":5,"c":2},"default_language":"spanish"}`,
			`{"v":2,"key":{"x":1,"_fts":"text","_ftsx":1,"y":-1},"name":"t","weights":{"b":5,"c":2},"default_language":"spanish","language_override":"language","textIndexVersion":3}`},
		{`{"key":{"$**":"text"},"name":"t"}`,
			`{"v":2,"key":{"_fts":"text","_ftsx":1},"name":"t","weights":{"$**":1},"default_language":"english","language_override":"language","textIndexVersion":3}`},
		{`{"key":{"$**":1},"name":"w","wildcardProjection":{"a":1}}`, `{"v":2,"key":{"$**":1},"name":"w","wildcardProjection":{"a":1}}`},
		{`{"key":{"a":1,"$**":1},"name":"w","wildcardProjection":{"a":0}}`, `{"v":2,"key":{"a":1,"$**":1},"name":"w","wildcardProjection":{"a":0}}`},
		{`{"key":{"a":1},"name":"p","partialFilterExpression":{"$or":[{"b":{"$gt":1}},{"c":{"$exists":true}}]}}`,
			`{"v":2,"key":{"a":1},"name":"p","partialFilterExpression":{"$or":[{"b":{"$gt":1}},{"c":{"$exists":true}}]}}`},
		{`{"key":{"a":1},"name":"p","partialFilterExpression":{"owner":{"$ref":"people","$id":1}}}`,
			`{"v":2,"key":{"a":1},"name":"p","partialFilterExpression":{"owner":{"$ref":"people","$id":1}}}`},
		{`{"key":{"_id":1},"name":"_id_","clustered":true,"unique":true}`, `{"v":2,"key":{"_id":1},"name":"_id_","clustered":true,"unique":true}`},
	}
	for _, tt := range tests {
		s, err := Parse(value.MustJSON(tt.spec), ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
			continue
		}
		if got, want := s.Doc().JSON(), value.MustJSON(tt.want).JSON(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.spec, got, want)
		}
		again, err := Load(s.Doc())
		if err != nil || !bytes.Equal(s.Doc(), again.Doc()) {
			t.Errorf("Load(%s): %v", s.Doc().JSON(), err)
		}
	}
}

func TestInheritedCollation(t *testing.T) {
	spec := value.MustJSON(`{"key":{"a":1},"name":"a_1","collation":{"locale":"fr"}}`)
	s, err := Parse(spec, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inherited := s.Doc().Lookup("collation").Doc()
	plain, err := Parse(value.MustJSON(`{"key":{"a":1},"name":"a_1"}`), ParseOptions{Collation: inherited})
	if err != nil || !bytes.Equal(plain.Doc(), s.Doc()) {
		t.Errorf("not inherited: %v", err)
	}
	own, err := Parse(value.MustJSON(`{"key":{"a":1},"name":"a_1","collation":{"locale":"simple"}}`), ParseOptions{Collation: inherited})
	if err != nil || own.Collation != nil {
		t.Errorf("simple does not override: %v", err)
	}
	_, err = Parse(value.MustJSON(`{"key":{"_id":1},"name":"_id_","collation":{"locale":"de"}}`), ParseOptions{Collation: inherited})
	if e := mongoerr.From(err); e == nil || e.Message != "_id index must have the collection default collation" {
		t.Errorf("_id with another collation: %v", err)
	}
	if s := IDSpec(inherited); s.Collation == nil || !s.IsID() || !s.Unique() {
		t.Error("IDSpec")
	}
	_, err = Parse(value.MustJSON(`{"key":{"a":"text"},"name":"t"}`), ParseOptions{Collation: inherited})
	if e := mongoerr.From(err); e == nil || !strings.Contains(e.Message, "Index type 'text' does not support collation: { locale: \"fr\"") {
		t.Errorf("text with inherited collation: %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		spec string
		code mongoerr.Code
		msg  string
	}{
		{`{"name":"x"}`, 9, "Error in specification { name: \"x\" } :: caused by :: The 'key' field is a required property of an index specification"},
		{`{"key":{"a":1}}`, 9, "The 'name' field is a required property of an index specification"},
		{`{"key":{"a":1},"name":"a","x":1}`, 197, `The field 'x' is not valid for an index specification. Specification: { key: { a: 1 }, name: "a", x: 1 }`},
		{`{"key":5,"name":"a"}`, 14, "The field 'key' must be an object, but got int"},
		{`{"key":{"a":1},"name":5}`, 14, "The field 'name' must be a string, but got int"},
		{`{"key":{},"name":"a"}`, 67, "Index keys cannot be empty."},
		{`{"key":{"a":0},"name":"a"}`, 67, "Values in the index key pattern cannot be 0."},
		{`{"key":{"a":{"$numberDouble":"NaN"}},"name":"a"}`, 67, "Values in the index key pattern cannot be NaN."},
		{`{"key":{"a":true},"name":"a"}`, 67, "Values in v:2 index key pattern cannot be of type bool. Only numbers > 0, numbers < 0, and strings are allowed."},
		{`{"key":{"a":null},"name":"a"}`, 67, "cannot be of type null"},
		{`{"key":{"a":"foo"},"name":"a"}`, 67, "Unknown index plugin 'foo'"},
		{`{"key":{"a":"geoHaystack"},"name":"a"}`, 67, "GeoHaystack indexes cannot be created in version 5.0 and above"},
		{`{"key":{"a":"2d","b":"hashed"},"name":"a"}`, 67, "Can't use more than one index plugin for a single index."},
		{`{"key":{"":1},"name":"a"}`, 67, "Index keys cannot be an empty field."},
		{`{"key":{"a..b":1},"name":"a"}`, 67, "Index keys cannot contain an empty field."},
		{`{"key":{"a.":1},"name":"a"}`, 67, "Index keys cannot contain an empty field."},
		{`{"key":{"$a":1},"name":"a"}`, 67, "Index key contains an illegal field name: field name starts with '$'."},
		{`{"key":{"a.$b":1},"name":"a"}`, 67, "field name starts with '$'"},
		{`{"key":{"_fts":1},"name":"a"}`, 67, "Index key contains an illegal field name: '_fts'"},
		{`{"key":{"a":1},"name":""}`, 67, "index name cannot be empty"},
		{`{"key":{"a":1},"name":"*"}`, 2, "The index name '*' is not valid."},
		{`{"key":{"a":1},"name":"$bucket.min"}`, 2, "The index name '$bucket.min' is not valid."},
		{`{"key":{"a":1},"name":"_id_"}`, 2, "The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found { a: 1 }"},
		{`{"key":{"a":1},"name":"a","v":0}`, 67, "cannot create an index with v=0"},
		{`{"key":{"a":1},"name":"a","v":3}`, 67, "cannot create an index with v=3"},
		{`{"key":{"a":1},"name":"a","v":"2"}`, 14, "The field 'v' must be a number, but got string"},
		{`{"key":{"a":1},"name":"a","v":2.5}`, 2, "Index version must be representable as a 32-bit integer, but got 2.5"},
		{`{"key":{"a":1},"name":"a","v":1,"collation":{"locale":"fr"}}`, 67, "cannot create an index with the 'collation' option and v=1"},
		{`{"key":{"a":1},"name":"a","unique":"yes"}`, 14, `The field 'unique has value unique: "yes", which is not convertible to bool`},
		{`{"key":{"a":1},"name":"a","hidden":1}`, 14, "The field 'hidden' must be a bool, but got int"},
		{`{"key":{"a":1},"name":"a","unique":true,"prepareUnique":true}`, 67, "cannot create an index with the 'unique' option and the 'prepareUnique' option"},
		{`{"key":{"a":1},"name":"a","collation":{}}`, 2, "The field 'collation' cannot be an empty object."},
		{`{"key":{"a":1},"name":"a","collation":"fr"}`, 14, "The field 'collation' must be an object, but got string"},
		{`{"key":{"a":1},"name":"a","weights":{"a":1}}`, 67, "the field 'weights' can only be specified with text indexes"},
		{`{"key":{"a":1},"name":"a","bits":"x"}`, 14, "The field 'bits' must be a number, but got string"},
		{`{"key":{"a":1},"name":"a","default_language":1}`, 14, "The field 'default_language' must be a string, but got int"},
		{`{"key":{"_id":1},"name":"_id_","unique":true}`, 197, "The field 'unique' is not valid for an _id index specification."},
		{`{"key":{"_id":1},"name":"_id_","expireAfterSeconds":1}`, 197, "The field 'expireAfterSeconds' is not valid for an _id index specification"},
		{`{"key":{"_id":1},"name":"_id_","hidden":true}`, 197, "The field 'hidden' is not valid for an _id index specification"},
		{`{"key":{"_id":-1},"name":"x"}`, 2, "The field 'key' for an _id index must be {_id: 1}, but got { _id: -1 }"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":-1}`, 67, "TTL index 'expireAfterSeconds' option cannot be less than 0"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":{"$numberLong":"2147483648"}}`, 67, "must be within the range of a 32-bit integer"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":{"$numberLong":"999999999999999"}}`, 67, "must be within the range of a 32-bit integer"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":9.3e18}`, 67, "must be within the range of a 32-bit integer"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":{"$numberDouble":"NaN"}}`, 67, "option must not be NaN"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":"1"}`, 67, "option must be numeric, but received a type of 'string'"},
		{`{"key":{"a":1},"name":"a","expireAfterSeconds":null}`, 67, "option must be numeric, but received a type of 'null'"},
		{`{"key":{"a":1,"b":1},"name":"a","expireAfterSeconds":1}`, 67, "TTL indexes are single-field indexes, compound indexes do not support TTL"},
		{`{"key":{"$**":1},"name":"a","expireAfterSeconds":1}`, 67, "cannot be a TTL index"},
		{`{"key":{"$**":1},"name":"a","unique":true}`, 67, "Index type 'wildcard' does not support the 'unique' option"},
		{`{"key":{"$**":1},"name":"a","sparse":true}`, 67, "Index type 'wildcard' does not support the 'sparse' option"},
		{`{"key":{"$**":1},"name":"a","v":1}`, 67, "Index type 'wildcard' is not allowed with index version v: 1"},
		{`{"key":{"$**":1,"a":1},"name":"a"}`, 67, "Compound wildcard indexes on all fields must also specify 'wildcardProjection' option"},
		{`{"key":{"a.$**":1,"b.$**":1},"name":"a"}`, 7246201, "Index Key can contain only one wildcard index field"},
		{`{"key":{"a.$**":1,"a.b":1},"name":"a"}`, 7246204, "is overlapping with the wildcard index field"},
		{`{"key":{"a":1},"name":"a","wildcardProjection":{"a":1}}`, 2, "The field 'wildcardProjection' is only allowed in 'wildcard' indexes"},
		{`{"key":{"a.$**":1},"name":"a","wildcardProjection":{"a":1}}`, 9, "is only allowed when 'key' is"},
		{`{"key":{"$**":1},"name":"a","wildcardProjection":{}}`, 9, "The 'wildcardProjection' field can't be an empty object"},
		{`{"key":{"$**":1},"name":"a","wildcardProjection":{"a":1,"b":0}}`, 31254, "Failed to parse projection: wildcardProjection :: caused by ::"},
		{`{"key":{"$**":1,"a":1},"name":"a","wildcardProjection":{"b":0}}`, 7246209, "wildcardProjection paths must exclude all regular index fields, however 'a'is not excluded."},
		{`{"key":{"$**":1,"b":1},"name":"a","wildcardProjection":{"a":0}}`, 7246210, "however 'b'is not excluded."},
		{`{"key":{"$**":1},"name":"a","wildcardProjection":{"a":1,"a.b":0}}`, 31249, "Path collision at a.b remaining portion b"},
		{`{"key":{"$**":1,"a":1},"name":"a","wildcardProjection":{"a":1}}`, 7246208, "Index Key and Wildcard Projection cannot contain overlapping fields"},
		{`{"key":{"$**":"wildcard"},"name":"a"}`, 67, "must be a non-zero number, not a string"},
		{`{"key":{"a":"hashed"},"name":"a","unique":true}`, 16764, "Currently hashed indexes cannot guarantee uniqueness. Use a regular index."},
		{`{"key":{"a":"hashed","b":"hashed"},"name":"a"}`, 31303, "A maximum of one index field is allowed to be hashed but found 2"},
		{`{"key":{"a":1},"name":"a","sparse":true,"partialFilterExpression":{"a":1}}`, 67, `cannot mix "partialFilterExpression" and "sparse" options`},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":5}`, 14, "The field 'partialFilterExpression' must be an object, but got int"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"x":{"$foo":1}}}`, 2, "unknown operator: $foo"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"x":{"$ne":1}}}`, 67, "Expression not supported in partial index: $not"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"x":{"$exists":false}}}`, 67, "Expression not supported in partial index"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"x":{"$regex":"a"}}}`, 67, "Expression not supported in partial index"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"$nor":[{"x":1}]}}`, 67, "Expression not supported in partial index"},
		{`{"key":{"a":1},"name":"a","partialFilterExpression":{"$and":[{"x":{"$size":1}}]}}`, 67, "Expression not supported in partial index"},
		{`{"key":{"b":1,"a":"2d"},"name":"a"}`, 16801, "2d has to be first in index"},
		{`{"key":{"a":"2d","b":"2d"},"name":"a"}`, 16800, "can't have 2 geo fields"},
		{`{"key":{"a":"2d"},"name":"a","bits":33}`, 72, "bits for hash must be > 0 and <= 32, but 33 bits were specified"},
		{`{"key":{"a":"2d"},"name":"a","min":5,"max":5}`, 72, "region for hash must be valid and have positive area"},
		{`{"key":{"a":"2dsphere"},"name":"a","2dsphereIndexVersion":9}`, 67, "unsupported geo index version { 2dsphereIndexVersion : 9 }, only support versions: [1,2,3]"},
		{`{"key":{"a":"2dsphere"},"name":"a","finestIndexedLevel":31}`, 16748, "finestIndexedLevel must be <= 30"},
		{`{"key":{"a":"text","b":1,"c":"text"},"name":"a"}`, 67, "'text' fields in index must all be adjacent"},
		{`{"key":{"a":"text","b":2},"name":"a"}`, 67, "expected value 1 or -1 for non-text key in compound index"},
		{`{"key":{"a":"text"},"name":"a","weights":{"a":0}}`, 67, "text index weight must be in the exclusive interval (0,1000000000) but found: 0"},
		{`{"key":{"a":"text"},"name":"a","weights":{"a":"x"}}`, 67, "weight for text index needs numeric type"},
		{`{"key":{"a":"text"},"name":"a","default_language":"klingon"}`, 67, "default_language is not valid"},
		{`{"key":{"a":"text"},"name":"a","language_override":"$x"}`, 67, "language_override is not valid"},
		{`{"key":{"a":"text"},"name":"a","textIndexVersion":9}`, 67, "bad textIndexVersion: 9"},
		{`{"key":{"a":1},"name":"a","storageEngine":{}}`, 67, "Empty \"storageEngine\" options are invalid"},
		{`{"key":{"a":1},"name":"a","storageEngine":{"rocks":{}}}`, 72, "rocks is not a registered storage engine for this server"},
		{`{"key":{"_id":1},"name":"i","clustered":false}`, 6492800, "Value 'false' for field 'clustered' is invalid"},
		{`{"key":{"_id":1},"name":"i","clustered":true}`, 67, "The 'unique' field is required when 'clustered' is specified"},
		{`{"key":{"_id":1},"name":"i","clustered":true,"unique":true,"sparse":true}`, 197, "is not valid for a clustered index specification"},
	}
	for _, tt := range tests {
		_, err := Parse(value.MustJSON(tt.spec), ParseOptions{})
		if e := mongoerr.From(err); e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.msg) {
			t.Errorf("%s:\n got %v\nwant %d %s", tt.spec, err, tt.code, tt.msg)
		}
	}
	// The same field twice cannot be written in JSON.
	b := value.NewBuilder()
	b.StartDocument("key").Int32("a", 1).Int32("a", -1).End().String("name", "x")
	if _, err := Parse(b.Doc(), ParseOptions{}); !mongoerr.Is(err, mongoerr.BadValue) ||
		!strings.Contains(err.Error(), "The field 'a' appears multiple times in the index key pattern { a: 1, a: -1 }") {
		t.Errorf("repeated field: %v", err)
	}
}

func TestConflict(t *testing.T) {
	existing := []*Spec{
		IDSpec(nil),
		mustParse(t, `{"key":{"a":1},"name":"a_1"}`),
		mustParse(t, `{"key":{"b":1},"name":"b_1","expireAfterSeconds":50}`),
		mustParse(t, `{"key":{"t":"text"},"name":"t"}`),
	}
	tests := []struct {
		spec string
		code mongoerr.Code
		msg  string
	}{
		{`{"key":{"_id":1},"name":"whatever"}`, 68, "Identical index already exists: _id_"},
		{`{"key":{"a":1},"name":"a_1"}`, 68, "Identical index already exists: a_1"},
		{`{"key":{"a":1},"name":"a_1","background":true}`, 68, ""},
		{`{"key":{"a":1},"name":"a_1","hidden":true}`, 85, "with the same name but different options"},
		{`{"key":{"a":1},"name":"a_1","sparse":false}`, 68, ""},
		{`{"key":{"b":1},"name":"b_1","expireAfterSeconds":60}`, 85, "An equivalent index already exists with the same name but different options. Requested index: { v: 2, key: { b: 1 }, name: \"b_1\", expireAfterSeconds: 60 }, existing index: { v: 2, key: { b: 1 }, name: \"b_1\", expireAfterSeconds: 50 }"},
		{`{"key":{"b":1},"name":"other","expireAfterSeconds":60}`, 85, "An equivalent index already exists with a different name and options."},
		{`{"key":{"a":1},"name":"other"}`, 85, "Index already exists with a different name: a_1"},
		{`{"key":{"c":1},"name":"a_1"}`, 86, "An existing index has the same name as the requested index."},
		{`{"key":{"a":1},"name":"a_1","unique":true}`, 86, "An existing index has the same name"},
		{`{"key":{"a":1},"name":"a_1","collation":{"locale":"fr"}}`, 86, "An existing index has the same name"},
		{`{"key":{"a":1},"name":"a_1","partialFilterExpression":{"x":1}}`, 86, "An existing index has the same name"},
		{`{"key":{"u":"text"},"name":"u"}`, 85, "An equivalent index already exists with a different name and options"},
		{`{"key":{"x":1,"u":"text"},"name":"u"}`, 67, `only one text index per collection allowed, found existing text index "t"`},
		{`{"key":{"a":1},"name":"other","unique":true}`, 0, ""},
		{`{"key":{"a":1},"name":"other","collation":{"locale":"fr"}}`, 0, ""},
		{`{"key":{"a":-1},"name":"other"}`, 0, ""},
	}
	for _, tt := range tests {
		err := Conflict(existing, mustParse(t, tt.spec), "db.c")
		if got := mongoerr.CodeOf(err); got != tt.code || tt.msg != "" && !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("%s: %v, want %d %s", tt.spec, err, tt.code, tt.msg)
		}
	}
	var many []*Spec
	for i := range MaxIndexes {
		many = append(many, mustParse(t, fmt.Sprintf(`{"key":{"f%d":1}}`, i)))
	}
	err := Conflict(many, mustParse(t, `{"key":{"one.more":1}}`), "db.c")
	if !mongoerr.Is(err, 67) || !strings.Contains(err.Error(), "add index fails, too many indexes for db.c key:{ one.more: 1 }") {
		t.Errorf("65th index: %v", err)
	}
}

func TestModifications(t *testing.T) {
	s := mustParse(t, `{"key":{"a":1},"name":"a_1"}`)
	s, _ = s.WithExpire(100)
	s, _ = s.WithHidden(true)
	s, _ = s.WithPrepareUnique(true)
	if got := s.Doc().JSON(); got != `{"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":100,"hidden":true,"prepareUnique":true}` {
		t.Error(got)
	}
	if !s.Unique() || s.IsUnique || !s.Hidden || s.ExpireAfter == nil || *s.ExpireAfter != 100 {
		t.Error("flags do not follow")
	}
	s, _ = s.WithHidden(false)
	s, _ = s.WithUnique()
	if got := s.Doc().JSON(); got != `{"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":100,"unique":true}` {
		t.Error(got)
	}
	if !s.IsUnique {
		t.Error("not unique")
	}
}

func TestDefaultName(t *testing.T) {
	for key, want := range map[string]string{
		`{"a":1}`: "a_1", `{"a":1,"b":-1}`: "a_1_b_-1", `{"a.b":1.0,"c":"hashed"}`: "a.b_1_c_hashed", `{"$**":1}`: "$**_1", `{"t":"text"}`: "t_text",
	} {
		if got := DefaultName(value.MustJSON(key)); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, spec := range []string{`{"key":{"a":1},"name":"a_1"}`, `{"key":{"$**":1},"name":"w","wildcardProjection":{"a.b":1}}`, `{"key":{"a":"text"},"name":"t","weights":{"b":2}}`,
		`{"key":{"a":"2d"},"name":"g","bits":3}`, `{"key":{"a":1},"name":"p","partialFilterExpression":{"a":{"$gt":1}},"expireAfterSeconds":5}`} {
		f.Add([]byte(value.MustJSON(spec)), []byte(value.MustJSON(`{"a":[1,{"b":"x"}]}`)))
	}
	f.Fuzz(func(t *testing.T, spec, doc []byte) {
		if value.Validate(spec) != nil || value.Validate(doc) != nil {
			return
		}
		s, err := Parse(spec, ParseOptions{})
		if err != nil {
			return
		}
		if _, err := Load(s.Doc()); err != nil {
			t.Fatalf("Load of %s: %v", s.Doc(), err)
		}
		keysOf(s, doc)
	})
}
