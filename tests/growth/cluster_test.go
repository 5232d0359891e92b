package growth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// clustered is a server over PostgreSQL whose round trips are counted.
type clustered struct {
	*server
	asking int64 // trips that asking for the counters makes
}

func newClustered(t *testing.T, n int) *clustered {
	pgtest.URI(t) // skips the test where there is none
	t.Setenv(engines.TestVariable, "postgres")
	s := &clustered{server: &server{Server: commandtest.New(t), n: n}}
	before := s.count()
	s.asking = s.count() - before
	return s
}

// count is the number of round trips for commands and passes: neither heartbeats nor leases.
func (s *clustered) count() (n int64) {
	s.Helper()
	st, err := s.Service.Engine.(storage.Clustered).ClusterStats(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, t := range st.Trips {
		if t.Kind != "heartbeat" && t.Kind != "lease" {
			n += t.Count
		}
	}
	return n
}

// trips counts what fn makes.
func (s *clustered) trips(fn func()) int64 {
	s.Helper()
	before := s.count()
	fn()
	return s.count() - before - s.asking
}

// fewest is the least that one of several runs makes: now and then one reads again what this
// server knows of others.
func (s *clustered) fewest(fn func()) int64 {
	s.Helper()
	least := s.trips(fn)
	for range 4 {
		least = min(least, s.trips(fn))
	}
	return least
}

// pass removes what is due.
func (s *clustered) pass() (removed int64) {
	s.Helper()
	r, err := s.Service.Monitor.RunPass(s.Context(), ttl.All)
	if err != nil {
		s.Fatal(err)
	}
	return r.Of(ttl.Index).Documents
}

// TestTripsOfCollections: with twice as many collections, operations make as many round trips.
func TestTripsOfCollections(t *testing.T) {
	operations := map[string]func(s *clustered){
		"a pass that finds nothing due": func(s *clustered) { s.pass() },
		"listCollections":               func(s *clustered) { s.must(`{listCollections: 1, cursor: {batchSize: 1000}}`) },
		"find":                          func(s *clustered) { s.must(`{find: "c7", filter: {a: 7}}`) },
		"insert":                        func(s *clustered) { s.must(`{insert: "c8", documents: [{}]}`) },
	}
	const base = 100
	cost := map[int]map[string]int64{}
	for _, n := range []int{base, 2 * base} {
		s := newClustered(t, n)
		s.each(`{createIndexes: "c#i", indexes: [{key: {a: 1}, name: "a"}, {key: {at: 1}, name: "at", expireAfterSeconds: 60}]}`)
		s.each(`{insert: "c#i", documents: [{_id: 1, a: 7, at: {$date: "2030-01-01T00:00:00Z"}}]}`)
		cost[n] = map[string]int64{}
		for name, do := range operations {
			cost[n][name] = s.fewest(func() { do(s) })
		}
	}
	for name := range operations {
		n, n2 := cost[base][name], cost[2*base][name]
		t.Logf("%s: %d and %d round trips with %d and %d collections", name, n, n2, base, 2*base)
		if n2 > n+1 {
			t.Errorf("%s: %d round trips with %d collections, %d with %d", name, n, base, n2, 2*base)
		}
	}
}

// TestTripsOfExpiry: the round trips for each document that a pass removes do not grow with
// the number of documents that are due, and are few although a commit takes long.
func TestTripsOfExpiry(t *testing.T) {
	const base, insert, perBatch = 2000, 500, 5
	s := newClustered(t, insert)
	s.must(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {b: 1}, name: "b"}, {key: {at: 1}, name: "at", expireAfterSeconds: 60}]}`)
	cost := map[int]int64{}
	for _, n := range []int{base, 2 * base} {
		for start := 0; start < n; start += insert {
			s.must(`{insert: "c", documents: [<<{a: #i, b: "b#i", at: {$date: "2020-01-01T00:00:00Z"}, text: "` + strings.Repeat("x", 100) + `"}>>]}`)
		}
		var removed int64
		cost[n] = s.trips(func() { removed = s.pass() })
		t.Logf("%d round trips to remove %d documents", cost[n], removed)
		if removed != int64(n) {
			t.Fatalf("removed %d documents of %d", removed, n)
		}
		if most := int64(perBatch * (n/128 + 2)); cost[n] > most { // 128: the fewest that a transaction removes
			t.Errorf("%d round trips to remove %d documents, want at most %d", cost[n], n, most)
		}
	}
}

// TestTripsOfStreams: a getMore of a change stream that sees nothing makes a round trip, and
// two after a commit that does not concern it.
func TestTripsOfStreams(t *testing.T) {
	const base = 10
	idle, beside := map[int]int64{}, map[int]int64{}
	for _, n := range []int{base, 2 * base} {
		s := newClustered(t, n)
		s.each(`{create: "c#i"}`)
		s.must(`{insert: "other", documents: [{}]}`)
		var cursors []int64
		for i := range n {
			s.must(fmt.Sprintf(`{aggregate: "c%d", pipeline: [{$changeStream: {}}], cursor: {}}`, i))
			cursors = append(cursors, s.cursor)
		}
		look := func() {
			for i, id := range cursors {
				s.must(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c%d", maxTimeMS: 1}`, id, i))
			}
		}
		look()
		idle[n] = s.fewest(look)
		write := func() { s.must(`{insert: "other", documents: [{}]}`) }
		alone := s.fewest(write)
		beside[n] = s.fewest(func() { write(); look() }) - alone
	}
	t.Logf("%d and %d change streams: %d and %d round trips while nothing is written, %d and %d after an insert elsewhere",
		base, 2*base, idle[base], idle[2*base], beside[base], beside[2*base])
	for _, n := range []int{base, 2 * base} {
		if idle[n] > int64(n)+1 || beside[n] > int64(2*n)+2 {
			t.Errorf("%d change streams make %d and %d round trips, want at most one for each and two", n, idle[n], beside[n])
		}
	}
}
