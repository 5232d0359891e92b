package index

import (
	"testing"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Cases that random documents rarely cover: each filter matches the document, and the
// plan has to find it.
func TestIndexCorners(t *testing.T) {
	tests := []struct{ spec, doc, filter string }{
		{`{"key":{"a":1}}`, `{"a":[[2,3]]}`, `{"a":{"$elemMatch":{"$elemMatch":{"$gt":1}}}}`},
		{`{"key":{"a":1}}`, `{"a":[[2,3]]}`, `{"a":{"$elemMatch":{"$size":2}}}`},
		{`{"key":{"a":1}}`, `{"a":[1,10]}`, `{"a":{"$gt":5,"$lt":3}}`},
		{`{"key":{"a":1}}`, `{"a":[1,10]}`, `{"a":{"$not":{"$gt":10,"$lt":1}}}`},
		{`{"key":{"a":1}}`, `{"a":[3,4]}`, `{"a":[3,4]}`},
		{`{"key":{"a":1}}`, `{"a":[[3,4]]}`, `{"a":[3,4]}`},
		{`{"key":{"a":1}}`, `{"a":[]}`, `{"a":[]}`},
		{`{"key":{"a":1}}`, `{"a":[]}`, `{"a":{"$size":0}}`},
		{`{"key":{"a":1}}`, `{"a":[]}`, `{"a":{"$ne":null}}`},
		{`{"key":{"a":1}}`, `{"a":[{"$maxKey":1}]}`, `{"a":{"$lt":{"$maxKey":1}}}`},
		{`{"key":{"a":1}}`, `{"a":[1,2]}`, `{"a":{"$gte":[1]}}`},
		{`{"key":{"a":1}}`, `{"a":[1,2]}`, `{"a":{"$type":"array"}}`},
		{`{"key":{"a.b":1}}`, `{"a":[1,2]}`, `{"a.b":{"$ne":null}}`},
		{`{"key":{"a.b":1}}`, `{"a":[1,2]}`, `{"a.b":{"$exists":false}}`},
		{`{"key":{"a.b":1}}`, `{"a":[{"b":[0,10]}]}`, `{"a":{"$elemMatch":{"b":{"$gt":1,"$lt":5}}}}`},
		{`{"key":{"a.b":1,"a.c":1}}`, `{"a":[{"b":1,"c":9},{"b":9,"c":2}]}`, `{"a.b":1,"a.c":2}`},
		{`{"key":{"a.b":1,"a.c":1}}`, `{"a":[{"b":1,"c":9},{"b":9,"c":2}]}`, `{"$and":[{"a":{"$elemMatch":{"b":1}}},{"a":{"$elemMatch":{"c":2}}}]}`},
		{`{"key":{"a.d.b":1,"a.d.c":1}}`, `{"a":[{"d":[{"b":1},{"c":2}]}]}`, `{"a":{"$elemMatch":{"d.b":1,"d.c":2}}}`},
		{`{"key":{"a":1,"a.b":1}}`, `{"a":[{"b":1},{"b":2}]}`, `{"a":{"b":1},"a.b":2}`},
		{`{"key":{"a.0":1}}`, `{"a":[[1,2]]}`, `{"a.0":{"$elemMatch":{"$gt":1}}}`},
		{`{"key":{"a.0":1}}`, `{"a":[[5]]}`, `{"a":{"$elemMatch":{"0":5}}}`},
		{`{"key":{"a.0.b":1}}`, `{"a":[{"b":1},{"b":2}]}`, `{"a.0.b":null}`},
		{`{"key":{"a.0.b":1}}`, `{"a":[[{"b":1}]]}`, `{"a.0.b":1}`},
		{`{"key":{"a.0":1}}`, `{"a":[7,8]}`, `{"a.0":7}`},
		{`{"key":{"$**":1}}`, `{"a":[[{"b":1}]]}`, `{"a.0.b":1}`},
		{`{"key":{"$**":1}}`, `{"a":[[1]]}`, `{"a":[1]}`},
		{`{"key":{"$**":1}}`, `{"a":{"b":1}}`, `{"a":{"$gt":{}}}`},
		{`{"key":{"a":"hashed"}}`, `{"b":1}`, `{"a":{"$in":[null,5]}}`},
		{`{"key":{"a":"hashed"}}`, `{"a":{"$numberDecimal":"3.0"}}`, `{"a":3}`},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$gt":1}}}`, `{"a":[0,5]}`, `{"a":{"$gt":2}}`},
		{`{"key":{"b":1},"partialFilterExpression":{"a":{"$gt":1}}}`, `{"a":[0],"b":2}`, `{"b":2,"a":{"$not":{"$gt":1}}}`},
		{`{"key":{"c":1},"partialFilterExpression":{"a.b":null}}`, `{"a":[[1]],"c":1}`, `{"c":1,"a":{"$elemMatch":{"b":null}}}`},
		{`{"key":{"a":1,"b":1},"sparse":true}`, `{"c":1}`, `{"a":null,"b":null}`},
		{`{"key":{"a":-1}}`, `{"a":{"$numberDouble":"NaN"}}`, `{"a":{"$gte":{"$numberDouble":"NaN"}}}`},
		{`{"key":{"a":1}}`, `{"a":"abc"}`, `{"a":{"$regex":"^ab*"}}`},
		{`{"key":{"a":1}}`, `{"a":{"$regularExpression":{"pattern":"^x","options":""}}}`, `{"a":{"$regex":"^x"}}`},
		{`{"key":{"a":1},"collation":{"locale":"en","strength":2}}`, `{"a":"ABC"}`, `{"a":"ABC"}`},
	}
	for _, tt := range tests {
		s := mustParse(t, tt.spec)
		m, err := match.Compile(value.MustJSON(tt.filter), match.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		st := &store{}
		st.add(s, tt.doc)
		// Also as if other documents had made the index multikey.
		for range 2 {
			p, err := plan.Make(&plan.Query{Matcher: m}, st.collection(s))
			if err != nil {
				t.Fatal(err)
			}
			if ok, _ := m.Match(newEnv(), st.docs[0]); !ok {
				t.Errorf("%s does not match %s", tt.filter, tt.doc)
			}
			checkPlan(t, st, m, p, s)
			st.multikey = ^storage.Multikey(0)
		}
	}
}
