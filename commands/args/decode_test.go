package args

import (
	"reflect"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// every has an argument of each type that arguments can have.
type every struct {
	Any     value.Value `arg:"any,any"`
	Must    value.Value `arg:"must,required"`
	Doc     value.Doc   `arg:"doc"`
	OwnDoc  value.Doc   `arg:"ownDoc,own"`
	Array   Array       `arg:"array"`
	OwnList Array       `arg:"ownArray,own"`
	Text    string      `arg:"text"`
	TextP   *string     `arg:"textP"`
	Bool    bool        `arg:"bool"`
	Strict  StrictBool  `arg:"strict"`
	OwnBool *StrictBool `arg:"ownBool,own"`
	StrictP *StrictBool `arg:"strictP"`
	Flag    Flag        `arg:"flag"`
	Loose   LooseBool   `arg:"loose"`
	LooseP  *bool       `arg:"looseP"`
	Truth   AnyBool     `arg:"truth"`
	Int     *IntOnly    `arg:"int"`
	Long    LongOnly    `arg:"long"`
	Number  int64       `arg:"number,nonneg"`
	NumberP *int64      `arg:"numberP"`
	Double  float64     `arg:"double"`
	UUID    UUID        `arg:"uuid"`
	None    string      // no argument
}

var everySpec = New[every]("every")

func ptr[T any](v T) *T { return &v }

const someUUID = `{"$binary": {"base64": "AAAAAAAAQACAAAAAAAAAAQ==", "subType": "04"}}`

// What each type takes; the values are converted as mongod's IDL parser does it.
func TestDecodeTypes(t *testing.T) {
	doc, list := value.MustJSON(`{"a": 1}`), Array(value.MustJSON(`{"d": [1]}`).Lookup("d").Doc())
	for body, want := range map[string]any{
		`{"x": 1, "must": 1, "any": null}`:                         value.Null(),
		`{"x": 1, "must": "m"}`:                                    value.String("m"),
		`{"x": 1, "must": 1, "doc": {"a": 1}}`:                     doc,
		`{"x": 1, "must": 1, "ownDoc": {"a": 1}}`:                  doc,
		`{"x": 1, "must": 1, "array": [1]}`:                        list,
		`{"x": 1, "must": 1, "ownArray": [1]}`:                     list,
		`{"x": 1, "must": 1, "text": "t"}`:                         "t",
		`{"x": 1, "must": 1, "textP": ""}`:                         ptr(""),
		`{"x": 1, "must": 1, "bool": true}`:                        true,
		`{"x": 1, "must": 1, "strict": true}`:                      StrictBool(true),
		`{"x": 1, "must": 1, "strictP": false}`:                    ptr(StrictBool(false)),
		`{"x": 1, "must": 1, "ownBool": true}`:                     ptr(StrictBool(true)),
		`{"x": 1, "must": 1, "flag": true}`:                        flagOn,
		`{"x": 1, "must": 1, "flag": false}`:                       flagOff,
		`{"x": 1, "must": 1, "loose": 0.5}`:                        LooseBool(true),
		`{"x": 1, "must": 1, "looseP": {"$numberLong": "0"}}`:      ptr(false),
		`{"x": 1, "must": 1, "truth": "a"}`:                        AnyBool(true), // any text counts as true
		`{"x": 1, "must": 1, "int": 7}`:                            ptr(IntOnly(7)),
		`{"x": 1, "must": 1, "long": {"$numberLong": "8"}}`:        LongOnly(8),
		`{"x": 1, "must": 1, "number": 2.9}`:                       int64(2), // truncated
		`{"x": 1, "must": 1, "number": {"$numberDouble": "NaN"}}`:  int64(0),
		`{"x": 1, "must": 1, "numberP": -3}`:                       ptr(int64(-3)),
		`{"x": 1, "must": 1, "double": {"$numberDecimal": "1.5"}}`: 1.5,
		`{"x": 1, "must": 1, "uuid": ` + someUUID + `}`:            UUID(value.MustJSON(`{"u": ` + someUUID + `}`).Lookup("u")),
	} {
		var got every
		d := value.MustJSON(body)
		if err := everySpec.DecodeAs("every", d[:], &got, false); err == nil {
			t.Errorf("%s: the first field is not declared", body)
		}
		got = every{}
		if err := everySpec.Decode(withoutFirst(d), &got); err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		name := lastField(d)
		field := reflect.ValueOf(got).Field(everySpec.fields[everySpec.index[name]].position).Interface()
		if v, ok := want.(value.Value); ok && value.Equal(v, field.(value.Value)) {
			continue
		}
		if v, ok := want.(UUID); ok && value.Equal(value.Value(v), value.Value(field.(UUID))) {
			continue
		}
		if !reflect.DeepEqual(field, want) {
			t.Errorf("%s: %s is %v, want %v", body, name, field, want)
		}
	}
}

func withoutFirst(d value.Doc) value.Doc {
	it := d.Iter()
	it.Next()
	return value.NewBuilder().Raw(it.Rest()).Doc()
}

func lastField(d value.Doc) (name string) {
	for key := range d.All() {
		name = key
	}
	return name
}

// The errors of mongod's IDL parser, and those of the fields that it reads by code
// of its own (parseOwnedBSON, parseBoolean and the like).
func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct{ fields, err string }{
		{``, `IDLFailedToParse: BSON field 'every.must' is missing but a required field`},
		{`"must": 1, "doc": 1`, `TypeMismatch: BSON field 'every.doc' is the wrong type 'int', expected type 'object'`},
		{`"must": 1, "doc": []`, `TypeMismatch: BSON field 'every.doc' is the wrong type 'array', expected type 'object'`},
		{`"must": 1, "ownDoc": 1`, `TypeMismatch: Expected field ownDocto be of type object`},
		{`"must": 1, "ownDoc": null`, `TypeMismatch: Expected field ownDocto be of type object`},
		{`"must": 1, "array": {}`, `TypeMismatch: BSON field 'every.array' is the wrong type 'object', expected type 'array'`},
		{`"must": 1, "ownArray": {}`, `TypeMismatch: A pipeline must be an array of objects`},
		{`"must": 1, "text": 1`, `TypeMismatch: BSON field 'every.text' is the wrong type 'int', expected type 'string'`},
		{`"must": 1, "textP": true`, `TypeMismatch: BSON field 'every.textP' is the wrong type 'bool', expected type 'string'`},
		{`"must": 1, "bool": 1`, `TypeMismatch: BSON field 'every.bool' is the wrong type 'int', expected type 'bool'`},
		{`"must": 1, "strict": 1`, `TypeMismatch: BSON field 'every.strict' is the wrong type 'int', expected type 'bool'`},
		{`"must": 1, "strictP": "a"`, `TypeMismatch: BSON field 'every.strictP' is the wrong type 'string', expected type 'bool'`},
		{`"must": 1, "ownBool": 1`, `TypeMismatch: Field 'ownBool' should be a boolean value, but found: int`},
		{`"must": 1, "flag": 1`, `TypeMismatch: BSON field 'every.flag' is the wrong type 'int', expected type 'bool'`},
		{`"must": 1, "loose": "a"`, `TypeMismatch: BSON field 'every.loose' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'`},
		{`"must": 1, "looseP": {}`, `TypeMismatch: BSON field 'every.looseP' is the wrong type 'object', expected types '[bool, long, int, decimal, double]'`},
		{`"must": 1, "int": 1.0`, `TypeMismatch: BSON field 'every.int' is the wrong type 'double', expected type 'int'`},
		{`"must": 1, "long": 1`, `TypeMismatch: BSON field 'every.long' is the wrong type 'int', expected type 'long'`},
		{`"must": 1, "number": "1"`, `TypeMismatch: BSON field 'every.number' is the wrong type 'string', expected types '[long, int, decimal, double]'`},
		{`"must": 1, "number": -1`, `BadValue: BSON field 'number' value must be >= 0, actual value '-1'`},
		{`"must": 1, "numberP": {"$date": 0}`, `TypeMismatch: BSON field 'every.numberP' is the wrong type 'date', expected types '[long, int, decimal, double]'`},
		{`"must": 1, "double": true`, `TypeMismatch: BSON field 'every.double' is the wrong type 'bool', expected types '[long, int, decimal, double]'`},
		{`"must": 1, "uuid": "a"`, `TypeMismatch: BSON field 'every.uuid' is the wrong type 'string', expected type 'binData'`},
		{`"must": 1, "uuid": {"$binary": {"base64": "AAAA", "subType": "00"}}`, `TypeMismatch: BSON field 'every.uuid' is the wrong binData type 'general', expected type 'UUID'`},
		{`"must": 1, "uuid": {"$binary": {"base64": "AAAA", "subType": "05"}}`, `TypeMismatch: BSON field 'every.uuid' is the wrong binData type 'MD5', expected type 'UUID'`},
		{`"must": 1, "uuid": {"$binary": {"base64": "AAAA", "subType": "7f"}}`, `TypeMismatch: BSON field 'every.uuid' is the wrong binData type 'invalid', expected type 'UUID'`},
		{`"must": 1, "odd": 1`, `IDLUnknownField: BSON field 'every.odd' is an unknown field.`},
		{`"must": 1, "text": "a", "text": "b"`, `IDLDuplicateField: BSON field 'every.text' is a duplicate field`},
		{`"must": 1, "text": null, "text": "b"`, `IDLDuplicateField: BSON field 'every.text' is a duplicate field`},
	} {
		var got every
		err := everySpec.Decode(value.MustJSON(`{`+tt.fields+`}`), &got)
		if said := textOf(err); said != tt.err {
			t.Errorf("{%s}: %q, want %q", tt.fields, said, tt.err)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// null and undefined count as absent where mongod's parser passes over them, so that
// what was there before stays.
func TestDecodeNull(t *testing.T) {
	for _, null := range []string{`null`, `{"$undefined": true}`} {
		got := every{Text: "t", Number: 5, Flag: flagOn, Doc: value.EmptyDoc}
		body := `{"must": NULL, "doc": NULL, "array": NULL, "text": NULL, "textP": NULL, "bool": NULL, "flag": NULL, "loose": NULL,
			"looseP": NULL, "int": NULL, "long": NULL, "number": NULL, "numberP": NULL, "double": NULL, "uuid": NULL}`
		if err := everySpec.Decode(value.MustJSON(strings.ReplaceAll(body, "NULL", null)), &got); err != nil {
			t.Errorf("%s: %v", null, err)
		}
		if got.Text != "t" || got.Number != 5 || got.Flag != flagOn || got.Doc == nil || got.TextP != nil || got.LooseP != nil || got.Int != nil || got.NumberP != nil || got.UUID.Given() {
			t.Errorf("%s: %+v", null, got)
		}
		if k := got.Must.Kind(); k != value.KindNull && k != value.KindUndefined {
			t.Errorf("%s: must is %s", null, k)
		}
	}
}

// Generic arguments stand in commands alone, not in documents within them, and of a
// lenient command any field is welcome.
func TestUndeclaredFields(t *testing.T) {
	type few struct {
		A string `arg:"a"`
	}
	strict, lenient := New[few]("few"), New[few]("hello").Lenient()
	body := value.MustJSON(`{"a": "x", "comment": 1, "$db": "test"}`)
	var got few
	if err := strict.Decode(body, &got); err != nil || got.A != "x" {
		t.Errorf("a command: %+v, %v", got, err)
	}
	if said := textOf(strict.DecodeNested("few.part", body, &got)); said != `IDLUnknownField: BSON field 'few.part.comment' is an unknown field.` {
		t.Errorf("a document within a command: %s", said)
	}
	got = few{}
	if err := lenient.DecodeNested("hello", value.MustJSON(`{"odd": 1, "a": "x", "comment": 1}`), &got); err != nil || got.A != "x" {
		t.Errorf("a lenient command: %+v, %v", got, err)
	}
}

// Arguments come out of a pool as if they were new.
func TestPool(t *testing.T) {
	spec := New[every]("every")
	var pool Pool[every]
	for range 10 {
		a := pool.Get()
		if !reflect.DeepEqual(*a, every{}) {
			t.Fatalf("the pool has %+v", *a)
		}
		if err := spec.Decode(value.MustJSON(`{"must": 1, "text": "t", "flag": true}`), a); err != nil || !a.Flag.Or(false) {
			t.Fatalf("%+v, %v", *a, err)
		}
		pool.Put(a)
	}
}

// A struct of another type is a mistake of the program.
func TestDecodeOtherStruct(t *testing.T) {
	defer func() {
		if said := recover(); said != "commands: the arguments of every are not those of struct {}" {
			t.Errorf("panicked with %v", said)
		}
	}()
	_ = everySpec.Decode(value.MustJSON(`{"must": 1}`), &struct{}{})
}

func TestFlag(t *testing.T) {
	for _, tt := range []struct {
		flag            Flag
		orTrue, orFalse bool
	}{{flagAbsent, true, false}, {flagOff, false, false}, {flagOn, true, true}} {
		if tt.flag.Or(true) != tt.orTrue || tt.flag.Or(false) != tt.orFalse {
			t.Errorf("flag %d: %v, %v", tt.flag, tt.flag.Or(true), tt.flag.Or(false))
		}
	}
}

// mongod's parser passes over nulls in arrays of documents, but counts them.
func TestArrayDocs(t *testing.T) {
	list := func(s string) Array { return Array(value.MustJSON(`{"l": ` + s + `}`).Lookup("l").Doc()) }
	docs, err := ArrayDocs("killAllSessions", "users", list(`[{"a": 1}, null, {"$undefined": true}, {"a": 2}]`))
	if err != nil || len(docs) != 2 || docs[0].String() != `{ a: 1 }` || docs[1].String() != `{ a: 2 }` {
		t.Errorf("%v, %v", docs, err)
	}
	_, err = ArrayDocs("killAllSessions", "users", list(`[{"a": 1}, null, "x"]`))
	if said := textOf(err); said != `TypeMismatch: BSON field 'killAllSessions.users.2' is the wrong type 'string', expected type 'object'` {
		t.Error(said)
	}
	if said := textOf(TypeError("$db", value.Int32(1), "string")); said != `TypeMismatch: BSON field '$db' is the wrong type 'int', expected type 'string'` {
		t.Error(said)
	}
}

// The documents of an argument are the same, whether they came in an array or in a
// sequence, and a copy of the list begins where it was made.
func TestDocList(t *testing.T) {
	a, b, c := value.MustJSON(`{"n": 1}`), value.MustJSON(`{"n": 2, "text": "x"}`), value.MustJSON(`{}`)
	var seq []byte
	for _, d := range []value.Doc{a, b, c} {
		seq = append(seq, d...)
	}
	for name, l := range map[string]DocList{
		"sequence": {Sequence: seq, N: 3},
		"array":    {Array: value.NewArray(value.Document(a), value.Document(b), value.Document(c)).Doc().Iter(), N: 3},
	} {
		if d, ok := l.Next(); !ok || d.String() != a.String() {
			t.Errorf("%s: the first is %s", name, d)
		}
		for range 2 { // All reads a copy
			var rest []string
			for i, d := range l.All() {
				if i != len(rest) {
					t.Errorf("%s: number %d is said to be %d", name, len(rest), i)
				}
				rest = append(rest, d.String())
			}
			if got := strings.Join(rest, " "); got != b.String()+" "+c.String() {
				t.Errorf("%s: the rest is %s", name, got)
			}
		}
		for _, d := range l.All() {
			if d.String() != b.String() {
				t.Errorf("%s: second %s", name, d)
			}
			break
		}
		l.Next()
		l.Next()
		if d, ok := l.Next(); ok {
			t.Errorf("%s: behind the last comes %s", name, d)
		}
	}
}

// BenchmarkDecode decodes a command as a driver sends it in a transaction.
func BenchmarkDecode(b *testing.B) {
	type update struct {
		Update  value.Value `arg:"update,required"`
		Updates Array       `arg:"updates"`
		Ordered Flag        `arg:"ordered"`
		Bypass  LooseBool   `arg:"bypassDocumentValidation"`
		Let     value.Doc   `arg:"let"`
		EmptyTS StrictBool  `arg:"bypassEmptyTsReplacement,own"`
		EncInfo value.Value `arg:"encryptionInformation"`
		UUID    UUID        `arg:"collectionUUID"`
	}
	spec := New[update]("update")
	d := value.MustJSON(`{"update": "c", "ordered": true, "updates": [{}], "lsid": {}, "txnNumber": {"$numberLong": "1"}, "autocommit": false, "$db": "test"}`)
	a := new(update)
	b.ReportAllocs()
	for b.Loop() {
		if err := spec.Decode(d, a); err != nil {
			b.Fatal(err)
		}
	}
}
