package index

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func TestTextKeys(t *testing.T) {
	s := mustParse(t, `{"key":{"n":1,"a":"text"},"weights":{"b":10}}`)
	got, multikey := entries(t, s, `{"n":7,"a":"running dogs","b":"Dog"}`)
	for _, want := range []string{`{ n: 7, _fts: "dog", _ftsx: `, `{ n: 7, _fts: "run", _ftsx: `} {
		if !strings.Contains(got, want) {
			t.Errorf("%s misses %s", got, want)
		}
	}
	if !multikey {
		t.Error("two terms do not make the index multikey")
	}
	if got, _ := entries(t, s, `{"n":7}`); got != "" {
		t.Errorf("a document without text has keys: %s", got)
	}
}

func TestGeoKeyErrors(t *testing.T) {
	tests := []struct {
		spec, doc string
		code      mongoerr.Code
	}{
		{`{"key":{"g":"2dsphere"}}`, `{"g":"x"}`, 16755},
		{`{"key":{"g":"2dsphere"}}`, `{"g":[200,0]}`, 16755},
		{`{"key":{"g":"2dsphere"}}`, `{"g":{"type":"Point","coordinates":[1]}}`, 16755},
		{`{"key":{"g":"2d"}}`, `{"g":[200,0]}`, 13027},
		{`{"key":{"g":"2d"}}`, `{"g":["a","b"]}`, 16804},
		{`{"key":{"g":"2d"}}`, `{"g":{"type":"Point","coordinates":[1,2]}}`, 16804},
		{`{"key":{"g":"2d"}}`, `{"g":[{"type":"Point","coordinates":[1,2]}]}`, 13026},
		{`{"key":{"g":"2d"}}`, `{"g":[1,"b"]}`, 13026},
		{`{"key":{"g":"2dsphere"}}`, `{"g":null}`, 0},
		{`{"key":{"g":"2dsphere"}}`, `{"x":1}`, 0},
		{`{"key":{"g":"2dsphere"}}`, `{"g":{}}`, 0},
		{`{"key":{"g":"2dsphere"}}`, `{"g":[]}`, 0},
		{`{"key":{"l.g":"2dsphere"}}`, `{"l":[{"g":{}},{"g":{}},{"x":1}]}`, 0},
		{`{"key":{"g":"2d"}}`, `{"g":"x"}`, 0},
	}
	for _, tt := range tests {
		keys, _, err := mustParse(t, tt.spec).Keys(nil, storage.Record{Doc: value.MustJSON(tt.doc)})
		if got := mongoerr.CodeOf(err); got != tt.code {
			t.Errorf("%s of %s: %v", tt.spec, tt.doc, err)
		}
		if len(keys) != 0 {
			t.Errorf("%s of %s: %d keys", tt.spec, tt.doc, len(keys))
		}
	}
}

