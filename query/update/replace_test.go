package update

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

func TestReplacement(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"a":1}`, doc: `{"_id":1,"b":2}`, want: `{"_id":1,"a":1}`},
		{update: `{}`, doc: `{"_id":1,"b":2}`, want: `{"_id":1}`},
		{update: `{"_id":1,"b":2}`, doc: `{"_id":1,"b":2}`},
		{update: `{"b":2,"_id":1}`, doc: `{"_id":1,"b":2}`, want: `{"_id":1,"b":2}`},
		{update: `{"a.b":1,"c":{"$d":2}}`, doc: `{"_id":1}`, want: `{"_id":1,"a.b":1,"c":{"$d":2}}`},
		{update: `{"_id":1.0,"b":2}`, doc: `{"_id":1}`, want: `{"_id":1.0,"b":2}`},
		{update: `{"_id":2,"b":2}`, doc: `{"_id":1,"b":2}`, code: 66,
			message: "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2"},
		{update: `{"_id":[1],"b":2}`, doc: `{"_id":1,"b":2}`, code: 53, message: "The '_id' value cannot be of type array"},
		{update: `{"_id":{"$a":1}}`, doc: `{"_id":1}`, code: 52, message: "The dollar ($) prefixed field '$a' in '_id.$a' is not allowed" +
			" in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."},
		{update: `{"a":1,"$set":{"b":1}}`, doc: `{"_id":1}`, code: 52, message: "The dollar ($) prefixed field '$set' in '$set' is not" +
			" allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."},
		{update: `{"a":{"$timestamp":{"t":0,"i":0}},"b":{"c":{"$timestamp":{"t":0,"i":0}}}}`, doc: `{"_id":1}`,
			want: `{"_id":1,"a":{"$timestamp":{"t":1714979289,"i":1}},"b":{"c":{"$timestamp":{"t":0,"i":0}}}}`},
	})
}

func TestReplacementOptions(t *testing.T) {
	_, err := Compile(value.Document(value.MustJSON(`{"a":1}`)), Options{Multi: true})
	wantError(t, err, 9, "multi update is not supported for replacement-style update")
	_, err = Compile(value.Document(value.MustJSON(`{"a":1}`)), Options{Constants: true})
	wantError(t, err, 51198, "Constant values may only be specified for pipeline updates")
	_, err = Compile(value.Int32(1), Options{})
	wantError(t, err, 9, "Update argument must be either an object or an array")
}

func wantError(t *testing.T, err error, code mongoerr.Code, message string) {
	t.Helper()
	if e := mongoerr.From(err); e == nil || e.Code != code || e.Message != message {
		t.Errorf("got  %v\nwant %d %s", err, code, message)
	}
}

// fakePipeline stands for a compiled pipeline: it appends x: 1, and with
// {$set: {id: v}} sets the _id.
func fakePipeline(stages value.Doc) (Transform, error) {
	id := stages.Index(0).Doc().Lookup("$set").Doc().Lookup("id")
	return func(_ *expr.Env, d value.Doc) (value.Doc, error) {
		b := value.NewBuilder()
		for name, v := range d.All() {
			if name == "_id" && !id.IsMissing() {
				v = id
			}
			if name != "x" {
				b.Append(name, v)
			}
		}
		return b.Int32("x", 1).Doc(), nil
	}, nil
}

func TestPipeline(t *testing.T) {
	stages := func(s string) value.Value { return value.MustJSON(`{"p":` + s + `}`).Lookup("p") }
	o := Options{Pipeline: fakePipeline}
	u, err := Compile(stages(`[{"$set":{"x":1}}]`), o)
	if err != nil || !u.IsPipeline() || u.TouchedPaths() != nil {
		t.Fatal(err, u)
	}
	env := expr.NewEnv(now)
	d, modified, err := u.Apply(env, value.MustJSON(`{"_id":1,"a":1}`), ApplyOptions{Position: -1})
	if err != nil || !modified || d.JSON() != `{"_id":1,"a":1,"x":1}` {
		t.Errorf("got %s %v %v", d, modified, err)
	}
	if _, modified, err = u.Apply(env, d, ApplyOptions{Position: -1}); modified || err != nil {
		t.Errorf("second time: %v %v", modified, err)
	}
	u, _ = Compile(stages(`[{"$set":{"id":2}}]`), o)
	_, _, err = u.Apply(env, value.MustJSON(`{"_id":1}`), ApplyOptions{Position: -1})
	wantError(t, err, 66, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2")

	_, err = Compile(stages(`[{"$match":{}}]`), o)
	wantError(t, err, 72, "$match is not allowed to be used within an update")
	o.ArrayFilters = []value.Doc{value.MustJSON(`{"i":1}`)}
	_, err = Compile(stages(`[]`), o)
	wantError(t, err, 9, "arrayFilters may not be specified for pipeline-style updates")
}

func TestUpsert(t *testing.T) {
	const oid = `{"$oid":"0102030405060708090a0b0c"}`
	tests := []struct {
		query, update, want string
		code                mongoerr.Code
		message             string
	}{
		{query: `{"_id":1}`, update: `{"$set":{"a":1}}`, want: `{"_id":1,"a":1}`},
		{query: `{"a":1}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"a":1,"b":1}`},
		{query: `{"b":1,"a":2}`, update: `{"$set":{"c":1}}`, want: `{"_id":` + oid + `,"a":2,"b":1,"c":1}`},
		{query: `{"a":{"$gt":1},"b":{"$eq":2}}`, update: `{"$inc":{"c":1}}`, want: `{"_id":` + oid + `,"b":2,"c":1}`},
		{query: `{"$and":[{"a":1},{"b":{"$in":[2]}}]}`, update: `{"$setOnInsert":{"c":1}}`, want: `{"_id":` + oid + `,"a":1,"b":2,"c":1}`},
		{query: `{"$or":[{"a":1},{"b":2}]}`, update: `{"$set":{"c":1}}`, want: `{"_id":` + oid + `,"c":1}`},
		{query: `{"a.b":1,"a.c":2}`, update: `{"$set":{"a.d":3}}`, want: `{"_id":` + oid + `,"a":{"b":1,"c":2,"d":3}}`},
		{query: `{"a":{"b":1}}`, update: `{"$set":{"a.c":1}}`, want: `{"_id":` + oid + `,"a":{"b":1,"c":1}}`},
		{query: `{"a":5}`, update: `{"$set":{"a":6}}`, want: `{"_id":` + oid + `,"a":6}`},
		{query: `{"a":[1]}`, update: `{"$push":{"a":2}}`, want: `{"_id":` + oid + `,"a":[1,2]}`},
		{query: `{}`, update: `{"$setOnInsert":{"_id":7,"a":1}}`, want: `{"_id":7,"a":1}`},
		{query: `{}`, update: `{"$setOnInsert":{"a":1,"_id":7}}`, want: `{"_id":7,"a":1}`},
		{query: `{"a":1}`, update: `{"$setOnInsert":{"_id":7}}`, want: `{"_id":7,"a":1}`},
		{query: `{"_id.x":1}`, update: `{"$set":{"a":1}}`, want: `{"_id":{"x":1},"a":1}`},
		{query: `{"_id":1}`, update: `{"$set":{"_id":1,"a":1}}`, want: `{"_id":1,"a":1}`},
		{query: `{"_id":1}`, update: `{"$set":{"_id":2}}`, code: 66,
			message: "Performing an update on the path '_id' would modify the immutable field '_id'"},
		{query: `{}`, update: `{"$set":{"_id":[1]}}`, code: 53, message: "The '_id' value cannot be of type array"},
		{query: `{"a":1,"$and":[{"a":1}]}`, update: `{"$set":{"b":1}}`, code: 54,
			message: "cannot infer query fields to set, path 'a' is matched twice"},
		{query: `{"a":{"b":1},"a.b":1}`, update: `{"$set":{"b":1}}`, code: 54,
			message: "cannot infer query fields to set, both paths 'a.b' and 'a' are matched"},
		{query: `{"x":{"$all":[1]}}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"x":1,"b":1}`},
		{query: `{"x":{"$all":[1,2]}}`, update: `{"$set":{"b":1}}`, code: 54,
			message: "cannot infer query fields to set, path 'x' is matched twice"},
		{query: `{"x.0":1}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"x":{"0":1},"b":1}`},
		{query: `{"$or":[{"x":1}]}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"x":1,"b":1}`},
		{query: `{"x":{"$elemMatch":{"y":1}},"z":{"$not":{"$eq":1}},"r":{"$regularExpression":{"pattern":"a","options":""}}}`,
			update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"b":1}`},
		{query: `{"x":null}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"x":null,"b":1}`},
		{query: `{"_id":1}`, update: `{"a":1,"$b":2}`, want: `{"_id":1,"a":1,"$b":2}`},
		{query: `{"_id":1}`, update: `{"$set":{"$b":2}}`, want: `{"_id":1,"$b":2}`},
		{query: `{"":1}`, update: `{"$set":{"b":1}}`, want: `{"_id":` + oid + `,"":1,"b":1}`},
		{query: `{"_id":{"a":1}}`, update: `{"$set":{"_id.b":1}}`, code: 66,
			message: "Updating the path '_id' to _id: { a: 1, b: 1 } would modify the immutable field '_id'"},
		{query: `{"a":1}`, update: `{"$set":{"a.b":1}}`, code: 28, message: "Cannot create field 'b' in element {a: 1}"},
		{query: `{"a":1}`, update: `{"$set":{"b.$":1}}`, code: 2,
			message: "The positional operator did not find the match needed from the query."},
		{query: `{"_id":1,"a":2}`, update: `{"b":3}`, want: `{"_id":1,"b":3}`},
		{query: `{"a":2}`, update: `{"b":3}`, want: `{"_id":` + oid + `,"b":3}`},
		{query: `{"a":2}`, update: `{"b":3,"_id":4}`, want: `{"_id":4,"b":3}`},
		{query: `{"_id":1}`, update: `{"_id":2}`, code: 66,
			message: "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2"},
		{query: `{"_id.x":1}`, update: `{"a":1}`, code: 111,
			message: "field at '_id' must be exactly specified, field at sub-path '_id.x'found"},
	}
	for _, tt := range tests {
		t.Run(tt.query+" "+tt.update, func(t *testing.T) {
			m, err := match.Compile(value.MustJSON(tt.query), match.Options{})
			if err != nil {
				t.Fatal(err)
			}
			u, err := Compile(value.Document(value.MustJSON(tt.update)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := u.ForUpsert(expr.NewEnv(now), m, func() value.OID { return value.OID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} })
			if tt.code != 0 {
				wantError(t, err, tt.code, tt.message)
			} else if err != nil || d.JSON() != value.MustJSON(tt.want).JSON() {
				t.Errorf("got  %s (%v)\nwant %s", d.JSON(), err, tt.want)
			}
		})
	}
}

