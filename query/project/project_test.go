package project

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// projectTest is one projection of one document. Expected documents are
// compared with their types and field order.
type projectTest struct {
	mode    Mode
	spec    string
	query   string // for the positional operator, or ""
	doc     string
	want    string // "" if the document must stay as it is
	code    mongoerr.Code
	message string
}

func runProjectTests(t *testing.T, mode Mode, tests []projectTest) {
	t.Helper()
	for _, tt := range tests {
		tt.mode = mode
		t.Run(tt.spec+" on "+tt.doc+" "+tt.query, func(t *testing.T) { tt.run(t) })
	}
}

func (tt projectTest) run(t *testing.T) {
	got, err := tt.apply(t)
	if tt.code != 0 {
		if e := mongoerr.From(err); e == nil || e.Code != tt.code || tt.message != "" && e.Message != tt.message {
			t.Fatalf("got  %v (%s)\nwant %d %s", err, got, tt.code, tt.message)
		}
		return
	}
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if err := value.Validate(got); err != nil {
		t.Fatalf("result is not BSON: %v", err)
	}
	want := tt.want
	if want == "" {
		want = tt.doc
	}
	if w := value.MustJSON(want).CanonicalJSON(); got.CanonicalJSON() != w {
		t.Errorf("got  %s\nwant %s", got.CanonicalJSON(), w)
	}
}

