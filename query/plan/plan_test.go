package plan

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// testIndex describes an index by its key pattern and flags: "multikey",
// "sparse", "unique", "hidden", "collation", or a partial filter.
func testIndex(t testing.TB, key string, flags ...string) *Index {
	t.Helper()
	x := &Index{Key: value.MustJSON(key), Version: 2, Entries: 1000, Hash: value.HashedKey}
	for path, v := range x.Key.All() {
		f := Field{Path: path, Desc: v.IsNumber() && v.AsDouble() < 0}
		x.Name += path + "_"
		switch {
		case v.Str() == "hashed":
			f.Kind = Hashed
		case path == "$**":
			f.Kind, f.Path = Wildcard, ""
			x.Takes = func(path string) bool { return path != "_id" }
			x.TakesAll = x.Takes
		}
		x.Fields = append(x.Fields, f)
	}
	SetPlaces(x.Fields)
	if x.Name == "_id_" {
		x.Unique = true
	}
	for _, flag := range flags {
		switch flag {
		case "multikey":
			x.Multikey = ^Multikey(0)
		case "sparse":
			x.Sparse = true
		case "unique":
			x.Unique = true
		case "hidden":
			x.Hidden = true
		case "collation":
			c := french(t)
			x.Collation, x.CollationDoc = c, c.Doc()
		default:
			x.Partial = compile(t, flag)
		}
	}
	return x
}

