package stage_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// of reads a value.
func of(json string) value.Value { return value.MustJSON(`{"v": ` + json + `}`).Lookup("v") }

// TestFieldsOfCommands: errors and messages of mongod's IDL parser.
func TestFieldsOfCommands(t *testing.T) {
	if s, err := stage.StringField("$x", "f", of(`"s"`)); s != "s" || err != nil {
		t.Error(s, err)
	}
	if d, err := stage.ObjectField("$x", "f", of(`{"a": 1}`)); d.JSON() != `{"a":1}` || err != nil {
		t.Error(d, err)
	}
	if ss, err := stage.StringsField("$x", "f", of(`["a", "b"]`)); !slices.Equal(ss, []string{"a", "b"}) || err != nil {
		t.Error(ss, err)
	}
	_, err := stage.StringField("$x", "f", of(`1`))
	aggtest.CheckError(t, err, "14: BSON field '$x.f' is the wrong type 'int', expected type 'string'")
	_, err = stage.ObjectField("$x", "f", of(`[]`))
	aggtest.CheckError(t, err, "14: BSON field '$x.f' is the wrong type 'array', expected type 'object'")
	_, err = stage.StringsField("$x", "f", of(`"a"`))
	aggtest.CheckError(t, err, "14: BSON field '$x.f' is the wrong type 'string', expected type 'array'")
	_, err = stage.StringsField("$x", "f", of(`["a", true]`))
	aggtest.CheckError(t, err, "14: BSON field '$x.f.1' is the wrong type 'bool', expected type 'string'")
	aggtest.CheckError(t, stage.WrongTypes("$x", "f", of(`1.5`), "string, object"), "14: BSON field '$x.f' is the wrong type 'double', expected types '[string, object]'")
	aggtest.CheckError(t, stage.UnknownField("$x", "f"), "40415: BSON field '$x.f' is an unknown field.")
	aggtest.CheckError(t, stage.MissingField("$x", "f"), "40414: BSON field '$x.f' is missing but a required field")
	aggtest.CheckError(t, stage.WithPrefix(stage.MissingField("$x", "f"), "Failed"), "40414: Failed :: caused by :: BSON field '$x.f' is missing but a required field")
	for i := range stage.Enumerate(of(`[1, 2]`).Doc()) {
		if i > 0 {
			t.Error("goes on")
		}
		break
	}
}

// TestWholeNumbers: messages of mongod's parseNonNegativeLong.
func TestWholeNumbers(t *testing.T) {
	for json, want := range map[string]string{
		`"x"`:                         `9: Expected a number in: "x"`,
		`{"$numberDouble": "NaN"}`:    `9: Expected an integer, but found NaN in: nan`,
		`{"$numberDecimal": "NaN"}`:   `9: Cannot represent as a 64-bit integer: NaN`,
		`1e30`:                        `9: Cannot represent as a 64-bit integer: 1e+30`,
		`{"$numberDecimal": "1E+30"}`: `9: Cannot represent as a 64-bit integer: 1E+30`,
		`0.5`:                         `9: Expected an integer: 0.5`,
		`{"$numberDecimal": "0.5"}`:   `9: Cannot represent as a 64-bit integer: 0.5`,
		`{"$numberLong": "-3"}`:       `9: Expected a non-negative number in: -3`,
		`{"$numberDecimal": "2"}`:     ``,
		`{"$numberLong": "2"}`:        ``,
		`2.0`:                         ``,
		`2`:                           ``,
	} {
		n, err := stage.NonNegative(9, of(json))
		if want != "" {
			aggtest.CheckError(t, err, want)
		} else if n != 2 || err != nil {
			t.Error(json, n, err)
		}
	}
}

func TestShapesOfArguments(t *testing.T) {
	for json, want := range map[string]bool{`"$a"`: true, `"a"`: false, `{"$add": 1}`: true, `{"a": 1}`: false, `{}`: false, `1`: false} {
		if got := stage.IsExpressionLike(of(json)); got != want {
			t.Errorf("%s: %t", json, got)
		}
	}
	if got := stage.WithoutNulls(value.MustJSON(`{"a": null, "b": 1, "c": null, "d": {"$undefined": true}}`), "c").JSON(); got != `{"b":1,"c":null}` {
		t.Error(got)
	}
	for json, want := range map[string]bool{
		`[{"$project": {"a": {"$function": {}}}}]`: true, `[{"$project": {"a": [1, {"$_internalJsEmit": {}}]}}]`: true,
		`[{"$project": {"a": "$function"}}]`: false, `1`: false,
	} {
		if got := stage.RunsScripts(of(json)); got != want {
			t.Errorf("%s: %t", json, got)
		}
	}
	p := &stage.Parser{}
	if c, ok, err := p.Constant(of(`{"$add": [1, 2]}`)); !ok || err != nil || c.JSON() != "3" {
		t.Error(c, ok, err)
	}
	if _, ok, err := p.Constant(of(`"$a"`)); ok || err != nil {
		t.Error(ok, err)
	}
	_, _, err := p.Constant(of(`{"$foo": 1}`))
	aggtest.CheckError(t, err, "168: Unrecognized expression '$foo'")
}

