package match

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

func TestPosition(t *testing.T) {
	cases := []struct {
		filter, d string
		want      int
	}{
		{`{a: 5}`, `{a: [4, 5, 5]}`, 1},
		{`{a: 5}`, `{a: 5}`, -1},
		{`{a: [4, 5]}`, `{a: [4, 5]}`, -1},
		{`{"a.b": 5}`, `{a: [{b: 1}, {b: 5}]}`, 1},
		{`{"a.b": 2}`, `{a: [{b: [1, 2]}]}`, 0},
		{`{"a.1.b": 2}`, `{a: [0, {b: [1, 2]}]}`, 1},
		{`{a: {$elemMatch: {$gt: 4}}}`, `{a: [1, 2, 5]}`, 2},
		{`{a: {$elemMatch: {b: 1, c: 2}}}`, `{a: [{b: 1}, {b: 1, c: 2}]}`, 1},
		{`{a: 5, b: 7}`, `{a: [4, 5], b: [7]}`, 0},
		{`{b: 7, a: {$gte: 5}}`, `{a: [4, 5], b: [7]}`, 1},
		{`{$or: [{a: 9, b: 7}, {a: 5}]}`, `{a: [4, 5], b: [0, 0, 7]}`, -1},
		{`{a: {$ne: 9}}`, `{a: [4]}`, -1},
		{`{a: {$not: {$gt: 9}}}`, `{a: [4]}`, -1},
		{`{a: {$in: [5]}}`, `{a: [4, 5]}`, 1},
		{`{"a.0": 5}`, `{a: [5]}`, -1},
	}
	for _, c := range cases {
		ok, got, err := compile(t, c.filter).MatchWithPosition(expr.NewEnv(0), doc(c.d))
		if !ok || err != nil || got != c.want {
			t.Errorf("%s on %s: %v, position %d, %v; want %d", c.filter, c.d, ok, got, err, c.want)
		}
	}
}

func TestEqualities(t *testing.T) {
	cases := []struct{ filter, want string }{
		{`{a: 1, b: {$eq: 2}, c: {$gt: 3}}`, `a=1 b=2`},
		{`{$and: [{a: 1}, {$and: [{b: 2}]}]}`, `a=1 b=2`},
		{`{$or: [{a: 1}]}`, `a=1`},
		{`{$or: [{a: 1}, {b: 2}]}`, ``},
		{`{a: {$in: [1]}, b: {$in: [1, 2]}}`, `a=1`},
		{`{a: {$all: [1]}}`, `a=1`},
		{`{a: {$not: {$eq: 1}}, b: {$ne: 1}}`, ``},
		{`{"a.b": {c: 1}}`, `a.b={ c: 1 }`},
	}
	for _, c := range cases {
		var got []string
		for path, v := range compile(t, c.filter).Equalities() {
			got = append(got, fmt.Sprintf("%s=%v", path, v))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.filter, s, c.want)
		}
	}
}

func TestParsed(t *testing.T) {
	cases := []struct{ filter, want string }{
		{`{}`, `{}`},
		{`{a: 1}`, `{ a: { $eq: 1 } }`},
		{`{b: 2, a: 1}`, `{ $and: [ { a: { $eq: 1 } }, { b: { $eq: 2 } } ] }`},
		{`{a: {$gt: 1, $lt: 5}}`, `{ $and: [ { a: { $lt: 5 } }, { a: { $gt: 1 } } ] }`},
		{`{$and: [{a: 1}, {$and: [{b: 2}, {c: 3}]}]}`, `{ $and: [ { a: { $eq: 1 } }, { b: { $eq: 2 } }, { c: { $eq: 3 } } ] }`},
		{`{$or: [{b: 1}, {a: 1}]}`, `{ $or: [ { a: { $eq: 1 } }, { b: { $eq: 1 } } ] }`},
		{`{a: {$ne: 1}}`, `{ a: { $not: { $eq: 1 } } }`},
		{`{a: {$nin: [2, 1]}}`, `{ a: { $not: { $in: [ 1, 2 ] } } }`},
		{`{a: {$exists: false}}`, `{ a: { $not: { $exists: true } } }`},
		{`{a: {$elemMatch: {b: 1}}}`, `{ a: { $elemMatch: { b: { $eq: 1 } } } }`},
		{`{a: {$elemMatch: {$gt: 1, $lt: 3}}}`, `{ a: { $elemMatch: { $gt: 1, $lt: 3 } } }`},
		{`{a: {$elemMatch: {$not: {$all: []}}}}`, `{ a: { $elemMatch: { $not: { $in: [] } } } }`},
		{`{a: {$regex: "x", $options: "i"}}`, `{ a: { $regex: "x", $options: "i" } }`},
	}
	for _, c := range cases {
		if got := compile(t, c.filter).Parsed().String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.filter, got, c.want)
		}
	}
}