func french(t testing.TB) *collation.Collation {
	c, err := collation.Parse(value.MustJSON(`{"locale":"fr","strength":1}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compile(t testing.TB, filter string) *match.Matcher {
	t.Helper()
	m, err := match.Compile(value.MustJSON(filter), match.Options{AllowNear: true})
	if err != nil {
		t.Fatalf("%s: %v", filter, err)
	}
	return m
}

func boundsOf(p *Plan) string {
	switch p.Type {
	case CollScan:
		return "COLLSCAN"
	case Nothing:
		return "EOF"
	case Union:
		var parts []string
		for _, part := range p.Parts {
			parts = append(parts, boundsOf(part))
		}
		return "OR(" + strings.Join(parts, " | ") + ")"
	}
	b := value.NewBuilder()
	p.describeBounds(b)
	return b.Doc().Lookup("indexBounds").String()
}

func TestBounds(t *testing.T) {
	tests := []struct{ key, flags, filter, want string }{
		{`{"a":1}`, "", `{"a":5}`, `{ a: [ "[5, 5]" ] }`},
		{`{"a":1}`, "", `{"a":5.5}`, `{ a: [ "[5.5, 5.5]" ] }`},
		{`{"a":1}`, "", `{"a":{"$gt":5}}`, `{ a: [ "(5, inf.0]" ] }`},
		{`{"a":1}`, "", `{"a":{"$lt":5}}`, `{ a: [ "[-inf.0, 5)" ] }`},
		{`{"a":1}`, "", `{"a":{"$gte":1,"$lt":5}}`, `{ a: [ "[1, 5)" ] }`},
		{`{"a":-1}`, "", `{"a":{"$gte":1,"$lt":5}}`, `{ a: [ "(5, 1]" ] }`},
		{`{"a":1}`, "", `{"a":{"$gt":5,"$lt":1}}`, `{ a: [] }`},
		{`{"a":1}`, "multikey", `{"a":{"$gt":5,"$lt":1}}`, `{ a: [ "(5, inf.0]" ] }`},
		{`{"a":1}`, "multikey", `{"a":{"$elemMatch":{"$gt":1,"$lt":5}}}`, `{ a: [ "(1, 5)" ] }`},
		{`{"a":1}`, "", `{"a":{"$in":[3,1,2]}}`, `{ a: [ "[1, 1]", "[2, 2]", "[3, 3]" ] }`},
		{`{"a":-1}`, "", `{"a":{"$in":[3,1]}}`, `{ a: [ "[3, 3]", "[1, 1]" ] }`},
		{`{"a":1}`, "", `{"a":{"$in":[1,{"$regularExpression":{"pattern":"^x","options":""}}]}}`, `{ a: [ "[1, 1]", "["x", "y")", "[/^x/, /^x/]" ] }`},
		{`{"a":1}`, "", `{"a":{"$gt":"m"}}`, `{ a: [ "("m", {})" ] }`},
		{`{"a":1}`, "", `{"a":{"$lte":"m"}}`, `{ a: [ "["", "m"]" ] }`},
		{`{"a":1}`, "", `{"a":{"$regex":"^ab"}}`, `{ a: [ "["ab", "ac")", "[/^ab/, /^ab/]" ] }`},
		{`{"a":1}`, "", `{"a":{"$regex":"ab"}}`, `{ a: [ "["", {})", "[/ab/, /ab/]" ] }`},
		{`{"a":1}`, "", `{"a":{"$regex":"^ab","$options":"i"}}`, `{ a: [ "["", {})", "[/^ab/i, /^ab/i]" ] }`},
		{`{"a":1}`, "", `{"a":null}`, `{ a: [ "[null, null]" ] }`},
		{`{"a":1}`, "", `{"a":{"$exists":false}}`, `{ a: [ "[null, null]" ] }`},
		{`{"a":1}`, "", `{"a":{"$ne":5}}`, `{ a: [ "[MinKey, 5)", "(5, MaxKey]" ] }`},
		{`{"a":1}`, "", `{"a":{"$nin":[1,2]}}`, `{ a: [ "[MinKey, 1)", "(1, 2)", "(2, MaxKey]" ] }`},
		{`{"a":1}`, "", `{"a":{"$ne":null}}`, `{ a: [ "[MinKey, null)", "(null, MaxKey]" ] }`},
		{`{"a":1}`, "multikey", `{"a":{"$ne":null}}`, `COLLSCAN`},
		{`{"a":1}`, "", `{"a":{"$not":{"$gt":5}}}`, `{ a: [ "[MinKey, 5]", "(inf.0, MaxKey]" ] }`},
		{`{"a":1}`, "", `{"a":{"$type":"bool"}}`, `{ a: [ "[false, true]" ] }`},
		{`{"a":1}`, "", `{"a":{"$gt":{"$date":{"$numberLong":"5"}}}}`, `{ a: [ "(new Date(5), new Date(9223372036854775807)]" ] }`},
		{`{"a":1}`, "", `{"a":{"$lt":{"$oid":"0102030405060708090a0b0c"}}}`, `{ a: [ "[ObjectId('000000000000000000000000'), ObjectId('0102030405060708090a0b0c'))" ] }`},
		{`{"a":1}`, "", `{"a":[1,2]}`, `{ a: [ "[1, 1]", "[[ 1, 2 ], [ 1, 2 ]]" ] }`},
		{`{"a":1}`, "", `{"a":{"$mod":[2,0]}}`, `{ a: [ "[nan, inf.0]" ] }`},
		{`{"a":1}`, "", `{"a":{"$size":2}}`, `COLLSCAN`},
		{`{"a":1}`, "", `{"b":2}`, `COLLSCAN`},
		{`{"a":1}`, "", `{}`, `COLLSCAN`},
		{`{"a":1}`, "", `{"a":{"$in":[]}}`, `EOF`},
		{`{"a":1}`, "", `{"$alwaysFalse":1}`, `EOF`},
		{`{"a":1}`, "", `{"$and":[{"a":{"$gt":1}},{"a":{"$lt":9}}]}`, `{ a: [ "(1, 9)" ] }`},
		{`{"a":1}`, "", `{"$nor":[{"a":5}]}`, `{ a: [ "[MinKey, 5)", "(5, MaxKey]" ] }`},
		{`{"a":1}`, "", `{"$or":[{"a":1},{"a":{"$gt":7}}]}`, `OR({ a: [ "[1, 1]" ] } | { a: [ "(7, inf.0]" ] })`},
		{`{"a":1}`, "", `{"$or":[{"a":1},{"b":1}]}`, `COLLSCAN`},
		{`{"a":1}`, "", `{"b":1,"$or":[{"a":1},{"a":2,"c":3}]}`, `OR({ a: [ "[1, 1]" ] } | { a: [ "[2, 2]" ] })`},

		{`{"a":1,"b":1}`, "", `{"a":1,"b":{"$gt":2}}`, `{ a: [ "[1, 1]" ], b: [ "(2, inf.0]" ] }`},
		{`{"a":1,"b":-1}`, "", `{"a":1}`, `{ a: [ "[1, 1]" ], b: [ "[MaxKey, MinKey]" ] }`},
		{`{"a":1,"b":1}`, "", `{"b":1}`, `COLLSCAN`},
		{`{"a":1,"b":1}`, "multikey", `{"a":1,"b":2}`, `{ a: [ "[1, 1]" ], b: [ "[2, 2]" ] }`},
		{`{"a.b":1,"a.c":1}`, "", `{"a.b":1,"a.c":2}`, `{ a.b: [ "[1, 1]" ], a.c: [ "[2, 2]" ] }`},
		{`{"a.b":1,"a.c":1}`, "multikey", `{"a.b":1,"a.c":2}`, `{ a.b: [ "[1, 1]" ], a.c: [ "[MinKey, MaxKey]" ] }`},
		{`{"a.b":1,"a.c":1}`, "multikey", `{"a":{"$elemMatch":{"b":1,"c":2}}}`, `{ a.b: [ "[1, 1]" ], a.c: [ "[2, 2]" ] }`},
		{`{"a.b":1,"a.c":1}`, "multikey", `{"$and":[{"a":{"$elemMatch":{"b":1}}},{"a":{"$elemMatch":{"c":2}}}]}`, `{ a.b: [ "[1, 1]" ], a.c: [ "[MinKey, MaxKey]" ] }`},
		{`{"a.b":1}`, "multikey", `{"a":{"$elemMatch":{"b":{"$gt":1,"$lt":5}}}}`, `{ a.b: [ "(1, inf.0]" ] }`},

		{`{"a":1}`, "sparse", `{"a":5}`, `{ a: [ "[5, 5]" ] }`},
		{`{"a":1}`, "sparse", `{"a":null}`, `COLLSCAN`},
		{`{"a":1}`, "sparse", `{"a":{"$ne":5}}`, `COLLSCAN`},
		{`{"a":1,"b":1}`, "sparse", `{"a":null,"b":5}`, `{ a: [ "[null, null]" ], b: [ "[5, 5]" ] }`},
		{`{"a":1}`, "hidden", `{"a":5}`, `COLLSCAN`},
		{`{"a":1}`, `{"b":{"$gt":5}}`, `{"a":1,"b":{"$gt":7}}`, `{ a: [ "[1, 1]" ] }`},
		{`{"a":1}`, `{"b":{"$gt":5}}`, `{"a":1,"b":{"$gt":5}}`, `{ a: [ "[1, 1]" ] }`},
		{`{"a":1}`, `{"b":{"$gt":5}}`, `{"a":1,"b":6}`, `{ a: [ "[1, 1]" ] }`},
		{`{"a":1}`, `{"b":{"$gt":5}}`, `{"a":1,"b":{"$gte":5}}`, `COLLSCAN`},
		{`{"a":1}`, `{"b":{"$gt":5}}`, `{"a":1}`, `COLLSCAN`},
		{`{"a":1}`, `{"b":{"$exists":true}}`, `{"a":1,"b":{"$gte":5}}`, `{ a: [ "[1, 1]" ] }`},
		{`{"a":1}`, `{"b":{"$exists":true}}`, `{"a":1,"b":null}`, `COLLSCAN`},
		{`{"a":1}`, `{"a":{"$gt":0}}`, `{"a":{"$in":[1,2]}}`, `{ a: [ "[1, 1]", "[2, 2]" ] }`},
		{`{"a":1}`, `{"$or":[{"b":1},{"c":1}]}`, `{"a":1,"c":1}`, `{ a: [ "[1, 1]" ] }`},
		{`{"a":1}`, `{"b":{"$in":[1,2]}}`, `{"a":1,"$or":[{"b":1,"x":1},{"b":2}]}`, `{ a: [ "[1, 1]" ] }`},

		{`{"a":1}`, "collation", `{"a":5}`, `{ a: [ "[5, 5]" ] }`},
		{`{"a":1}`, "collation", `{"a":"x"}`, `COLLSCAN`},
		{`{"a":1}`, "collation", `{"a":{"$in":[1,"x"]}}`, `COLLSCAN`},
		{`{"a":1,"b":1}`, "collation", `{"a":5,"b":"x"}`, `{ a: [ "[5, 5]" ], b: [ "[MinKey, MaxKey]" ] }`},

		{`{"a":"hashed"}`, "", `{"a":"abc"}`, `{ a: [ "[8478485326885698097, 8478485326885698097]" ] }`},
		{`{"a":"hashed"}`, "", `{"a":{"$gt":1}}`, `COLLSCAN`},
		{`{"a":"hashed"}`, "", `{"a":null}`, `{ a: [ "[2338878944348059895, 2338878944348059895]" ] }`},
		{`{"$**":1}`, "", `{"x.y":{"$gt":3}}`, `{ $_path: [ "["x.y", "x.y"]" ], x.y: [ "(3, inf.0]" ] }`},
		{`{"$**":1}`, "", `{"x":null}`, `COLLSCAN`},
		{`{"$**":1}`, "", `{"x":{"y":1}}`, `COLLSCAN`},
		{`{"$**":1}`, "", `{"_id":{"$gt":1}}`, `COLLSCAN`},
		{`{"a":1}`, "", `{"a":{"$gt":{"$minKey":1}}}`, `{ a: [ "(MinKey, MaxKey]" ] }`},
		{`{"a":1}`, "", `{"a":{"$lte":{"$numberDouble":"NaN"}}}`, `{ a: [ "[nan, nan]" ] }`},
	}
	for _, tt := range tests {
		var flags []string
		if tt.flags != "" {
			flags = append(flags, tt.flags)
		}
		x := testIndex(t, tt.key, flags...)
		p, err := Make(&Query{Matcher: compile(t, tt.filter)}, &Collection{Indexes: []*Index{x}, Count: 1000})
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		if got := boundsOf(p); got != tt.want {
			t.Errorf("%s %s, %s:\n got %s\nwant %s", tt.key, tt.flags, tt.filter, got, tt.want)
		}
	}
}

func TestSort(t *testing.T) {
	tests := []struct {
		key, flags, filter, sort string
		sorted, reverse, merge   bool
	}{
		{`{"a":1}`, "", `{}`, `{"a":1}`, true, false, false},
		{`{"a":1}`, "", `{}`, `{"a":-1}`, true, true, false},
		{`{"a":1}`, "multikey", `{}`, `{"a":1}`, true, false, false},
		{`{"a":1}`, "multikey", `{"a":{"$gt":3}}`, `{"a":1}`, false, false, false},
		{`{"a":1}`, "", `{"a":{"$gt":3}}`, `{"a":1}`, true, false, false},
		{`{"a":1,"b":1}`, "", `{"a":1}`, `{"b":1}`, true, false, false},
		{`{"a":1,"b":1}`, "", `{"a":1}`, `{"b":-1}`, true, true, false},
		{`{"a":1,"b":1}`, "", `{"a":1}`, `{"a":-1,"b":1}`, true, false, false},
		{`{"a":1,"b":1}`, "", `{}`, `{"a":1,"b":-1}`, false, false, false},
		{`{"a":1,"b":-1}`, "", `{}`, `{"a":-1,"b":1}`, true, true, false},
		{`{"a":1,"b":1}`, "", `{"a":{"$gt":1}}`, `{"b":1}`, false, false, false},
		{`{"a":1,"b":1}`, "", `{"a":{"$in":[1,2]}}`, `{"b":1}`, true, false, true},
		{`{"a":1,"b":1}`, "", `{"a":{"$in":[1,2]}}`, `{"b":-1}`, true, true, true},
		{`{"a":1,"b":1}`, "", `{"a":{"$in":[1,2]}}`, `{"a":1,"b":1}`, true, false, false},
		{`{"a":1,"b":1}`, "", `{"a":{"$in":[1,2]},"b":{"$in":[1,2]}}`, `{"b":1}`, false, false, false},
		{`{"a":1,"b":1,"c":1}`, "", `{"a":{"$in":[1,2]},"b":5}`, `{"c":1}`, true, false, true},
		{`{"a":1,"b":1,"c":1}`, "", `{"a":{"$in":[1,2]},"b":{"$gt":5}}`, `{"b":1}`, true, false, true},
		{`{"a":1}`, "", `{"a":1}`, `{"b":1}`, false, false, false},
		{`{"a":1}`, "sparse", `{}`, `{"a":1}`, false, false, false},
		{`{"a":1}`, "collation", `{}`, `{"a":1}`, false, false, false},
		{`{"a":"hashed"}`, "", `{"a":1}`, `{"a":1}`, false, false, false},
		{`{"a.b":1,"a.c":1}`, "multikey", `{"a.b":1}`, `{"a.c":1}`, false, false, false},
		{`{"a":1,"b":1}`, "multikey", `{"a":1}`, `{"b":1}`, true, false, false},
		{`{"a":1}`, "", `{}`, `{"$natural":-1}`, true, true, false},
		{`{"a":1}`, "", `{}`, `{"a":{"$meta":"textScore"}}`, false, false, false},
	}
	for _, tt := range tests {
		var flags []string
		if tt.flags != "" {
			flags = append(flags, tt.flags)
		}
		x := testIndex(t, tt.key, flags...)
		p, err := Make(&Query{Matcher: compile(t, tt.filter), Sort: value.MustJSON(tt.sort)}, &Collection{Indexes: []*Index{x}, Count: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if p.Sorted != tt.sorted || p.Reverse != tt.reverse || (p.Type == Merge) != tt.merge {
			t.Errorf("%s %s, %s sort %s: sorted %v reverse %v type %d", tt.key, tt.flags, tt.filter, tt.sort, p.Sorted, p.Reverse, p.Type)
		}
	}
}

func TestChoice(t *testing.T) {
	a, b, ab := testIndex(t, `{"a":1}`), testIndex(t, `{"b":1}`), testIndex(t, `{"a":1,"b":1}`)
	unique, id := testIndex(t, `{"u":1}`, "unique"), testIndex(t, `{"_id":1}`)
	counts := map[string]int64{"a_": 500, "b_": 3, "a_b_": 2, "u_": 700}
	coll := func(xs ...*Index) *Collection {
		return &Collection{Indexes: xs, Count: 1000, Estimate: func(x *Index, _ Range, limit int64) int64 { return min(counts[x.Name], limit) }}
	}
	tests := []struct {
		filter, sort string
		limit        int64
		coll         *Collection
		want         string
	}{
		{`{"a":1,"b":1}`, `{}`, 0, coll(a, b), "b_"},
		{`{"a":1,"b":1}`, `{}`, 0, coll(a, b, ab), "a_b_"},
		{`{"a":1,"u":1}`, `{}`, 0, coll(a, unique), "u_"},
		{`{"_id":1}`, `{}`, 0, coll(a, id), "_id_"},
		{`{"_id":1,"a":1}`, `{}`, 0, coll(a, id), "_id_"},
		{`{"b":1}`, `{"a":1}`, 0, coll(a, b), "b_"},
		{`{"a":1}`, `{"b":1}`, 5, coll(a, ab), "a_b_"},
		{`{}`, `{"a":1}`, 5, coll(a, b), "a_"},
		{`{"c":1}`, `{}`, 0, coll(a, b), ""},
	}
	for _, tt := range tests {
		p, err := Make(&Query{Matcher: compile(t, tt.filter), Sort: value.MustJSON(tt.sort), Limit: tt.limit}, tt.coll)
		if err != nil {
			t.Fatal(err)
		}
		if p.name() != tt.want {
			t.Errorf("%s sort %s: %q, want %q", tt.filter, tt.sort, p.name(), tt.want)
		}
	}
}

func TestExactAndCovered(t *testing.T) {
	tests := []struct {
		key, flags, filter string
		needs              []string
		exact, covered     bool
	}{
		{`{"a":1}`, "", `{"a":1}`, []string{"a"}, true, true},
		{`{"a":1}`, "multikey", `{"a":1}`, []string{"a"}, true, false},
		{`{"a":1}`, "multikey", `{"a":null}`, nil, false, false},
		{`{"a":1}`, "multikey", `{"a":{"$gt":1,"$lt":5}}`, nil, false, false},
		{`{"a":1}`, "", `{"a":{"$gt":1,"$lt":5}}`, nil, true, false},
		{`{"a":1}`, "", `{"a":1,"b":1}`, []string{"a", "b"}, false, false},
		{`{"a":1,"b":1}`, "", `{"a":1,"b":1}`, []string{"b"}, true, true},
		{`{"a":1,"b":1}`, "", `{"a":{"$gt":1},"b":1}`, nil, false, false},
		{`{"a":1}`, "", `{"a":{"$regex":"^x"}}`, nil, true, false},
		{`{"a":1}`, "", `{"a":{"$regex":"x"}}`, nil, false, false},
		{`{"a":1}`, "", `{"a":{"$exists":false}}`, nil, false, false},
		{`{"a":"hashed"}`, "", `{"a":1}`, []string{"a"}, false, false},
		{`{"a":1}`, "", `{"a":{"$elemMatch":{"$gt":1}}}`, nil, false, false},
	}
	for _, tt := range tests {
		var flags []string
		if tt.flags != "" {
			flags = append(flags, tt.flags)
		}
		x := testIndex(t, tt.key, flags...)
		p, err := Make(&Query{Matcher: compile(t, tt.filter), Fields: tt.needs}, &Collection{Indexes: []*Index{x}, Count: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if p.Exact != tt.exact || p.Covered != tt.covered {
			t.Errorf("%s %s: exact %v covered %v", tt.key, tt.filter, p.Exact, p.Covered)
		}
	}
}

func TestHint(t *testing.T) {
	a, b := testIndex(t, `{"a":1}`), testIndex(t, `{"b":-1}`, "sparse")
	hidden := testIndex(t, `{"h":1}`, "hidden")
	twin := testIndex(t, `{"a":1}`, "collation")
	twin.Name = "twin"
	coll := &Collection{Indexes: []*Index{a, b, hidden}, Count: 1000}
	tests := []struct {
		hint Hint
		want string
		code mongoerr.Code
		msg  string
	}{
		{Hint{Name: "b_"}, `{ b: [ "[MaxKey, MinKey]" ] }`, 0, ""},
		{Hint{Key: value.MustJSON(`{"a":1.0}`)}, `{ a: [ "[1, 1]" ] }`, 0, ""},
		{Hint{Natural: 1}, "COLLSCAN", 0, ""},
		{Hint{Name: "nope"}, "", 2, "planner returned error :: caused by :: hint provided does not correspond to an existing index"},
		{Hint{Key: value.MustJSON(`{"a":-1}`)}, "", 2, "hint provided does not correspond to an existing index"},
		{Hint{Name: "h_"}, "", 2, "hint provided does not correspond to an existing index"},
	}
	for _, tt := range tests {
		p, err := Make(&Query{NS: "db.c", Matcher: compile(t, `{"a":1}`), Hint: tt.hint}, coll)
		if mongoerr.CodeOf(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("%v: %v", tt.hint, err)
			continue
		}
		if p != nil && boundsOf(p) != tt.want {
			t.Errorf("%v: %s", tt.hint, boundsOf(p))
		}
	}
	all := testIndex(t, `{"$**":1}`)
	_, err := Make(&Query{Matcher: compile(t, `{"a":null}`), Hint: Hint{Name: all.Name}}, &Collection{Indexes: []*Index{all}})
	if !mongoerr.Is(err, mongoerr.NoQueryExecutionPlans) || !strings.Contains(err.Error(), "refusing to build whole-index solution, because it's a wildcard index") {
		t.Errorf("wildcard hint: %v", err)
	}
	_, err = Make(&Query{Hint: Hint{Key: a.Key}}, &Collection{Indexes: []*Index{a, twin}})
	if !mongoerr.Is(err, mongoerr.IndexNotFound) || !strings.Contains(err.Error(), "Hint matched multiple indexes") {
		t.Errorf("ambiguous hint: %v", err)
	}
}

func TestMinMax(t *testing.T) {
	x := testIndex(t, `{"a":1,"b":-1}`)
	coll := &Collection{Indexes: []*Index{x}, Count: 10}
	hint := Hint{Key: x.Key}
	tests := []struct {
		hint     Hint
		min, max string
		code     mongoerr.Code
		msg      string
	}{
		{hint, `{"a":1,"b":5}`, `{"a":3,"b":1}`, 0, ""},
		{hint, `{"a":1,"b":5}`, `{"a":1,"b":6}`, 51175, "does not come before"},
		{hint, `{"a":1}`, ``, 51174, "not compatible with min/max"},
		{hint, `{"b":1,"a":1}`, ``, 51174, "not compatible with min/max"},
		{Hint{}, `{"a":1,"b":1}`, ``, 51173, "a hint of which index to use must be provided"},
	}
	for _, tt := range tests {
		q := &Query{Hint: tt.hint, Min: value.MustJSON(tt.min)}
		if tt.max != "" {
			q.Max = value.MustJSON(tt.max)
		}
		p, err := Make(q, coll)
		if mongoerr.CodeOf(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("%s %s: %v", tt.min, tt.max, err)
		}
		if err == nil && boundsOf(p) != `{ startKey: { a: 1, b: 5 }, startKeyInclusive: true, endKey: { a: 3, b: 1 }, endKeyInclusive: false }` {
			t.Errorf("bounds %s", boundsOf(p))
		}
	}
}

func TestExplain(t *testing.T) {
	x := testIndex(t, `{"a":1}`)
	id := testIndex(t, `{"_id":1}`)
	coll := &Collection{Indexes: []*Index{x, id}, Count: 1000}
	tests := []struct {
		filter, sort string
		shape        Shape
		want         string
	}{
		{`{"a":1,"b":2}`, `{}`, Shape{}, `{"stage":"FETCH","filter":{"a":1,"b":2},"inputStage":{"stage":"IXSCAN","keyPattern":{"a":1},"indexName":"a_","isMultiKey":false,"multiKeyPaths":{"a":[]},"isUnique":false,"isSparse":false,"isPartial":false,"indexVersion":2,"direction":"forward","indexBounds":{"a":["[1, 1]"]}}}`},
		{`{"b":2}`, `{"b":1}`, Shape{Limit: 3, Skip: 1, SortMemory: 100}, `{"stage":"SKIP","skipAmount":1,"inputStage":{"stage":"SORT","sortPattern":{"b":1},"memLimit":100,"limitAmount":4,"type":"simple","inputStage":{"stage":"COLLSCAN","filter":{"b":2},"direction":"forward"}}}`},
		{`{}`, `{}`, Shape{Limit: 3}, `{"stage":"LIMIT","limitAmount":3,"inputStage":{"stage":"COLLSCAN","direction":"forward"}}`},
		{`{"_id":7}`, `{}`, Shape{}, `{"stage":"EXPRESS_IXSCAN","keyPattern":"{ _id: 1 }","indexName":"_id_"}`},
		{`{"$alwaysFalse":1}`, `{}`, Shape{}, `{"stage":"EOF","type":"predicateEvalsToFalse"}`},
		{`{}`, `{}`, Shape{Count: true}, `{"stage":"RECORD_STORE_FAST_COUNT"}`},
		{`{"a":{"$gt":1}}`, `{}`, Shape{Count: true}, `{"stage":"COUNT","inputStage":{"stage":"COUNT_SCAN","keyPattern":{"a":1},"indexName":"a_","isMultiKey":false,"multiKeyPaths":{"a":[]},"isUnique":false,"isSparse":false,"isPartial":false,"indexVersion":2,"indexBounds":{"startKey":{"a":1},"startKeyInclusive":false,"endKey":{"a":{"$numberDouble":"Infinity"}},"endKeyInclusive":true}}}`},
		// Equalities on one path are a $in (jstests/core/or_to_in.js), other branches have a scan each.
		{`{"$or":[{"a":1},{"a":2}]}`, `{}`, Shape{}, `{"stage":"FETCH","inputStage":{"stage":"IXSCAN","keyPattern":{"a":1},"indexName":"a_","isMultiKey":false,"multiKeyPaths":{"a":[]},"isUnique":false,"isSparse":false,"isPartial":false,"indexVersion":2,"direction":"forward","indexBounds":{"a":["[1, 1]","[2, 2]"]}}}`},
		{`{"$or":[{"a":1},{"_id":2}]}`, `{}`, Shape{}, `{"stage":"SUBPLAN","inputStage":{"stage":"FETCH","inputStage":{"stage":"OR","inputStages":[{"stage":"IXSCAN","keyPattern":{"a":1},"indexName":"a_","isMultiKey":false,"multiKeyPaths":{"a":[]},"isUnique":false,"isSparse":false,"isPartial":false,"indexVersion":2,"direction":"forward","indexBounds":{"a":["[1, 1]"]}},{"stage":"IXSCAN","keyPattern":{"_id":1},"indexName":"_id_","isMultiKey":false,"multiKeyPaths":{"_id":[]},"isUnique":true,"isSparse":false,"isPartial":false,"indexVersion":2,"direction":"forward","indexBounds":{"_id":["[2, 2]"]}}]}}}`},
		{`{"b":1}`, `{}`, Shape{Write: "DELETE"}, `{"stage":"DELETE","inputStage":{"stage":"COLLSCAN","filter":{"b":1},"direction":"forward"}}`},
		{`{"a":1}`, `{}`, Shape{Projection: value.MustJSON(`{"a":1,"_id":0}`), ProjectionKind: "SIMPLE", Inclusion: true}, `{"stage":"PROJECTION_COVERED","transformBy":{"a":1,"_id":0},"inputStage":{"stage":"IXSCAN","keyPattern":{"a":1},"indexName":"a_","isMultiKey":false,"multiKeyPaths":{"a":[]},"isUnique":false,"isSparse":false,"isPartial":false,"indexVersion":2,"direction":"forward","indexBounds":{"a":["[1, 1]"]}}}`},
	}
	for _, tt := range tests {
		q := &Query{Matcher: compile(t, tt.filter), Sort: value.MustJSON(tt.sort)}
		if tt.shape.Projection != nil {
			q.Fields = []string{"a"}
		}
		p, err := Make(q, coll)
		if err != nil {
			t.Fatal(err)
		}
		tt.shape.Filter, tt.shape.Sort = q.Matcher.Filter(), q.Sort
		b := value.NewBuilder()
		p.Explain(&tt.shape).AppendPlan(b)
		if got := b.Doc().JSON(); got != value.MustJSON(tt.want).JSON() {
			t.Errorf("%s:\n got %s\nwant %s", tt.filter, got, tt.want)
		}
	}
}

func TestExplainStats(t *testing.T) {
	x := testIndex(t, `{"a":1}`)
	p, _ := Make(&Query{Matcher: compile(t, `{"a":1,"b":2}`)}, &Collection{Indexes: []*Index{x}, Count: 1000})
	top := p.Explain(&Shape{Filter: value.MustJSON(`{"b":2}`)})
	top.Stats = Stats{Returned: 2, Works: 6, Docs: 5}
	top.Scan(0).Stats = Stats{Returned: 5, Keys: 5, Seeks: 1}
	b := value.NewBuilder()
	top.AppendStats(b)
	d := b.Doc()
	if d.Lookup("docsExamined").Int64() != 5 || d.Lookup("nReturned").Int64() != 2 || d.Lookup("needTime").Int64() != 3 {
		t.Errorf("%s", d.JSON())
	}
	scan := d.Lookup("inputStage").Doc()
	if scan.Lookup("keysExamined").Int64() != 5 || scan.Lookup("seeks").Int64() != 1 || !scan.Has("indexBounds") {
		t.Errorf("%s", scan.JSON())
	}
	if top.Find("IXSCAN") != top.Scan(0) {
		t.Error("Find")
	}
}

func BenchmarkMakeByID(b *testing.B) {
	coll := &Collection{Indexes: []*Index{testIndex(b, `{"_id":1}`)}, Count: 1000}
	q := &Query{Matcher: compile(b, `{"_id":7}`)}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Make(q, coll)
	}
}

func BenchmarkMakeRange(b *testing.B) {
	coll := &Collection{Indexes: []*Index{testIndex(b, `{"_id":1}`), testIndex(b, `{"a":1,"b":1}`)}, Count: 1000}
	q := &Query{Matcher: compile(b, `{"a":1,"b":{"$gt":7}}`)}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Make(q, coll)
	}
}

func TestExplainMerge(t *testing.T) {
	x := testIndex(t, `{"a":1,"b":1}`)
	q := &Query{Matcher: compile(t, `{"a":{"$in":[1,2]},"b":{"$gt":3}}`), Sort: value.MustJSON(`{"b":1}`)}
	p, err := Make(q, &Collection{Indexes: []*Index{x}, Count: 1000})
	if err != nil {
		t.Fatal(err)
	}
	merge := p.Explain(&Shape{Sort: q.Sort}).Find("SORT_MERGE")
	if merge == nil || len(merge.Input) != 2 {
		t.Fatal("not merged")
	}
	for i, want := range []string{`{ a: [ "[1, 1]" ], b: [ "(3, inf.0]" ] }`, `{ a: [ "[2, 2]" ], b: [ "(3, inf.0]" ] }`} {
		if got := merge.Input[i].Detail.Lookup("indexBounds").String(); got != want {
			t.Errorf("scan %d: %s", i, got)
		}
	}
}
