package query

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// shapes are filters with two values left out.
var shapes = []func(v, w value.Value) value.Doc{
	func(v, w value.Value) value.Doc { return value.NewDoc("a", v, "b", over("$gt", w)) },
	func(v, w value.Value) value.Doc { return value.NewDoc("a", over("$lte", v), "b", over("$gte", w)) },
	func(v, w value.Value) value.Doc {
		return value.NewDoc("a", over("$in", value.NewArray(v, w)), "b", over("$ne", w))
	},
	func(v, w value.Value) value.Doc { return value.NewDoc("a.b", v, "a.c", over("$ne", w)) },
	func(v, w value.Value) value.Doc { return value.NewDoc("c", v, "a", over("$gt", w)) },
}

func over(op string, v value.Value) value.Value { return value.Document(value.NewDoc(op, v)) }

// TestRememberedPlans asks for a few shapes with many values, so that most of
// the plans are those of a query before, and compares with a scan.
func TestRememberedPlans(t *testing.T) {
	s := newServer(t)
	round, active := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		coll := fmt.Sprint("c", round)
		s.insertDocs(coll, genDocs(t))
		defer s.run(`{drop: '` + coll + `'}`)
		for i, spec := range rapid.SliceOfNDistinct(rapid.SampledFrom(indexPool), 3, 5, rapid.ID[string]).Draw(t, "indexes") {
			s.send(parse(fmt.Sprintf(`{createIndexes: '%s', indexes: [{key: %s, name: 'i%d'}]}`, coll, spec, i)))
		}
		shape := pick(t, "shape", shapes...)
		sort := pick(t, "sort", `{}`, `{a: 1, _id: 1}`, `{b: -1, _id: 1}`)
		for range 8 {
			filter := shape(genScalar(t), genScalar(t))
			if rapid.IntRange(0, 5).Draw(t, "arrives") == 0 { // and may make an index multikey
				s.send(value.NewDoc("insert", value.String(coll), "documents", value.NewArray(value.Document(genFields(t, 2)))))
			}
			find := func(hint string) string {
				query := value.NewBuilder().String("find", coll).Document("filter", filter).Document("sort", parse(sort))
				if hint != "" {
					query.Document("hint", parse(hint))
				}
				return outcome(s.send(query.Doc()), sort != `{}`)
			}
			if want, got := find(`{$natural: 1}`), find(""); got != want {
				t.Fatalf("%s sorted by %s\ngot\n%s\nwant\n%s", filter, sort, got, want)
			}
		}
		for _, d := range batch(s.run(`{aggregate: '` + coll + `', pipeline: [{$planCacheStats: {}}], cursor: {}}`)) {
			if d.Lookup("isActive").Bool() {
				active++
			}
		}
	})
	if active == 0 {
		t.Error("no plan was ever remembered")
	}
}
