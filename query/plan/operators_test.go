package plan

import (
	"testing"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
)

// operatorBounds says for every operator of filters which bounds a condition with it gives
// for the keys of {a: 1}, and whether they are exact or the keys can be filtered with it;
// COLLSCAN is none, with the reason. Rows without a filter cannot be planned with this index.
var operatorBounds = map[string]struct{ filter, want, reason string }{
	"$all":           {`{"a":{"$all":[1]}}`, `{ a: [ "[1, 1]" ] } exact`, ""},
	"$bitsAllClear":  {`{"a":{"$bitsAllClear":1}}`, `{ a: [ "[nan, inf.0]", "[BinData(0, ), ObjectId('000000000000000000000000'))" ] } filtered`, ""},
	"$bitsAllSet":    {`{"a":{"$bitsAllSet":1}}`, `{ a: [ "[nan, inf.0]", "[BinData(0, ), ObjectId('000000000000000000000000'))" ] } filtered`, ""},
	"$bitsAnyClear":  {`{"a":{"$bitsAnyClear":1}}`, `{ a: [ "[nan, inf.0]", "[BinData(0, ), ObjectId('000000000000000000000000'))" ] } filtered`, ""},
	"$bitsAnySet":    {`{"a":{"$bitsAnySet":1}}`, `{ a: [ "[nan, inf.0]", "[BinData(0, ), ObjectId('000000000000000000000000'))" ] } filtered`, ""},
	"$elemMatch":     {`{"a":{"$elemMatch":{"$gt":1}}}`, `{ a: [ "(1, inf.0]" ] }`, ""},
	"$eq":            {`{"a":{"$eq":1}}`, `{ a: [ "[1, 1]" ] } exact`, ""},
	"$exists":        {`{"a":{"$exists":false}}`, `{ a: [ "[null, null]" ] }`, ""},
	"$geoIntersects": {`{"a":{"$geoIntersects":{"$geometry":{"type":"Point","coordinates":[0,0]}}}}`, "COLLSCAN", "only the keys of a 2dsphere index show a position"},
	"$geoNear":       {"", "", "it needs a geo index"},
	"$geoWithin":     {`{"a":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}`, "COLLSCAN", "only the keys of a geo index show a position"},
	"$gt":            {`{"a":{"$gt":1}}`, `{ a: [ "(1, inf.0]" ] } exact`, ""},
	"$gte":           {`{"a":{"$gte":1}}`, `{ a: [ "[1, inf.0]" ] } exact`, ""},
	"$in":            {`{"a":{"$in":[1,2]}}`, `{ a: [ "[1, 1]", "[2, 2]" ] } exact`, ""},
	"$lt":            {`{"a":{"$lt":1}}`, `{ a: [ "[-inf.0, 1)" ] } exact`, ""},
	"$lte":           {`{"a":{"$lte":1}}`, `{ a: [ "[-inf.0, 1]" ] } exact`, ""},
	"$mod":           {`{"a":{"$mod":[2,0]}}`, `{ a: [ "[nan, inf.0]" ] } filtered`, ""},
	"$ne":            {`{"a":{"$ne":1}}`, `{ a: [ "[MinKey, 1)", "(1, MaxKey]" ] } exact`, ""},
	"$near":          {"", "", "it needs a geo index"},
	"$nearSphere":    {"", "", "it needs a geo index"},
	"$nin":           {`{"a":{"$nin":[1,2]}}`, `{ a: [ "[MinKey, 1)", "(1, 2)", "(2, MaxKey]" ] } exact`, ""},
	"$not":           {`{"a":{"$not":{"$gt":1}}}`, `{ a: [ "[MinKey, 1]", "(inf.0, MaxKey]" ] } exact`, ""},
	"$options":       {`{"a":{"$regex":"^x","$options":"s"}}`, `{ a: [ "["x", "y")", "[/^x/s, /^x/s]" ] } exact`, ""},
	"$regex":         {`{"a":{"$regex":"^x"}}`, `{ a: [ "["x", "y")", "[/^x/, /^x/]" ] } exact`, ""},
	"$size":          {`{"a":{"$size":1}}`, "COLLSCAN", "keys do not show how many elements an array has"},
	"$type":          {`{"a":{"$type":"string"}}`, `{ a: [ "["", {})" ] } filtered`, ""},
	"$within":        {`{"a":{"$within":{"$box":[[0,0],[1,1]]}}}`, "COLLSCAN", "only the keys of a geo index show a position"},

	"$alwaysFalse": {`{"$alwaysFalse":1}`, `EOF exact`, ""},
	"$alwaysTrue":  {`{"$alwaysTrue":1}`, "COLLSCAN", "it demands nothing"},
	"$and":         {`{"$and":[{"a":1}]}`, `{ a: [ "[1, 1]" ] } exact`, ""},
	"$comment":     {`{"$comment":"x"}`, "COLLSCAN", "it demands nothing"},
	"$db":          {`{"a":{"$ref":"x","$id":1,"$db":"d"}}`, `{ a: [ "[{ $ref: "x", $id: 1, $db: "d" }, { $ref: "x", $id: 1, $db: "d" }]" ] } exact`, ""},
	"$expr":        {`{"$expr":{"$eq":["$a",1]}}`, `{ a: [ "[1, 1]" ] }`, ""},
	"$id":          {`{"a":{"$ref":"x","$id":1}}`, `{ a: [ "[{ $ref: "x", $id: 1 }, { $ref: "x", $id: 1 }]" ] } exact`, ""},
	"$jsonSchema":  {`{"$jsonSchema":{"properties":{"a":{"bsonType":"int","minimum":1}},"required":["a"]}}`, `{ a: [ "[1, inf.0]" ] }`, ""},
	"$nor":         {`{"$nor":[{"a":1}]}`, `{ a: [ "[MinKey, 1)", "(1, MaxKey]" ] } exact`, ""},
	"$or":          {`{"$or":[{"a":1},{"a":{"$gt":5}}]}`, `OR({ a: [ "[1, 1]" ] } | { a: [ "(5, inf.0]" ] }) exact`, ""},
	"$ref":         {`{"a":{"$ref":"x","$id":1}}`, `{ a: [ "[{ $ref: "x", $id: 1 }, { $ref: "x", $id: 1 }]" ] } exact`, ""},
	"$sampleRate":  {`{"$sampleRate":0.5}`, "COLLSCAN", "it is not about a field"},
	"$text":        {"", "", "it needs a text index"},
	"$where":       {"", "", "it is not about a field"},
}

// TestOperators demands a row for every operator, so that one of which the planner does not
// know is noticed.
func TestOperators(t *testing.T) {
	for _, name := range match.Operators() {
		row, ok := operatorBounds[name]
		switch {
		case !ok:
			t.Errorf("%s: no row says what bounds it gives", name)
			continue
		case row.filter == "" && row.reason != "":
			continue
		}
		m := compile(t, row.filter)
		q := &Query{Matcher: m, Implied: match.Implied(m, &expr.Env{})}
		p, err := Make(q, &Collection{Indexes: []*Index{testIndex(t, `{"a":1}`)}, Count: 1000})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := boundsOf(p)
		if p.Exact && p.Type != CollScan {
			got += " exact"
		}
		if p.Filtered {
			got += " filtered"
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		if (got == "COLLSCAN") != (row.reason != "") {
			t.Errorf("%s: bounds are %s, the reason for having none is %q", name, got, row.reason)
		}
	}
}
