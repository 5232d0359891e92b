package value_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/duskdb/duskdb/value"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct{ name, bytes, want string }{
		{"empty document", "\x05\x00\x00\x00\x00", ""},
		{"int", "\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00", ""},
		{"no bytes", "", "incorrect BSON length"},
		{"length too large", "\x06\x00\x00\x00\x00", "incorrect BSON length"},
		{"length too small", "\x04\x00\x00\x00\x00", "incorrect BSON length"},
		{"negative length", "\xff\xff\xff\xff\x00", "incorrect BSON length"},
		{"no terminator", "\x05\x00\x00\x00\x01", "not terminated"},
		{"unknown type", "\x08\x00\x00\x00\x20a\x00\x00", "unrecognized BSON type 32"},
		{"name not terminated", "\x07\x00\x00\x00\x10a\x00", "not terminated"},
		{"value cut short", "\x0a\x00\x00\x00\x10a\x00\x01\x00\x00", "cut short"},
		{"bool of 2", "\x09\x00\x00\x00\x08a\x00\x02\x00", "bool"},
		{"string length 0", "\x0d\x00\x00\x00\x02a\x00\x00\x00\x00\x00\x00\x00", "string"},
		{"string not terminated", "\x0e\x00\x00\x00\x02a\x00\x02\x00\x00\x00xy\x00", "not terminated"},
		{"string beyond the end", "\x0e\x00\x00\x00\x02a\x00\x40\x00\x00\x00x\x00\x00", "string length"},
		{"binary beyond the end", "\x0e\x00\x00\x00\x05a\x00\x40\x00\x00\x00\x00x\x00", "binary length"},
		{"name not UTF-8", "\x08\x00\x00\x00\x0a\xff\x00\x00", ""},
		{"inner length wrong", "\x0d\x00\x00\x00\x03a\x00\x06\x00\x00\x00\x00\x00", "incorrect BSON length"},
	} {
		err := value.Validate([]byte(tc.bytes))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestValidateDepth(t *testing.T) {
	nested := func(levels int) value.Doc {
		d := value.EmptyDoc
		for range levels {
			d = value.NewDoc("a", value.Document(d))
		}
		return d
	}
	if err := value.Validate(nested(value.MaxDepth)); err != nil {
		t.Errorf("%d levels: %v", value.MaxDepth, err)
	}
	if err := value.Validate(nested(value.MaxDepth + 1)); err == nil {
		t.Errorf("%d levels are accepted", value.MaxDepth+1)
	}
}

// FuzzValidate checks that what Validate lets through can be read by every
// method without a panic, and is what the driver's library calls valid.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{`{}`, `{"a": 1}`, `{"a": {"b": [1, "x", null, {"$oid": "507f1f77bcf86cd799439011"}]}}`,
		`{"r": {"$regularExpression": {"pattern": "a", "options": "i"}}, "b": {"$binary": {"base64": "AAAA", "subType": "02"}}}`,
		`{"d": {"$numberDecimal": "1.5"}, "t": {"$timestamp": {"t": 1, "i": 2}}, "c": {"$code": "x", "$scope": {}}}`} {
		f.Add([]byte(value.MustJSON(s)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			return
		}
		d := value.Doc(b)
		if err := bsoncore.Document(b).Validate(); err != nil {
			t.Fatalf("the driver refuses it: %v", err)
		}
		visit(d)
		_ = d.String()
		_ = value.AppendKey(nil, value.Document(d))
		if value.CompareDocs(d, d, nil) != 0 {
			t.Fatal("differs from itself")
		}
	})
}

// visit reads every value of a document in every way.
func visit(d value.Doc) {
	for _, v := range d.All() {
		v.Truthy()
		v.AsInt64()
		v.AsDouble()
		v.Regex()
		v.Binary()
		v.CodeScope()
		v.DBPointer()
		v.Decimal().Apd()
		if v.Kind() == value.KindDocument || v.Kind() == value.KindArray {
			visit(v.Doc())
		}
	}
}