// An empty geometry is ignored if it is the only one; a document that also has
// another geometry is refused (mongod's get2DSphereKeys;
// https://github.com/payloadcms/payload/issues/10849).
func TestEmptyGeometryBesideAnother(t *testing.T) {
	const point = `{"g":{"type":"Point","coordinates":[1,1]}}`
	s := mustParse(t, `{"key":{"l.g":"2dsphere"}}`)
	for doc, want := range map[string]string{
		`{"l":[` + point + `,{"g":{}}]}`:         `unknown GeoJSON type: {}`,
		`{"l":[` + point + `,{"g":null}]}`:       `geo element must be an array or object: g: null`,
		`{"l":[{"g":null},{"g":{}}]}`:            `geo element must be an array or object: g: null`,
		`{"l":[{"g":"x"}]}`:                      `geo element must be an array or object: g: "x"`,
		`{"l":{"g":{"lng":"1"}}}`:                `unknown GeoJSON type: { lng: "1" }`,
		`{"l":[` + point + `,{},{"g":[5,5,5]}]}`: ``,
		`{"l":{"g":{"x":1,"y":2,"type":"p"}}}`:   ``,
	} {
		_, _, err := s.Keys(nil, storage.Record{Doc: value.MustJSON(doc)})
		if want == "" && err == nil {
			continue
		}
		if mongoerr.CodeOf(err) != 16755 || want == "" || !strings.HasSuffix(err.Error(), "  "+want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}

func drawPoint(t *rapid.T) string {
	return fmt.Sprintf("[%d,%d]", rapid.IntRange(-20, 20).Draw(t, "x"), rapid.IntRange(-20, 20).Draw(t, "y"))
}

func drawGeoFilter(t *rapid.T, spec string) string {
	if strings.Contains(spec, "2dsphere") {
		point := `{"$geometry":{"type":"Point","coordinates":` + drawPoint(t) + `}`
		return rapid.SampledFrom([]string{
			`{"g":{"$geoWithin":{"$centerSphere":[` + drawPoint(t) + `,0.2]}}}`,
			`{"g":{"$geoIntersects":` + point + `}}}`,
			`{"g":{"$near":` + point + `,"$maxDistance":1000000}}}`,
			`{"g":{"$near":` + point + `}},"n":{"$gt":1}}`,
			`{"g":{"$geoWithin":{"$geometry":{"type":"Polygon","coordinates":[[[0,0],[15,0],[15,15],[0,15],[0,0]]]}}},"n":2}`,
		}).Draw(t, "filter")
	}
	return rapid.SampledFrom([]string{
		`{"g":{"$geoWithin":{"$box":[` + drawPoint(t) + `,` + drawPoint(t) + `]}}}`,
		`{"g":{"$geoWithin":{"$center":[` + drawPoint(t) + `,7]}},"n":1}`,
		`{"g":{"$geoWithin":{"$polygon":[` + drawPoint(t) + `,` + drawPoint(t) + `,` + drawPoint(t) + `]}}}`,
		`{"g":{"$near":` + drawPoint(t) + `,"$maxDistance":9}}`,
		`{"g":{"$near":` + drawPoint(t) + `}}`,
	}).Draw(t, "filter")
}

func TestGeoIndexNeverHidesAMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]string{`{"key":{"g":"2dsphere"}}`, `{"key":{"n":1,"g":"2dsphere"}}`, `{"key":{"g":"2dsphere","n":-1}}`, `{"key":{"g":"2d"}}`, `{"key":{"g":"2d","n":1},"bits":9}`}).Draw(t, "spec")
		s, err := Parse(withName(value.MustJSON(spec)), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		st := &store{}
		for range 8 {
			st.add(s, fmt.Sprintf(`{"g":%s,"n":%d}`, drawPoint(t), rapid.IntRange(0, 3).Draw(t, "n")))
		}
		st.add(s, `{"n":1}`)
		if strings.Contains(spec, "2dsphere") {
			st.add(s, `{"n":2,"g":{"type":"LineString","coordinates":[`+drawPoint(t)+`,[30,31]]}}`)
		} else {
			st.add(s, `{"n":1,"g":[`+drawPoint(t)+`,`+drawPoint(t)+`]}`)
		}
		m, err := match.Compile(value.MustJSON(drawGeoFilter(t, spec)), match.Options{AllowNear: true})
		if err != nil {
			t.Skip(err)
		}
		p, err := plan.Make(&plan.Query{Matcher: m}, st.collection(s))
		bound := s.Fields[0].Path == "g" || m.Filter().Has("n")
		if !bound && mongoerr.Is(err, mongoerr.NoQueryExecutionPlans) {
			return // $near cannot do without the fields before
		}
		if err != nil {
			t.Fatal(err)
		}
		if bound && p.Index == nil {
			t.Fatalf("%s does not use %s", m.Filter(), spec)
		}
		if err := planProblem(st, m, p, s); err != "" {
			t.Fatal(err)
		}
	})
}