// TestSharing: one compiled update serves many goroutines, and many fields.
func TestSharing(t *testing.T) {
	fields := value.NewBuilder()
	for i := range 100 {
		fields.Int32(fmt.Sprintf("f%03d", i), 1)
	}
	u, err := Compile(value.Document(value.NewDoc("$inc", value.Document(fields.Doc()))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	old := value.NewBuilder()
	for i := 0; i < 100; i += 2 {
		old.Int32(fmt.Sprintf("f%03d", i), 1)
	}
	d, expected := old.Doc(), value.NewDoc()
	for i := range 100 { // fields that were there come first
		if i%2 == 0 {
			expected = appendInt(expected, i, 2)
		}
	}
	for i := range 100 {
		if i%2 == 1 {
			expected = appendInt(expected, i, 1)
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got, _, err := u.Apply(expr.NewEnv(now), d, ApplyOptions{Position: -1})
				if err != nil || !bytes.Equal(got, expected) {
					t.Errorf("%s %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func appendInt(d value.Doc, i int, v int32) value.Doc {
	b := value.NewBuilder()
	b.Raw(d[4 : len(d)-1])
	return b.Int32(fmt.Sprintf("f%03d", i), v).Doc()
}

func TestTimestamps(t *testing.T) {
	n := uint32(0)
	next := func() value.Value { n++; return value.Timestamp(7, n) }
	d := value.MustJSON(`{"_id":{"$timestamp":{"t":0,"i":0}},"a":{"$timestamp":{"t":0,"i":0}},"b":1,"c":{"$timestamp":{"t":0,"i":0}},"d":{"$timestamp":{"t":0,"i":1}}}`)
	want := value.MustJSON(`{"_id":{"$timestamp":{"t":0,"i":0}},"a":{"$timestamp":{"t":7,"i":1}},"b":1,"c":{"$timestamp":{"t":7,"i":2}},"d":{"$timestamp":{"t":0,"i":1}}}`)
	if got := FillTimestamps(d, next); !bytes.Equal(got, want) {
		t.Errorf("got %s", got)
	}
	u, err := Compile(value.Document(value.MustJSON(`{"$currentDate":{"a":{"$type":"timestamp"},"b":{"$type":"timestamp"}}}`)), Options{Timestamp: next})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := u.Apply(expr.NewEnv(now), value.EmptyDoc, ApplyOptions{Position: -1})
	if err != nil || !bytes.Equal(got, value.NewDoc("a", value.Timestamp(7, 3), "b", value.Timestamp(7, 4))) {
		t.Errorf("got %s %v", got, err)
	}
	env := expr.NewEnv(now)
	env.ClusterTime = value.Timestamp(9, 9)
	u, _ = Compile(value.Document(value.MustJSON(`{"a":{"$timestamp":{"t":0,"i":0}}}`)), Options{})
	if got, _, _ = u.Apply(env, value.EmptyDoc, ApplyOptions{Position: -1}); !bytes.Equal(got, value.NewDoc("a", value.Timestamp(9, 9))) {
		t.Errorf("got %s", got)
	}
}

func TestReferences(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"a":1,"$ref":"c","$id":1,"$db":"d"}`, doc: `{"_id":1}`, want: `{"_id":1,"a":1,"$ref":"c","$id":1,"$db":"d"}`},
		{update: `{"a":1,"$ref":"c","$id":1,"$db":5}`, doc: `{"_id":1}`, code: 55, message: "The DBRef $db field must be a String, not a int"},
		{update: `{"a":1,"$ref":"c"}`, doc: `{"_id":1}`, code: 55, message: "The DBRef $ref field must be followed by a $id field"},
		{update: `{"a":1,"$db":"c"}`, doc: `{"_id":1}`, code: 55, message: "Found $db field without a $id before it, which is invalid."},
		{update: `{"a":1,"$id":1}`, doc: `{"_id":1}`, code: 55, message: "Found $id field without a $ref before it, which is invalid."},
		{update: `{"_id":{"$ref":"c","$id":1}}`, doc: `{"_id":{"$ref":"c","$id":1},"a":1}`, want: `{"_id":{"$ref":"c","$id":1}}`},
	})
}

func TestTables(t *testing.T) {
	if n := len(Operators()); n != 15 || !slices.IsSorted(Operators()) {
		t.Errorf("%d operators", n)
	}
	if n := len(updateStages); n != 6 {
		t.Errorf("%d stages", n)
	}
}

func TestNeedsPosition(t *testing.T) {
	for spec, want := range map[string]bool{
		`{"$set":{"a.$.b":1}}`: true, `{"$set":{"b":1},"$push":{"a.$":1}}`: true, `{"$set":{"a.$[].b":1}}`: false, `{"a":1}`: false,
	} {
		u, err := Compile(value.Document(value.MustJSON(spec)), Options{})
		if err != nil || u.NeedsPosition() != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	set := func(v string) string { return `{"$set":{"x":` + v + `}}` }
	tooDeep := "Document exceeds maximum nesting depth of 180"
	path := strings.Repeat("a.", 180) + "a"
	runUpdateTests(t, []updateTest{
		{name: "179 levels below", update: set(deep(179)), doc: `{}`, want: `{"x":` + deep(179) + `}`},
		{name: "180 levels below", update: set(deep(180)), doc: `{}`, code: 15, message: tooDeep},
		{name: "180 levels below an old one", update: set(deep(180)), doc: `{"x":1}`, code: 15, message: tooDeep},
		{name: "long path", update: `{"$inc":{"` + path + `":1}}`, doc: `{}`, code: 15, message: tooDeep},
		{name: "endless path", update: `{"$set":{"` + strings.Repeat("a.", 100000) + `a":1}}`, doc: `{}`, code: 15, message: tooDeep},
		{name: "replacement", update: `{"x":` + deep(180) + `}`, doc: `{"_id":1}`, code: 15, message: tooDeep},
	})
}

func TestSize(t *testing.T) {
	u, err := Compile(value.Document(value.NewDoc("$set", value.Document(value.NewDoc("a", value.String(strings.Repeat("x", 9<<20)))))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	env := expr.NewEnv(now)
	_, _, err = u.Apply(env, value.NewDoc("b", value.String(strings.Repeat("x", 7<<20))), ApplyOptions{Position: -1})
	wantError(t, err, 17419, "Resulting document after update is larger than 16777216")
	_, _, err = u.Apply(env, value.NewDoc("b", value.String(strings.Repeat("x", 8<<20))), ApplyOptions{Position: -1})
	if mongoerr.CodeOf(err) != 10334 {
		t.Errorf("got %v", err)
	}
}

// TestMultiplication: a long value for every element of an array is refused
// before memory runs out.
func TestMultiplication(t *testing.T) {
	spec := value.NewDoc("$set", value.Document(value.NewDoc("a.$[].b", value.String(strings.Repeat("x", 1<<20)))))
	u, err := Compile(value.Document(spec), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var elements []value.Value
	for range 100000 {
		elements = append(elements, value.Document(value.EmptyDoc))
	}
	d := value.NewDoc("a", value.NewArray(elements...))
	if _, _, err = u.Apply(expr.NewEnv(now), d, ApplyOptions{Position: -1}); mongoerr.CodeOf(err) != 10334 {
		t.Errorf("got %v", err)
	}
}

func TestValidateID(t *testing.T) {
	for s, code := range map[string]mongoerr.Code{
		`{"i":1}`: 0, `{"i":{"a":1}}`: 0, `{"i":[1]}`: 53, `{"i":{"$undefined":true}}`: 53, `{"i":{"a":{"$b":1}}}`: 52,
		`{"i":{"$regularExpression":{"pattern":"a","options":""}}}`: 53, `{"i":{"$ref":"a","$id":1}}`: 0, `{"i":{"$a":1}}`: 52,
	} {
		if err := ValidateID(value.MustJSON(s).Lookup("i")); mongoerr.CodeOf(err) != code {
			t.Errorf("%s: %v, want %d", s, err, code)
		}
	}
}

func TestTouchedPaths(t *testing.T) {
	u, err := Compile(value.Document(value.MustJSON(`{"$set":{"a.b":1,"c.$[].d":1},"$rename":{"e":"f"}}`)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.TouchedPaths(), []string{"a.b", "c.$[].d", "e", "f"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%v, want %v", got, want)
	}
}