// TestNamesOfCollections follows mongod's NamespaceString.
func TestNamesOfCollections(t *testing.T) {
	for coll, want := range map[string]bool{"c": true, "c.d": true, "": false, ".c": false, "a\x00b": false, "a$b": true} {
		if got := stage.ValidCollection(coll); got != want {
			t.Errorf("%q: %t", coll, got)
		}
	}
	for _, tt := range []struct {
		db, coll string
		want     bool
	}{{"d", "c", true}, {"d", "", false}, {"d", "a$b", false}, {"d", ".c", false}, {"", "c", false}, {"a.b", "c", false}, {"a b", "c", false}, {"a/b", "c", false}, {"d", "c\x00", false}} {
		if got := stage.ValidTarget(tt.db, tt.coll); got != tt.want {
			t.Errorf("%q %q: %t", tt.db, tt.coll, got)
		}
	}
	for db, want := range map[string]bool{"admin": true, "config": true, "local": true, "test": false, "Admin": false} {
		if got := stage.IsInternalDB(db); got != want {
			t.Error(db, got)
		}
	}
}

func TestPathsThatMeet(t *testing.T) {
	for _, tt := range []struct {
		a, b   string
		meet   bool
		inside bool // a in b
	}{{"a", "a", true, false}, {"a.b", "a", true, true}, {"a", "a.b", true, false}, {"ab", "a", false, false}, {"a.b", "a.c", false, false}} {
		if stage.Overlaps(tt.a, tt.b) != tt.meet || stage.Inside(tt.a, tt.b) != tt.inside || stage.OverlapsAny(tt.a, []string{"z", tt.b}) != tt.meet {
			t.Error(tt)
		}
	}
	for _, tt := range []struct {
		doc, want string
		plain     bool
	}{
		{`{"a": {"b": 5}}`, `5`, true}, {`{"a": {}}`, `null`, true}, {`{}`, `null`, true}, {`{"a": 5}`, `null`, true},
		{`{"a": [{"b": 1}]}`, ``, false}, {`{"a": {"b": [1]}}`, ``, false}, {`{"a": {"b": {"c": 1}}}`, `{"c":1}`, true},
	} {
		v, plain := stage.PlainPath(value.MustJSON(tt.doc), []string{"a", "b"})
		if plain != tt.plain || plain && v.JSON() != tt.want {
			t.Error(tt.doc, v, plain)
		}
	}
}

// TestSetter: as $addFields does, a path goes into the elements of arrays.
func TestSetter(t *testing.T) {
	for _, tt := range []struct{ doc, path, v, want string }{
		{`{"a": [{"b": 1}, 5, []]}`, "b", `9`, `{"a":[{"b":1},5,[]],"b":9}`},
		{`{"a": [{"b": 1, "c": 2}, 5]}`, "a.b", `9`, `{"a":[{"b":9,"c":2},{"b":9}]}`},
		{`{"a": [[{"b": 1}]]}`, "a.b", `9`, `{"a":[[{"b":9}]]}`},
		{`{"a": {"b": 1}}`, "a.b", `9`, `{"a":{"b":9}}`},
		{`{"a": 5}`, "a.b", `9`, `{"a":{"b":9}}`},
		{`{}`, "a.b", `9`, `{"a":{"b":9}}`},
	} {
		if got := stage.NewSetter([]string{tt.path}).Set(value.MustJSON(tt.doc), []value.Value{of(tt.v)}).JSON(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.doc, got, tt.want)
		}
	}
	if got := stage.SetPath(value.MustJSON(`{"a": 5}`), []string{"a", "b"}, value.Value{}).JSON(); got != `{"a":5}` {
		t.Error(got)
	}
	aggtest.CheckError(t, stage.CheckFieldPath("a..b"), "15998: FieldPath field names may not be empty strings.")
	aggtest.CheckError(t, stage.CheckFieldPath("a."), "40353: FieldPath must not end with a '.'.")
}