func TestCollation(t *testing.T) {
	c, err := collation.Parse(value.MustJSON(`{"locale": "en", "strength": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]bool{
		`{a: "ABC"}`:                      true,
		`{a: {$in: ["x", "Abc"]}}`:        true,
		`{a: {$gt: "ABB"}}`:               true,
		`{a: {$ne: "ABC"}}`:               false,
		`{b: {x: "DEF"}}`:                 true,
		`{a: {$regex: "ABC"}}`:            false,
		`{"l.0": "ABC", l: "DEF"}`:        true,
		`{l: {$elemMatch: {$eq: "DEF"}}}`: true,
	} {
		m, err := Compile(doc(filter), Options{Collation: c})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := m.Match(expr.NewEnv(0), doc(`{a: "abc", b: {x: "def"}, l: ["abc", "def"]}`)); got != want {
			t.Errorf("%s: %v", filter, got)
		}
	}
}

func TestGeo(t *testing.T) {
	runCases(t, []matchCase{
		{`{p: {$geoWithin: {$box: [[0, 0], [10, 10]]}}}`,
			[]string{`{p: [5, 5]}`, `{p: {x: 1, y: 2}}`, `{p: [[50, 50], [5, 5]]}`, `{p: {type: "Point", coordinates: [1, 1]}}`},
			[]string{`{p: [50, 5]}`, `{p: "x"}`, `{}`, `{p: [5]}`}},
		{`{p: {$geoIntersects: {$geometry: {type: "Polygon", coordinates: [[[0, 0], [10, 0], [10, 10], [0, 0]]]}}}}`,
			[]string{`{p: {type: "LineString", coordinates: [[-5, 1], [15, 1]]}}`}, []string{`{p: {type: "Point", coordinates: [0, 10]}}`}},
		{`{p: {$not: {$geoWithin: {$center: [[0, 0], 1]}}}}`, []string{`{p: [5, 5]}`, `{}`}, []string{`{p: [0, 0]}`}},
	})
	refused(t, `{p: {$geoWithin: 1}}`, mongoerr.BadValue, "geometry must be an object")
	refused(t, `{p: {$geoWithin: {}}}`, mongoerr.BadValue, "geo query doesn't have any geometry")
	refused(t, `{p: {$geoWithin: {$foo: [1]}}}`, mongoerr.BadValue, "unknown geo specifier: $foo: [ 1 ]")
	refused(t, `{p: {$geoWithin: {$box: [[0, 0], [1, 1]], $center: [[0, 0], 1]}}}`, mongoerr.BadValue,
		"$geoWithin doesn't accept multiple shapes $geoWithin: { $box: [ [ 0, 0 ], [ 1, 1 ] ], $center: [ [ 0, 0 ], 1 ] }")
	refused(t, `{p: {$geoWithin: {$geometry: {type: "Point", coordinates: [0, 0]}}}}`, mongoerr.BadValue,
		`$within not supported with provided geometry: { $geoWithin: { $geometry: { type: "Point", coordinates: [ 0, 0 ] } } }`)
	refused(t, `{p: {$near: [0, 0]}}`, 5626500, "$geoNear, $near, and $nearSphere are not allowed in this context")
	refused(t, `{p: {$gt: 1, $near: [0, 0]}}`, mongoerr.BadValue, "near must be first in: { $gt: 1, $near: [ 0, 0 ] }")
}

func TestNear(t *testing.T) {
	env := expr.NewEnv(0)
	cases := []struct {
		filter, d string
		ok        bool
		distance  float64
	}{
		{`{p: {$near: [0, 0], $maxDistance: 6}}`, `{p: [3, 4]}`, true, 5},
		{`{p: {$near: [0, 0, 4]}}`, `{p: [3, 4]}`, false, 0},
		{`{p: {$near: [0, 0], $minDistance: 4}}`, `{p: [[1, 0], [3, 4]]}`, true, 5},
		{`{p: {$nearSphere: [0, 0], $maxDistance: 2}}`, `{p: [90, 0]}`, true, 1.5707963267948966},
		{`{p: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}, $maxDistance: 120000}}}`, `{p: {type: "Point", coordinates: [1, 0]}}`, true, 111318.845},
		{`{p: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}, $maxDistance: 100000}}}`, `{p: {type: "Point", coordinates: [1, 0]}}`, false, 0},
	}
	for _, c := range cases {
		m, err := Compile(doc(c.filter), Options{AllowNear: true})
		if err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		ok, _ := m.Match(env, doc(c.d))
		_, d, found := m.Root().(*Near).Nearest(doc(c.d))
		if ok != c.ok || found != c.ok || d < c.distance-0.1 || d > c.distance+0.1 {
			t.Errorf("%s on %s: %v, distance %v %v", c.filter, c.d, ok, d, found)
		}
	}
	for filter, want := range map[string]struct {
		code    mongoerr.Code
		message string
	}{
		`{p: {$near: [0, 0], $maxDistance: -1}}`:  {16896, "$maxDistance must be non-negative"},
		`{p: {$near: [0, 0], $minDistance: "x"}}`: {16893, "$minDistance must be a number"},
		`{p: {$near: [0, 0], $foo: 1}}`:           {34413, "invalid argument in geo near query: $foo"},
		`{p: {$near: {$maxDistance: 5}}}`:         {mongoerr.BadValue, "$geometry is required for geo near query"},
		`{p: {$nearSphere: [500, 0]}}`:            {mongoerr.BadValue, "Legacy point is out of bounds for spherical query"},
		`{p: {$near: {$geometry: {type: "Point", coordinates: [200, 0]}}}}`: {mongoerr.BadValue,
			`invalid point in geo near query $geometry argument: { type: "Point", coordinates: [ 200, 0 ] }  Longitude/latitude is out of bounds, lng: 200 lat: 0`},
	} {
		_, err := Compile(doc(filter), Options{AllowNear: true})
		if e := mongoerr.From(err); e == nil || e.Code != want.code || e.Message != want.message {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

func TestText(t *testing.T) {
	ix, err := text.NewIndex(doc(`{a: 1}`), "english", "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Compile(doc(`{$text: {$search: "coffee"}}`), Options{Text: ix})
	if err != nil {
		t.Fatal(err)
	}
	env := expr.NewEnv(0)
	if ok, _ := m.Match(env, doc(`{a: "coffee shop"}`)); !ok || env.Meta.Get(expr.MetaTextScore).Double() != 0.75 {
		t.Errorf("%v, score %v", ok, env.Meta.Get(expr.MetaTextScore))
	}
	if ok, _ := m.Match(env, doc(`{a: "tea"}`)); ok {
		t.Error("tea is coffee")
	}
	if got, want := m.Parsed().String(), `{ $text: { $search: "coffee", $language: "english", $caseSensitive: false, $diacriticSensitive: false } }`; got != want {
		t.Errorf("parsed %s", got)
	}
	_, err = Compile(doc(`{a: {$elemMatch: {$text: {$search: "x"}}}}`), Options{Text: ix})
	if e := mongoerr.From(err); e == nil || e.Message != "$text can only be applied to the top-level document" {
		t.Errorf("nested: %v", err)
	}
}

func TestElementMatcher(t *testing.T) {
	cases := []struct {
		condition string
		yes, nos  string
	}{
		{`{v: {$gte: 6}}`, `[6, 7]`, `[5, "x"]`},
		{`{v: {score: 8, item: "B"}}`, `[{score: 8, item: "B", x: 1}, {item: "B", score: 8}]`, `[{score: 8}, 8]`},
		{`{v: {q: {$elemMatch: {a: 1}}}}`, `[{q: [{a: 1}]}]`, `[{q: [{a: 2}]}]`},
		{`{v: {$in: ["x", "y"]}}`, `["x"]`, `["z"]`},
		{`{v: "x"}`, `["x"]`, `["y", 1]`},
		{`{v: {"$regularExpression": {pattern: "^x", options: ""}}}`, `["xy"]`, `["yx"]`},
		{`{v: {$or: [{a: 1}, {b: 2}]}}`, `[{b: 2}]`, `[{b: 3}]`},
	}
	for _, c := range cases {
		m, err := CompileElement(doc(c.condition).Lookup("v"), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.condition, err)
			continue
		}
		for _, side := range []struct {
			list string
			want bool
		}{{c.yes, true}, {c.nos, false}} {
			for v := range doc(`{v: ` + side.list + `}`).Lookup("v").Doc().Values() {
				if got, err := m.Match(expr.NewEnv(0), v); got != side.want || err != nil {
					t.Errorf("%s on %v: %v, %v", c.condition, v, got, err)
				}
			}
		}
	}
}

func TestArrayFilter(t *testing.T) {
	name, m, err := CompileArrayFilter(doc(`{"e.grade": {$gte: 80}, "e.std": {$gt: 5}}`), Options{})
	if err != nil || name != "e" {
		t.Fatalf("%q, %v", name, err)
	}
	for d, want := range map[string]bool{`{grade: 85, std: 6}`: true, `{grade: 85, std: 4}`: false} {
		if got, _ := m.Match(expr.NewEnv(0), value.Document(doc(d))); got != want {
			t.Errorf("%s: %v", d, got)
		}
	}
	_, m, err = CompileArrayFilter(doc(`{e: {$gte: 100}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := m.Match(expr.NewEnv(0), value.Int32(100)); !got {
		t.Error("100 is not >= 100")
	}
	for filter, want := range map[string]string{
		`{}`:           "Cannot use an expression without a top-level field name in arrayFilters",
		`{a: 1, b: 2}`: "Error parsing array filter :: caused by :: Expected a single top-level field name, found 'a' and 'b'",
		`{Bad: 1}`:     "Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found 'Bad'",
	} {
		_, _, err := CompileArrayFilter(doc(filter), Options{})
		if e := mongoerr.From(err); e == nil || e.Message != want {
			t.Errorf("%s: %v", filter, err)
		}
	}
}