func (tt projectTest) apply(t *testing.T) (value.Doc, error) {
	o := Options{Mode: tt.mode}
	if tt.query != "" {
		m, err := match.Compile(value.MustJSON(tt.query), match.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Matcher = m
	}
	p, err := Compile(value.MustJSON(tt.spec), o)
	if err != nil {
		return nil, err
	}
	if tt.doc == "" {
		return nil, nil
	}
	env := expr.NewEnv(0)
	env.Meta.Set(expr.MetaTextScore, value.Double(1.5))
	return p.Apply(env, nil, value.MustJSON(tt.doc))
}

func TestInclusion(t *testing.T) {
	const doc = `{"_id":1,"c":3,"a":{"x":1,"y":2},"b":[{"x":1,"y":2},5,[{"x":3},6],{"y":4}],"d":null}`
	runProjectTests(t, Find, []projectTest{
		{spec: `{}`, doc: doc},
		{spec: `{"c":1}`, doc: doc, want: `{"_id":1,"c":3}`},
		{spec: `{"d":true,"c":1}`, doc: doc, want: `{"_id":1,"c":3,"d":null}`},
		{spec: `{"c":1,"_id":0}`, doc: doc, want: `{"c":3}`},
		{spec: `{"_id":1}`, doc: doc, want: `{"_id":1}`},
		{spec: `{"z":1}`, doc: doc, want: `{"_id":1}`},
		{spec: `{"c":{"$numberLong":"5"}}`, doc: doc, want: `{"_id":1,"c":3}`},
		{spec: `{"a.x":1}`, doc: doc, want: `{"_id":1,"a":{"x":1}}`},
		{spec: `{"a":{"x":1}}`, doc: doc, want: `{"_id":1,"a":{"x":1}}`},
		{spec: `{"a":{"y":1},"a.x":1}`, doc: doc, want: `{"_id":1,"a":{"x":1,"y":2}}`},
		{spec: `{"a.x":1,"a":{"y":1}}`, doc: doc, want: `{"_id":1,"a":{"x":1,"y":2}}`},
		{spec: `{"a.z":1}`, doc: doc, want: `{"_id":1,"a":{}}`},
		{spec: `{"c.x":1}`, doc: doc, want: `{"_id":1}`},
		{spec: `{"b.x":1}`, doc: doc, want: `{"_id":1,"b":[{"x":1},[{"x":3}],{}]}`},
		{spec: `{"b.0":1}`, doc: `{"b":[1,2]}`, want: `{"b":[]}`},
		{spec: `{"_id.x":1}`, doc: `{"_id":{"x":1,"y":2},"a":1}`, want: `{"_id":{"x":1}}`},
		{spec: `{"_id.x":0,"a":0}`, doc: `{"_id":{"x":1,"y":2},"a":1}`, want: `{"_id":{"y":2}}`},
		{spec: `{"a.$id":1}`, doc: `{"_id":1,"a":{"$ref":"c","$id":2}}`, want: `{"_id":1,"a":{"$id":2}}`},
	})
}

func TestExclusion(t *testing.T) {
	const doc = `{"_id":1,"c":3,"a":{"x":1,"y":2},"b":[{"x":1,"y":2},5,[{"x":3},6],{"y":4}]}`
	runProjectTests(t, Find, []projectTest{
		{spec: `{"_id":0}`, doc: `{"_id":1,"a":2}`, want: `{"a":2}`},
		{spec: `{"a":0}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1}`},
		{spec: `{"a":false,"_id":1}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"b":3}`},
		{spec: `{"a.x":0,"c":0}`, doc: doc, want: `{"_id":1,"a":{"y":2},"b":[{"x":1,"y":2},5,[{"x":3},6],{"y":4}]}`},
		{spec: `{"b.x":0,"a":0}`, doc: doc, want: `{"_id":1,"c":3,"b":[{"y":2},5,[{},6],{"y":4}]}`},
		{spec: `{"c.x":0}`, doc: `{"c":3}`},
		{spec: `{"a":{"$numberDecimal":"0"}}`, doc: `{"a":3,"b":1}`, want: `{"b":1}`},
	})
}

func TestMixing(t *testing.T) {
	runProjectTests(t, Find, []projectTest{
		{spec: `{"a":1,"b":0}`, code: 31254, message: "Cannot do exclusion on field b in inclusion projection"},
		{spec: `{"a":0,"b":1}`, code: 31253, message: "Cannot do inclusion on field b in exclusion projection"},
		{spec: `{"a":0,"b":{"c":1}}`, code: 31253, message: "Cannot do inclusion on field c in exclusion projection"},
		{spec: `{"a":0,"b":{"$add":[1,2]}}`, code: 31252, message: "Cannot use expression other than $meta in exclusion projection"},
		{spec: `{"a":0,"b":"x"}`, code: 31310, message: `Cannot use an expression b: "x" in an exclusion projection`},
		{spec: `{"a":1,"a":1}`, code: 31250, message: "Path collision at a"},
		{spec: `{"a":1,"a.b":1}`, code: 31249, message: "Path collision at a.b remaining portion b"},
		{spec: `{"a.b":1,"a":1}`, code: 31250, message: "Path collision at a"},
		{spec: `{"a.b":1,"a.b.c":1}`, code: 31249, message: "Path collision at a.b.c remaining portion b.c"},
		{spec: `{"a":{"b":1,"c":1},"a.b":1}`, code: 31250, message: "Path collision at a.b"},
		{spec: `{"a":{}}`, code: 51270, message: "An empty sub-projection is not a valid value. Found empty object at path"},
		{spec: `{"a":{"$foo":1}}`, code: 31325, message: "Unknown expression $foo"},
		{spec: `{"":1}`, code: 40352, message: "FieldPath cannot be constructed with empty string"},
		{spec: `{"a.":1}`, code: 40353, message: "FieldPath must not end with a '.'."},
		{spec: `{"a..b":1}`, code: 15998, message: "FieldPath field names may not be empty strings."},
		{spec: `{"$a":1}`, code: 16410, message: "FieldPath field names may not start with '$'. Consider using $getField or $setField."},
		{spec: `{"a.$b":1}`, code: 16410},
		{spec: `{"a":{"$add":[1],"b":1}}`, code: 16410},
	})
}

func TestExpressions(t *testing.T) {
	runProjectTests(t, Find, []projectTest{
		{spec: `{"s":{"$add":["$a","$b"]}}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"s":5}`},
		{spec: `{"z":"$a","b":1,"y":"$b"}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"b":3,"z":2,"y":3}`},
		{spec: `{"a":"text"}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1,"a":"text"}`},
		{spec: `{"a":["$b",1]}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"a":[3,1]}`},
		{spec: `{"a":{"$literal":1},"_id":0}`, doc: `{"_id":1,"b":3}`, want: `{"a":1}`},
		{spec: `{"a":"$nope"}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1}`},
		{spec: `{"a":null}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1,"a":null}`},
		{spec: `{"a":{"b":1,"c":"$x"}}`, doc: `{"_id":1,"a":{"b":2,"d":3},"x":9}`, want: `{"_id":1,"a":{"b":2,"c":9}}`},
		{spec: `{"a.b":1,"a.c":"$x"}`, doc: `{"_id":1,"a":[{"b":2},5],"x":9}`, want: `{"_id":1,"a":[{"b":2,"c":9},{"c":9}]}`},
		{spec: `{"a.c":"$x"}`, doc: `{"_id":1,"a":5,"x":9}`, want: `{"_id":1,"a":{"c":9}}`},
		{spec: `{"a.c":"$x"}`, doc: `{"_id":1,"x":9}`, want: `{"_id":1,"a":{"c":9}}`},
		{spec: `{"a.c":"$nope"}`, doc: `{"_id":1}`, want: `{"_id":1,"a":{}}`},
		{spec: `{"a":{"$meta":"textScore"}}`, doc: `{"_id":1,"b":2}`, want: `{"_id":1,"b":2,"a":1.5}`},
		{spec: `{"a":{"$meta":"textScore"}}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"a":1.5,"b":3}`},
		{spec: `{"a":{"$meta":"textScore"},"b":1}`, doc: `{"_id":1,"b":2,"c":3}`, want: `{"_id":1,"b":2,"a":1.5}`},
		{spec: `{"a":{"$meta":"textScore"},"b":0}`, doc: `{"_id":1,"b":2,"c":3}`, want: `{"_id":1,"c":3,"a":1.5}`},
		{spec: `{"_id":0,"a":{"$meta":"textScore"}}`, doc: `{"_id":1,"b":2}`, want: `{"b":2,"a":1.5}`},
		{spec: `{"_id":1,"a":{"$meta":"textScore"}}`, doc: `{"_id":1,"b":2}`, want: `{"_id":1,"a":1.5}`},
	})
}

func TestSlice(t *testing.T) {
	const doc = `{"_id":1,"a":[1,2,3,4,5],"b":2}`
	runProjectTests(t, Find, []projectTest{
		{spec: `{"a":{"$slice":2}}`, doc: doc, want: `{"_id":1,"a":[1,2],"b":2}`},
		{spec: `{"a":{"$slice":-2}}`, doc: doc, want: `{"_id":1,"a":[4,5],"b":2}`},
		{spec: `{"a":{"$slice":0}}`, doc: doc, want: `{"_id":1,"a":[],"b":2}`},
		{spec: `{"a":{"$slice":-9}}`, doc: doc},
		{spec: `{"a":{"$slice":[1,2]}}`, doc: doc, want: `{"_id":1,"a":[2,3],"b":2}`},
		{spec: `{"a":{"$slice":[-2,1]}}`, doc: doc, want: `{"_id":1,"a":[4],"b":2}`},
		{spec: `{"a":{"$slice":[-9,2]}}`, doc: doc, want: `{"_id":1,"a":[1,2],"b":2}`},
		{spec: `{"a":{"$slice":[9,2]}}`, doc: doc, want: `{"_id":1,"a":[],"b":2}`},
		{spec: `{"a":{"$slice":1},"b":1}`, doc: doc, want: `{"_id":1,"a":[1],"b":2}`},
		{spec: `{"a":{"$slice":1},"b":0}`, doc: doc, want: `{"_id":1,"a":[1]}`},
		{spec: `{"a":{"$slice":1},"_id":1}`, doc: doc, want: `{"_id":1,"a":[1]}`},
		{spec: `{"a":{"$slice":1},"_id":0}`, doc: doc, want: `{"a":[1],"b":2}`},
		{spec: `{"b":{"$slice":1}}`, doc: doc},
		{spec: `{"x.a":{"$slice":1}}`, doc: `{"x":[{"a":[1,2],"b":3},{"a":5},6,[{"a":[1,2]}]]}`,
			want: `{"x":[{"a":[1],"b":3},{"a":5},6,[{"a":[1,2]}]]}`},
		{spec: `{"x":{"a":{"$slice":-1}}}`, doc: `{"x":{"a":[1,2],"b":3}}`, want: `{"x":{"a":[2],"b":3}}`},
		{spec: `{"c":{"$slice":["$a",2]}}`, doc: doc, want: `{"_id":1,"c":[1,2]}`},
		{spec: `{"a":{"$slice":[0,0]}}`, code: 28724},
		{spec: `{"a":{"$slice":[1,2,3,4]}}`, code: 28667, message: "Invalid $slice syntax. The given syntax { $slice: [ 1, 2, 3, 4 ] }" +
			" did not match the find() syntax because :: Location31272: $slice array argument should be of form [skip, limit] ::" +
			" The given syntax did not match the expression $slice syntax. :: caused by :: Expression $slice takes at least 2" +
			" arguments, and at most 3, but 4 were passed in."},
		{spec: `{"a":{"$slice":"x"}}`, code: 28667},
	})
}

func TestElemMatch(t *testing.T) {
	const doc = `{"_id":1,"a":[{"x":1,"y":1},{"x":2,"y":2},{"x":2,"y":3}],"b":2}`
	runProjectTests(t, Find, []projectTest{
		{spec: `{"a":{"$elemMatch":{"x":2}}}`, doc: doc, want: `{"_id":1,"a":[{"x":2,"y":2}]}`},
		{spec: `{"a":{"$elemMatch":{"x":2,"y":{"$gt":2}}}}`, doc: doc, want: `{"_id":1,"a":[{"x":2,"y":3}]}`},
		{spec: `{"a":{"$elemMatch":{"x":9}}}`, doc: doc, want: `{"_id":1}`},
		{spec: `{"a":{"$elemMatch":{"x":1}},"b":1}`, doc: doc, want: `{"_id":1,"b":2,"a":[{"x":1,"y":1}]}`},
		{spec: `{"a":{"$elemMatch":{"x":1}},"_id":0}`, doc: doc, want: `{"a":[{"x":1,"y":1}]}`},
		{spec: `{"b":{"$elemMatch":{"$gt":1}}}`, doc: doc, want: `{"_id":1}`},
		{spec: `{"a":{"$elemMatch":{"$gt":1}}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[2]}`},
		{spec: `{"a":{"$elemMatch":5}}`, code: 31274, message: "elemMatch: Invalid argument, object required, but got int"},
		{spec: `{"a.b":{"$elemMatch":{"x":1}}}`, code: 31275, message: "Cannot use $elemMatch projection on a nested field."},
		{spec: `{"a":{"b":{"$elemMatch":{"x":1}}}}`, code: 31275},
		{spec: `{"a.$":1,"b":{"$elemMatch":{"x":1}}}`, query: `{"a":1}`, code: 31255,
			message: "Cannot specify positional operator and $elemMatch."},
		{spec: `{"b":{"$elemMatch":{"x":1}},"a.$":1}`, query: `{"a":1}`, code: 31256},
	})
}

func TestPositional(t *testing.T) {
	const doc = `{"_id":1,"a":[80,85,90],"b":[1,2,3],"x":{"y":[{"z":1},{"z":2}]}}`
	runProjectTests(t, Find, []projectTest{
		{spec: `{"a.$":1}`, query: `{"a":{"$gte":85}}`, doc: doc, want: `{"_id":1,"a":[85]}`},
		{spec: `{"a.$":1,"b":1}`, query: `{"a":90}`, doc: doc, want: `{"_id":1,"a":[90],"b":[1,2,3]}`},
		{spec: `{"x.y.$":1}`, query: `{"x.y.z":2}`, doc: doc, want: `{"_id":1,"x":{"y":[{"z":2}]}}`},
		{spec: `{"a.$":1}`, query: `{"a":{"$elemMatch":{"$gt":80,"$lt":90}}}`, doc: doc, want: `{"_id":1,"a":[85]}`},
		{spec: `{"a.$":1}`, query: `{"a":5}`, doc: `{"a":5}`, want: `{"a":5}`},
		{spec: `{"a.$":1}`, query: `{"a":{"$size":3}}`, doc: doc, code: 51246,
			message: "positional operator '.$' couldn't find a matching element in the array"},
		{spec: `{"a.$":1}`, query: `{"x":{"$exists":true}}`, doc: doc, code: 51246},
		{spec: `{"a.$":1}`, query: `{"$expr":true}`, code: 224},
		{spec: `{"a.$":0}`, query: `{"a":1}`, code: 31395, message: "positional projection cannot be used with exclusion"},
		{spec: `{".$":1}`, query: `{"a":1}`, code: 5392900, message: "Projection on field .$ is invalid"},
		{spec: `{"a.$":1}`, code: 51050, message: "Projections with a positional operator require a matcher"},
		{spec: `{"a.$":1,"b.$":1}`, query: `{"a":1,"b":1}`, code: 31276,
			message: "Cannot specify more than one positional projection per query."},
		{spec: `{"a.$.b":1}`, query: `{"a":1}`, code: 31394},
		{spec: `{"a.$":{"x":1}}`, query: `{"a":1}`, code: 31271, message: "positional projection cannot be used with an expression or sub object"},
		{spec: `{"a.$":"x"}`, query: `{"a":1}`, code: 31308, message: "positional projection cannot be used with a literal"},
		{spec: `{"b":0,"a.$":1}`, query: `{"a":1}`, code: 31253, message: "Cannot do inclusion on field a.$ in exclusion projection"},
	})
}

func TestAggregate(t *testing.T) {
	runProjectTests(t, Aggregate, []projectTest{
		{spec: `{"a":1}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"a":2}`},
		{spec: `{"_id":0}`, doc: `{"_id":1,"a":2}`, want: `{"a":2}`},
		{spec: `{"x":{"y":"$a"}}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1,"x":{"y":2}}`},
		{spec: `{"c":{"$slice":["$a",2]}}`, doc: `{"_id":1,"a":[1,2,3]}`, want: `{"_id":1,"c":[1,2]}`},
		{spec: `{"_id":0,"a":{"$meta":"textScore"}}`, doc: `{"_id":1,"b":2}`, want: `{"a":1.5}`},
		{spec: `{"_id":"$a"}`, doc: `{"_id":1,"a":2,"b":1}`, want: `{"_id":2}`},
		{spec: `{}`, code: 51272, message: "projection specification must have at least one field"},
		{spec: `{"a":{}}`, code: 51270},
		{spec: `{"a.$":1}`, code: 31324, message: "Cannot use positional projection in aggregation projection"},
		{spec: `{"a":{"$elemMatch":{"x":1}}}`, code: 168, message: "Cannot use $elemMatch in this context"},
		{spec: `{"a":{"$nope":1}}`, code: 31325, message: "Unknown expression $nope"},
	})
}

func TestAddFields(t *testing.T) {
	runProjectTests(t, AddFields, []projectTest{
		{spec: `{"c":1}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1,"a":2,"c":1}`},
		{spec: `{"a":"$b"}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"a":3,"b":3}`},
		{spec: `{"a":"$$REMOVE"}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"b":3}`},
		{spec: `{"z":1,"y":2,"a":3}`, doc: `{"_id":1,"a":2}`, want: `{"_id":1,"a":3,"z":1,"y":2}`},
		{spec: `{"a.b":1}`, doc: `{"a":{"c":2}}`, want: `{"a":{"c":2,"b":1}}`},
		{spec: `{"a":{"b":1}}`, doc: `{"a":{"c":2}}`, want: `{"a":{"c":2,"b":1}}`},
		{spec: `{"a.b":1}`, doc: `{"a":5}`, want: `{"a":{"b":1}}`},
		{spec: `{"a.b":1}`, doc: `{"a":[1,{"c":2},[3]]}`, want: `{"a":[{"b":1},{"c":2,"b":1},[{"b":1}]]}`},
		{spec: `{"a.b":"$x","a.c":"$a.b"}`, doc: `{"a":{"b":1},"x":9}`, want: `{"a":{"b":9,"c":1},"x":9}`},
		{spec: `{"a":[1,"$b"]}`, doc: `{"b":2}`, want: `{"b":2,"a":[1,2]}`},
		{spec: `{"a":false}`, doc: `{"a":2}`, want: `{"a":false}`},
		{spec: `{}`, doc: `{"a":2}`},
		{spec: `{"a":{}}`, doc: `{"a":2}`, want: `{"a":{}}`},
		{spec: `{"a":{"b":{}}}`, doc: `{"a":{"c":1}}`, want: `{"a":{"c":1,"b":{}}}`},
		{spec: `{"a.b":1,"a":2}`, code: 40176, message: "specification contains two conflicting paths. Cannot specify both" +
			" 'a' and 'a.b': { a.b: 1, a: 2 }"},
		{spec: `{"a":1,"a":2}`, code: 40176},
		{spec: `{"a":{"$add":[1,2],"$sum":1}}`, code: 40181, message: "an expression specification must contain exactly one field," +
			" the name of the expression. Found 2 fields in { $add: [ 1, 2 ], $sum: 1 }, while parsing object { a: { $add: [ 1, 2 ], $sum: 1 } }"},
		{spec: `{"a":{"b.c":1}}`, code: 40183, message: "cannot use dotted field name 'b.c' in a sub object: { a: { b.c: 1 } }"},
		{spec: `{"a":{"$nope":1}}`, code: 168},
		{spec: `{"$a":1}`, code: 16410},
	})
}

// TestGrowth: a long value for every element of an array is refused before
// memory runs out.
func TestGrowth(t *testing.T) {
	p, err := Compile(value.NewDoc("a.b", value.String(strings.Repeat("x", 1<<20))), Options{Mode: AddFields})
	if err != nil {
		t.Fatal(err)
	}
	var elements []value.Value
	for range 10000 {
		elements = append(elements, value.Int32(1))
	}
	_, err = p.Apply(expr.NewEnv(0), nil, value.NewDoc("a", value.NewArray(elements...)))
	if mongoerr.CodeOf(err) != 13548 {
		t.Errorf("got %v", err)
	}
}

func TestLongPaths(t *testing.T) {
	half := strings.Repeat("a.", 150) + "a"
	for _, spec := range []string{`{"` + half + `":{"` + half + `":1}}`, `{"` + half + half + `":1}`} {
		if _, err := Compile(value.MustJSON(spec), Options{}); mongoerr.CodeOf(err) != 15 {
			t.Errorf("got %v", err)
		}
	}
	nested := strings.Repeat(`{"a":`, 150) + "1" + strings.Repeat("}", 150)
	if _, err := Compile(value.MustJSON(`{"`+half+`":`+nested+`}`), Options{Mode: AddFields}); mongoerr.CodeOf(err) != 15 {
		t.Errorf("got %v", err)
	}
}

// TestManyFields: more names than are compared one by one.
func TestManyFields(t *testing.T) {
	in, out := value.NewBuilder(), value.NewBuilder()
	doc, kept, left := value.NewBuilder(), value.NewBuilder(), value.NewBuilder()
	for i := range 200 {
		name := fmt.Sprintf("f%03d", i)
		doc.Int32(name, int32(i))
		if i%2 == 0 {
			in.Int32(name, 1)
			out.Int32(name, 0)
			kept.Int32(name, int32(i))
		} else {
			left.Int32(name, int32(i))
		}
	}
	for _, tt := range []struct{ spec, want value.Doc }{{in.Doc(), kept.Doc()}, {out.Doc(), left.Doc()}} {
		p, err := Compile(tt.spec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply(expr.NewEnv(0), nil, doc.Doc())
		if err != nil || !bytes.Equal(got, tt.want) {
			t.Errorf("got %s %v", got, err)
		}
		doc = value.NewBuilder()
		for i := range 200 {
			doc.Int32(fmt.Sprintf("f%03d", i), int32(i))
		}
	}
}