// A setter of several paths does what setters of one path do one after the other.
func TestSetterOfManyPaths(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := aggtest.GenDoc(r, 1)
		paths := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "a.b", "a.c", "b.c", "b.a.c", "c.a.b", "c.a.c", "d.a"}), 1, 6, rapid.ID[string]).Draw(r, "paths")
		all := slices.Clone(paths)
		paths = slices.DeleteFunc(paths, func(p string) bool { // without those within others
			return slices.ContainsFunc(all, func(other string) bool { return stage.Inside(p, other) })
		})
		values, want := make([]value.Value, len(paths)), d
		for i, path := range paths {
			if rapid.IntRange(0, 4).Draw(r, "value") > 0 {
				values[i] = value.Int32(int32(100 + i))
			}
			want = stage.NewSetter([]string{path}).Set(want, values[i:i+1])
		}
		if got := stage.NewSetter(paths).Set(d, values); !bytes.Equal(got, want) {
			r.Fatalf("%s with %v = %v: %s, want %s", d, paths, values, got, want)
		}
	})
}

// TestRulesOfOptions: rules that depend on what a pipeline is for.
func TestRulesOfOptions(t *testing.T) {
	for _, tt := range []struct {
		o        stage.Options
		pipeline string
		err      string
	}{
		{stage.Options{DB: "test"}, `[]`, "73: {aggregate: 1} is not valid for an empty pipeline."},
		{stage.Options{DB: "test", Coll: "c", View: "v"}, `[{"$out": "x"}]`, "167: The aggregation stage $out in location 0 of the pipeline cannot be used in the view definition of v because it writes to disk"},
		{stage.Options{DB: "test", Coll: "c", View: "v"}, `[{"$match": {}}, {"$merge": "x"}]`, "167: The aggregation stage $merge in location 1 of the pipeline cannot be used in the view definition of v because it writes to disk"},
		{stage.Options{DB: "test", Coll: "c", View: "v"}, `[{"$changeStream": {}}]`, "167: $changeStream cannot be used in a view definition"},
		{stage.Options{DB: "test", Coll: "c", View: "v"}, `[{"$documents": []}]`, "73: '$documents' cannot be used in a view definition"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$facet": {"a": [{"$facet": {"b": []}}]}}]`, "40600: $facet is not allowed to be used within a $facet stage"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$facet": {"a": [{"$out": "x"}]}}]`, "40600: $out is not allowed to be used within a $facet stage"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$facet": {"a": [{"$indexStats": {}}]}}]`, "40600: $indexStats is not allowed to be used within a $facet stage"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$facet": {"a": [{"$lookup": {"from": "x", "as": "y", "pipeline": [{"$collStats": {}}]}}]}}]`, "40600: $collStats inside of $lookup is not allowed to be used within a $facet stage"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$lookup": {"from": "x", "as": "y", "pipeline": [{"$changeStream": {}}]}}]`, "51047: $changeStream is not allowed within a $lookup's sub-pipeline"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$unionWith": {"coll": "x", "pipeline": [{"$merge": "y"}]}}]`, "31441: $merge is not allowed within a $unionWith's sub-pipeline"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$out": "x"}, {"$match": {}}]`, "40601: $out can only be the final stage in the pipeline"},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}, {"$match": {}}]`, "7182802: $changeStreamSplitLargeEvent must be the last stage in the pipeline"},
		{stage.Options{DB: "test", Coll: "c", Update: true}, `[{"$sort": {"a": 1}}]`, "72: $sort is not allowed to be used within an update"},
		{stage.Options{DB: "test", Coll: "c", Metadata: []expr.MetaKind{expr.MetaTextScore}}, `[{"$project": {"s": {"$meta": "textScore"}}}]`, ""},
		{stage.Options{DB: "test", Coll: "c"}, `[{"$facet": {"a": [{"$project": {"s": {"$meta": "textScore"}}}]}}]`, ""},
	} {
		t.Run(tt.pipeline, func(t *testing.T) {
			_, err := agg.Compile(aggtest.Array(t, tt.pipeline), tt.o)
			if tt.err != "" {
				aggtest.CheckError(t, err, tt.err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNamesOfStages(t *testing.T) {
	l := stage.NewLanguage([]stage.Definition{{Name: "$b"}, {Name: "$a"}, {Name: "$c", Flags: stage.Refused}}, nil)
	if got := l.Names(); !slices.Equal(got, []string{"$a", "$b"}) {
		t.Error(got)
	}
	if l.Stage("$c") == nil || l.Stage("$d") != nil {
		t.Error("wrong stages")
	}
}
