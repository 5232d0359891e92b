package query

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestRangesInBatches reads several ranges of an index with cursors of every
// batch size, in both directions, and compares with a scan of the collection.
// Between two batches documents come and go that the filter does not want.
func TestRangesInBatches(t *testing.T) {
	s := newServer(t)
	s.run(`{createIndexes: 'c', indexes: [{key: {a: 1, b: -1}, name: 'ab'}, {key: {t: 1}, name: 't'}]}`)
	var docs []value.Value
	for i := range int32(60) {
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(i), "a", value.Int32(i%12), "b", value.Int32(i%5),
			"t", value.NewArray(value.Int32(i%7), value.Int32(i%7+1)))))
	}
	s.insertDocs("c", docs)
	for _, c := range []struct{ filter, sort, whole, hint string }{
		{`{a: {$in: [0, 1, 2, 5, 9, 20]}}`, `{a: 1, b: -1}`, `{a: 1, b: -1, _id: 1}`, `ab`},
		{`{a: {$in: [-1, 3, 4.5, 10, 11]}, b: {$gte: 2}}`, `{a: 1, b: -1}`, `{a: 1, b: -1, _id: 1}`, `ab`},
		{`{a: {$in: [1, 2, 3]}, b: {$in: [0, 1, 4]}}`, `{a: -1, b: 1}`, `{a: -1, b: 1, _id: -1}`, `ab`},
		{`{a: {$nin: [2, 3, 7]}}`, `{a: -1, b: 1}`, `{a: -1, b: 1, _id: -1}`, `ab`},
		{`{t: {$in: [1, 2, 6]}}`, `{}`, `{}`, `t`},
		{`{t: {$in: [0, 9, 7]}}`, `{}`, `{}`, `t`},
	} {
		want := batch(s.run(fmt.Sprintf(`{find: 'c', filter: %s, sort: %s, hint: {$natural: 1}}`, c.filter, c.whole)))
		for size := 1; size <= 9; size++ {
			got := s.inBatches(fmt.Sprintf(`{find: 'c', filter: %s, sort: %s, hint: '%s', batchSize: %d}`, c.filter, c.sort, c.hint, size), size)
			if c.sort != `{}` && idsOf(got) != idsOf(want) || sortedIDs(got) != sortedIDs(want) {
				t.Errorf("%s by %s in batches of %d\ngot  %s\nwant %s", c.filter, c.sort, size, idsOf(got), idsOf(want))
			}
		}
	}
}

// inBatches reads a cursor to its end, with other documents written between
// its batches.
func (s *server) inBatches(find string, size int) (docs []value.Doc) {
	s.Helper()
	reply := s.run(find)
	docs = append(docs, batch(reply)...)
	for id := cursorID(reply); id != 0; id = cursorID(reply) {
		s.run(`{insert: 'c', documents: [{_id: 'x', a: 7, b: 0}]}`)
		reply = s.run(fmt.Sprintf(`{getMore: {$numberLong: '%d'}, collection: 'c', batchSize: %d}`, id, size))
		docs = append(docs, batch(reply)...)
		s.run(`{delete: 'c', deletes: [{q: {_id: 'x'}, limit: 1}]}`)
	}
	return docs
}
