package query

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/value"
)

func numbered(n int) (docs []value.Value) {
	for i := range n {
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(i)), "b", value.Int32(int32(i%10)))))
	}
	return docs
}

// TestUpdateMovesDocumentsInItsOwnIndex: documents that an update moves ahead
// of the scan are changed once.
func TestUpdateMovesDocumentsInItsOwnIndex(t *testing.T) {
	s := newServer(t)
	s.insertDocs("c", numbered(1000))
	s.index("c", "{a: 1}")
	for _, filter := range []string{`{a: {$gte: 0}}`, `{a: {$in: [0, 1, 5000]}}`, `{$or: [{a: {$gte: 0}}, {a: {$lt: -5}}]}`} {
		before := s.total("c")
		n := s.run(`{update: 'c', updates: [{q: ` + filter + `, u: {$inc: {a: 5000}}, multi: true, hint: '` + indexName + `'}]}`).Lookup("nModified").SafeInt64()
		if grown := s.total("c") - before; grown != n*5000 || n == 0 {
			t.Errorf("%s: %d updated, grown by %d", filter, n, grown)
		}
	}
}

// total is the sum of the field a.
func (s *server) total(coll string) int64 {
	s.Helper()
	reply := s.run(`{aggregate: '` + coll + `', pipeline: [{$group: {_id: null, n: {$sum: '$a'}}}], cursor: {}}`)
	return batch(reply)[0].Lookup("n").SafeInt64()
}

// TestMultiUpdateKeepsWhatItDid: a multi-update that fails has changed the
// documents before the failing one.
func TestMultiUpdateKeepsWhatItDid(t *testing.T) {
	s := newServer(t)
	s.run(`{createIndexes: 'c', indexes: [{key: {u: 1}, name: 'u', unique: true, sparse: true}]}`)
	s.insertDocs("c", numbered(5))
	s.fails(11000, "dup key: { u: 1 }", `{update: 'c', updates: [{q: {}, u: {$set: {u: 1}}, multi: true}]}`)
	s.want("changed", s.ids(`{find: 'c', filter: {u: 1}}`), "0")
}

func TestLimits(t *testing.T) {
	s := newServer(t)
	for i := range 63 {
		s.run(fmt.Sprintf(`{createIndexes: 'c', indexes: [{key: {f%d: 1}, name: 'f%d'}]}`, i, i))
	}
	s.fails(67, "add index fails, too many indexes for test.c key:", `{createIndexes: 'c', indexes: [{key: {z: 1}, name: 'z'}]}`)

	big := strings.Repeat("x", 16<<20-40)
	insert := func(d value.Doc) value.Doc {
		return s.send(value.NewDoc("insert", value.String("big"), "documents", value.NewArray(value.Document(d))))
	}
	if code, text := failure(insert(value.NewDoc("_id", value.Int32(1), "s", value.String(big)))); code != 0 {
		t.Error("just fits:", code, text)
	}
	if code, _ := failure(insert(value.NewDoc("_id", value.Int32(2), "s", value.String(big+strings.Repeat("y", 100))))); code != 10334 && code != 2 {
		t.Error("too large to insert:", code)
	}
	s.fails(17419, "Resulting document after update is larger than 16777216", `{update: 'big', updates: [{q: {_id: 1}, u: {$set: {more: 'and more and more and more'}}}]}`)
	s.fails(16, "Write batch sizes must be between 1 and 100000. Got 0 operations.", `{delete: 'c', deletes: []}`)
}

// TestConcurrentWriters: increments, upserts of one key and removals by
// several connections neither get lost nor happen twice.
func TestConcurrentWriters(t *testing.T) {
	s := newServer(t)
	s.run(`{createIndexes: 'c', indexes: [{key: {k: 1}, name: 'k', unique: true}]}`)
	s.insertDocs("jobs", numbered(200))
	s.index("jobs", "{b: 1, a: 1}")
	const workers, rounds = 8, 50
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := map[string]int{}
	for range workers {
		wg.Go(func() {
			own := &server{s.Another(t)}
			for i := range rounds {
				own.run(fmt.Sprintf(`{update: 'c', updates: [{q: {k: %d}, u: {$inc: {n: 1}}, upsert: true}]}`, i%5))
				job := own.run(`{findAndModify: 'jobs', query: {b: {$gte: 0}}, sort: {b: 1, a: 1}, remove: true}`).Lookup("value")
				if job.Kind() == value.KindDocument {
					mu.Lock()
					taken[job.Doc().Lookup("_id").String()]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	sum := int64(0)
	for _, d := range batch(s.run(`{find: 'c'}`)) {
		sum += d.Lookup("n").SafeInt64()
	}
	if sum != workers*rounds {
		t.Errorf("counted %d, want %d", sum, workers*rounds)
	}
	if len(taken) != 200 {
		t.Errorf("%d jobs taken, want 200", len(taken))
	}
	for id, n := range taken {
		if n != 1 {
			t.Errorf("job %s taken %d times", id, n)
		}
	}
}
