package plan

import (
	"testing"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// FuzzMake plans arbitrary filters and sorts over indexes of all sorts and
// explains what comes out: nothing may panic, and ranges must be in order.
func FuzzMake(f *testing.F) {
	for _, filter := range []string{
		`{"a":1}`, `{"a":{"$in":[1,"x",{"$regularExpression":{"pattern":"^x","options":""}}]},"b":{"$ne":null}}`, `{"$or":[{"a":1},{"b":{"$gt":2}}]}`,
		`{"a":{"$elemMatch":{"b":1,"c":{"$lt":3}}}}`, `{"a":{"$not":{"$gte":1,"$lt":9}}}`, `{"$nor":[{"a":{"$type":"string"}}]}`, `{"a":[1,[2]]}`,
	} {
		f.Add([]byte(value.MustJSON(filter)), []byte(value.MustJSON(`{"a":1,"b":-1}`)))
	}
	indexes := []*Index{
		testIndex(f, `{"a":1}`), testIndex(f, `{"a":1,"b":-1}`), testIndex(f, `{"a.b":1,"a.c":1}`, "multikey"), testIndex(f, `{"b":-1}`, "sparse"),
		testIndex(f, `{"a":"hashed"}`), testIndex(f, `{"$**":1}`), testIndex(f, `{"c":1}`, `{"a":{"$gt":1}}`), testIndex(f, `{"a.0":1}`, "multikey"), testIndex(f, `{"_id":1}`),
		testIndex(f, `{"b":1}`, "collation"),
	}
	coll := &Collection{Indexes: indexes, Count: 1000, Estimate: func(*Index, Range, int64) int64 { return 7 }}
	f.Fuzz(func(t *testing.T, filter, sort []byte) {
		if value.Validate(filter) != nil || value.Validate(sort) != nil {
			return
		}
		m, err := match.Compile(filter, match.Options{})
		if err != nil {
			return
		}
		for _, hint := range []Hint{{}, {Name: "a_b_"}, {Name: "$**_"}} {
			p, err := Make(&Query{Matcher: m, Sort: sort, Hint: hint, Fields: []string{"a"}}, coll)
			if err != nil {
				if hint.Name != "$**_" {
					t.Fatal(err)
				}
				continue
			}
			b := value.NewBuilder()
			p.Explain(&Shape{Filter: filter, Sort: sort}).AppendStats(b)
			if value.Validate(b.Doc()) != nil {
				t.Fatal("explain is no document")
			}
			b = value.NewBuilder()
			p.Explain(&Shape{Count: true}).AppendPlan(b)
			b.Doc()
			if p.Type == IndexScan && !p.Dedup && !p.Reverse && !p.Ranges.Disjoint(false) {
				t.Fatal("ranges overlap")
			}
		}
	})
}