func TestTextIndexNeverHidesAMatch(t *testing.T) {
	words := []string{"dog", "dogs", "running", "run", "the", "Café", "cat"}
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]string{`{"key":{"a":"text"}}`, `{"key":{"n":1,"a":"text"}}`, `{"key":{"$**":"text"}}`, `{"key":{"a":"text","n":-1}}`}).Draw(t, "spec")
		s, err := Parse(withName(value.MustJSON(spec)), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		phrase := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "words"), " ")
		}
		st := &store{}
		for range 6 {
			st.add(s, fmt.Sprintf(`{"a":%q,"n":%d}`, phrase(), rapid.IntRange(0, 1).Draw(t, "n")))
		}
		m, err := match.Compile(value.MustJSON(fmt.Sprintf(`{"n":1,"$text":{"$search":%q}}`, phrase())), match.Options{Text: s.TextIndex()})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(&plan.Query{Matcher: m}, st.collection(s))
		if err != nil {
			t.Fatal(err)
		}
		if p.Index == nil || p.Text == nil {
			t.Fatal("the text index is not used")
		}
		if err := planProblem(st, m, p, s); err != "" {
			t.Fatal(err)
		}
	})
}

func TestSpecialIndexMissing(t *testing.T) {
	text := mustParse(t, `{"key":{"n":1,"a":"text"}}`)
	plain := mustParse(t, `{"key":{"a":1}}`)
	tests := []struct {
		filter string
		have   *Spec
		code   mongoerr.Code
		msg    string
	}{
		{`{"$text":{"$search":"x"}}`, plain, 27, "text index required for $text query"},
		{`{"$or":[{"$text":{"$search":"x"}},{"z":1}]}`, text, 291, "Failed to produce a solution for TEXT under OR"},
		{`{"$text":{"$search":"x"}}`, text, 291, "failed to use text index to satisfy $text query (if text index is compound, are equality predicates given for all prefix fields?)"},
		{`{"a":{"$near":[0,0]}}`, plain, 291, "unable to find index for $geoNear query"},
		{`{"a":{"$near":{"$geometry":{"type":"Point","coordinates":[0,0]}}}}`, mustParse(t, `{"key":{"a":"2d"}}`), 291, "unable to find index for $geoNear query"},
		{`{"a":{"$nearSphere":[0,0]}}`, mustParse(t, `{"key":{"a":"2d"}}`), 0, ""},
		{`{"a":{"$near":[0,0]}}`, mustParse(t, `{"key":{"a":"2dsphere"}}`), 291, "unable to find index for $geoNear query"},
	}
	for _, tt := range tests {
		m, err := match.Compile(value.MustJSON(tt.filter), match.Options{Text: text.TextIndex(), AllowNear: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Make(&plan.Query{Matcher: m, NS: "db.c"}, (&store{}).collection(tt.have))
		if got := mongoerr.CodeOf(err); got != tt.code || err != nil && !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("%s: %v", tt.filter, err)
		}
	}
}

// The greatest _id of a clustered collection is one with a record id of 8 MB in mongod: two
// bytes more than a string has, and its bytes count, not its characters.
func TestClusteredKeySize(t *testing.T) {
	s := mustParse(t, `{"key":{"_id":1},"name":"_id_","clustered":true,"unique":true}`)
	for _, test := range []struct {
		id value.Value
		ok bool
	}{
		{value.String(strings.Repeat("x", 8<<20-2)), true},
		{value.String(strings.Repeat("x", 8<<20-1)), false},
		{value.String(strings.Repeat("\u4e00", (8<<20-2)/3)), true},
		{value.String(strings.Repeat("\u4e00", (8<<20-2)/3+1)), false},
	} {
		_, _, err := s.Keys(nil, storage.Record{ID: 1, Doc: value.NewDoc("_id", test.id)})
		if (err == nil) != test.ok {
			t.Errorf("an _id of %d bytes: %v", len(test.id.Str()), err)
		}
	}
}
