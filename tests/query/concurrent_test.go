package query

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// concurrentShapes are filters with two values left out, and what they ask of
// a document with those a and b.
var concurrentShapes = []struct {
	filter string
	holds  func(a, b, v, w int) bool
}{
	{`{kept: true, a: %d, b: {$ne: %d}}`, func(a, b, v, w int) bool { return a == v && b != w }},
	{`{kept: true, a: {$gte: %d}, b: %d}`, func(a, b, v, w int) bool { return a >= v && b == w }},
	{`{kept: true, a: {$in: [%d, 7, 8]}, b: {$lt: %d}}`, func(a, b, v, w int) bool { return (a == v || a == 7 || a == 8) && b < w }},
	{`{kept: true, $or: [{a: %d}, {b: %d}]}`, func(a, b, v, w int) bool { return a == v || b == w }},
	{`{kept: true, b: {$nin: [%d, %d]}}`, func(a, b, v, w int) bool { return b != v && b != w }},
	{`{$jsonSchema: {required: ['kept'], properties: {kept: {enum: [true]}, a: {type: 'number', minimum: %d, maximum: %d}}}}`,
		func(a, b, v, w int) bool { return a >= v && a <= w }},
}

const keptDocs = 140

// TestPlansUnderChange asks for the same and for different shapes from many
// connections, while others write, make indexes multikey, build and drop them,
// set index filters and clear the plan cache. Whatever is planned, and
// remembered, the answers about the documents that stay are the same.
func TestPlansUnderChange(t *testing.T) {
	s := newServer(t)
	var docs []value.Value
	for i := range keptDocs {
		docs = append(docs, value.Document(parse(fmt.Sprintf(`{_id: %d, a: %d, b: %d, kept: true}`, i, i%10, i%7))))
	}
	s.insertDocs("c", docs)
	s.run(`{createIndexes: 'c', indexes: [{key: {a: 1}, name: 'a'}, {key: {b: 1}, name: 'b'}, {key: {kept: 1, b: 1}, name: 'kb'}]}`)
	rounds := 120
	if testing.Short() {
		rounds = 40
	}
	var wg sync.WaitGroup
	each := func(work func(s *server, i int)) {
		own := &server{s.Another(t)}
		wg.Go(func() {
			for i := range rounds {
				work(own, i)
			}
		})
	}
	for reader := range 6 {
		each(func(s *server, i int) { s.askKept(i+reader*i, i%10, (i+reader)%7) })
	}
	for writer := range 2 {
		each(func(s *server, i int) {
			s.accepts(fmt.Sprintf(`{insert: 'c', documents: [{_id: 'w%d-%d', a: [%d, 99], b: %d}]}`, writer, i, i%10, i%7))
			s.accepts(fmt.Sprintf(`{update: 'c', updates: [{q: {a: 99, b: %d}, u: {$push: {a: 5}}, multi: true}]}`, i%7))
			s.accepts(fmt.Sprintf(`{delete: 'c', deletes: [{q: {a: 99, b: {$lte: %d}}, limit: 0}]}`, i%7))
		})
	}
	each(func(s *server, i int) {
		s.accepts(`{createIndexes: 'c', indexes: [{key: {b: 1, a: -1}, name: 'ba'}]}`)
		s.accepts(`{dropIndexes: 'c', index: 'ba'}`)
	})
	each(func(s *server, i int) {
		s.accepts(`{planCacheSetFilter: 'c', query: {kept: true, a: 1, b: {$ne: 1}}, indexes: [{a: 1}]}`)
		s.accepts(`{aggregate: 'c', pipeline: [{$planCacheStats: {}}], cursor: {}}`)
		s.accepts(`{planCacheClear: 'c'}`)
		s.accepts(`{planCacheClearFilters: 'c'}`)
	})
	wg.Wait()
}

// askKept asks a query of one of the shapes and compares with what its
// predicate says.
func (s *server) askKept(shape, v, w int) {
	c := &concurrentShapes[shape%len(concurrentShapes)]
	filter := fmt.Sprintf(c.filter, v, w)
	var want []value.Doc
	for i := range keptDocs {
		if c.holds(i%10, i%7, v, w) {
			want = append(want, value.NewDoc("_id", value.Int32(int32(i))))
		}
	}
	if shape%5 == 0 {
		s.accepts(`{explain: {find: 'c', filter: ` + filter + `}, verbosity: 'allPlansExecution'}`)
	}
	reply := s.accepts(`{find: 'c', filter: ` + filter + `, batchSize: 1000}`)
	if reply == nil {
		return
	}
	if got, want := sortedIDs(batch(reply)), sortedIDs(want); got != want {
		s.Errorf("%s\ngot  %s\nwant %s", filter, got, want)
	}
}

// accepts runs a command that may only fail for an index that is dropped
// meanwhile; then it returns nil.
func (s *server) accepts(command string) value.Doc {
	reply := s.send(parse(command))
	code, text := failure(reply)
	if code == 0 {
		return reply
	}
	if !strings.Contains(text, "query plan killed") {
		s.Errorf("%s\nanswered %d %s", command, code, text)
	}
	return nil
}
