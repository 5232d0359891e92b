package match

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

func TestShape(t *testing.T) {
	shape := func(filter string) uint64 {
		t.Helper()
		m, err := Compile(value.MustJSON(filter), Options{AllowNear: true})
		if err != nil {
			t.Fatal(filter, err)
		}
		return m.Shape()
	}
	alike := [][]string{
		{`{}`, `{"$and":[{}]}`},
		{`{"a":1}`, `{"a":"x"}`, `{"a":{"$eq":2}}`, `{"$and":[{"a":1}]}`},
		{`{"a":1,"b":2}`, `{"b":3,"a":4}`, `{"$and":[{"b":1},{"$and":[{"a":1}]}]}`},
		{`{"a":{"$in":[1,2]}}`, `{"a":{"$in":[1,2,3]}}`},
		{`{"a":{"$gt":1,"$lt":5}}`, `{"a":{"$lt":1,"$gt":5}}`},
		{`{"$or":[{"a":1},{"b":{"$gt":1}}]}`, `{"$or":[{"b":{"$gt":7}},{"a":9}]}`},
		{`{"a":{"$elemMatch":{"x":1,"y":2}}}`, `{"a":{"$elemMatch":{"y":1,"x":2}}}`},
		{`{"a":{"$regex":"x"}}`, `{"a":{"$regex":"yy"}}`},
		{`{"$expr":{"$gt":["$a",1]}}`, `{"$expr":{"$gt":["$a",7]}}`},
		{`{"a":{"$ne":1}}`, `{"a":{"$ne":2}}`},
		// Each of these has a shape that no other filter has.
		{`{"a":{"$gt":1}}`}, {`{"a":{"$gte":1}}`}, {`{"b":1}`}, {`{"a.b":1}`}, {`{"a":1,"b":2,"c":3}`}, {`{"a":1,"b":{"$gt":2}}`},
		{`{"$nor":[{"a":1},{"b":{"$gt":1}}]}`}, {`{"a":{"$not":{"$gt":1}}}`}, {`{"a":{"$exists":true}}`}, {`{"a":{"$type":"int"}}`},
		{`{"a":{"$regex":"x","$options":"i"}}`}, {`{"$expr":{"$gt":["$b",1]}}`}, {`{"$expr":{"$lt":["$a",1]}}`}, {`{"a":{"$size":1}}`},
		{`{"a":{"$mod":[2,1]}}`}, {`{"a":{"$elemMatch":{"$gt":1}}}`}, {`{"a":{"$elemMatch":{"$gte":1}}}`}, {`{"a":{"$bitsAllSet":1}}`},
		{`{"a":{"$bitsAnySet":1}}`}, {`{"a":1,"$or":[{"a":1},{"b":{"$gt":1}}]}`}, {`{"x":1,"a":{"$elemMatch":{"y":1}}}`},
		{`{"a":{"$near":[1,2]}}`}, {`{"a":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}`}, {`{"$alwaysFalse":1}`}, {`{"$jsonSchema":{}}`}, {`{"$sampleRate":0.5}`},
	}
	seen := map[uint64]string{}
	for _, group := range alike {
		first := shape(group[0])
		if other, taken := seen[first]; taken {
			t.Errorf("%s has the shape of %s", group[0], other)
		}
		seen[first] = group[0]
		for _, filter := range group[1:] {
			if shape(filter) != first {
				t.Errorf("%s has not the shape of %s", filter, group[0])
			}
		}
	}
	if (*Matcher)(nil).Shape() != shape(`{}`) {
		t.Error("no filter is not an empty one")
	}
	m, _ := Compile(value.MustJSON(`{"a":1,"b":{"$in":[1,2]},"c.d":{"$gt":1}}`), Options{})
	if n := testing.AllocsPerRun(100, func() { m.Shape() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
