package observe

import (
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

// QueryStats are the statistics of queries that $queryStats shows: what was spent on those
// that have the same shape and come from the same kind of client. It is off until one of its
// rates is set. Of those that do not fit its limit it forgets the ones not seen for longest.
type QueryStats struct {
	on atomic.Bool // for the look at each command

	mu        sync.Mutex
	perSecond int64   // how many queries a second are recorded, -1: all
	share     float64 // part of all queries that is recorded; if it is not 0, perSecond does not count
	second    int64   // the present second
	taken     int64   // the queries recorded in it
	limit     int64   // bytes
	bytes     int64
	entries   map[string]*list.Element // entries, each a *queryEntry, by their keys
	recent    list.List                // the entries, the one seen last in front
}

// queryEntry are the statistics of one key.
type queryEntry struct {
	key    value.Doc
	shape  string // hash of the query's shape
	hash   string // hash of the key
	last   time.Duration
	n      int64
	sums   [queryMetrics]aggregated
	sorted int64 // those with a sort stage
	first  int64 // milliseconds
	latest int64
}

// aggregated is what is kept of the values of a metric.
type aggregated struct {
	sum, max, min int64
	squares       apd.Decimal
}

// The metrics of a query.
const (
	totalMicros = iota
	firstMicros
	docsReturned
	keysExamined
	docsExamined
	workingMillis
	queryMetrics
)

// QueryRun is a query that is recorded when it is over: with its cursor.
type QueryRun struct {
	store                *QueryStats
	key                  value.Doc
	shape                string
	first, total         time.Duration
	returned, keys, docs int64
	sorted               bool
	pending              bool // something was added
	now                  func() int64
}

// NewQueryStats returns statistics that are off, and may take some bytes.
func NewQueryStats(limit int64) *QueryStats {
	return &QueryStats{limit: limit, entries: map[string]*list.Element{}}
}

// On reports whether any queries are recorded.
func (q *QueryStats) On() bool { return q.on.Load() }

// SetPerSecond sets how many queries a second are recorded; -1: all.
func (q *QueryStats) SetPerSecond(n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.perSecond = n
	q.on.Store(q.perSecond != 0 || q.share > 0)
}

// SetShare sets which share of all queries is recorded, from 0 to 1.
func (q *QueryStats) SetShare(share float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.share = share
	q.on.Store(q.perSecond != 0 || q.share > 0)
}

// SetLimit sets how many bytes the statistics may take.
func (q *QueryStats) SetLimit(bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = bytes
	q.shrink()
}

// Wants reports whether a query at that time is recorded.
func (q *QueryStats) Wants(at time.Time) bool {
	if !q.on.Load() {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.limit == 0:
		return false
	case q.share > 0:
		return q.share >= 1 || rand.Float64() < q.share //nolint:gosec // a sample
	case q.perSecond < 0:
		return true
	}
	if s := at.Unix(); s != q.second {
		q.second, q.taken = s, 0
	}
	q.taken++
	return q.taken <= q.perSecond
}

// Run begins to record a query. now gives the time in milliseconds.
func (q *QueryStats) Run(key value.Doc, shape string, now func() int64) *QueryRun {
	return &QueryRun{store: q, key: key, shape: shape, now: now}
}

// Add adds what one command has done for the query: the one that began it, or a getMore.
func (r *QueryRun) Add(c *Counts, took time.Duration) {
	if r == nil {
		return
	}
	if r.first == 0 {
		r.first = took
	}
	r.total += took
	r.returned, r.keys, r.docs = r.returned+c.Returned, r.keys+c.Keys, r.docs+c.Docs
	r.sorted = r.sorted || c.Sorted
	r.pending = true
}

// End records the query.
func (r *QueryRun) End() {
	if r == nil || !r.pending {
		return
	}
	r.store.record(r, r.now())
	*r = QueryRun{store: r.store, key: r.key, shape: r.shape, now: r.now}
}

func (q *QueryStats) record(r *QueryRun, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entry(r, now)
	e.last, e.latest, e.n = r.total, now, e.n+1
	for i, v := range [queryMetrics]int64{
		totalMicros: r.total.Microseconds(), firstMicros: r.first.Microseconds(), docsReturned: r.returned,
		keysExamined: r.keys, docsExamined: r.docs, workingMillis: r.total.Milliseconds(),
	} {
		e.sums[i].add(v, e.n == 1)
	}
	if r.sorted {
		e.sorted++
	}
	q.shrink()
}

// entry returns the entry of a query, in front of the others.
func (q *QueryStats) entry(r *QueryRun, now int64) *queryEntry {
	if at := q.entries[string(r.key)]; at != nil {
		q.recent.MoveToFront(at)
		return at.Value.(*queryEntry) //nolint:forcetypeassert // the list has nothing else
	}
	sum := sha256.Sum256(r.key)
	e := &queryEntry{key: r.key.Clone(), shape: r.shape, hash: base64.StdEncoding.EncodeToString(sum[:]), first: now}
	q.entries[string(e.key)] = q.recent.PushFront(e)
	q.bytes += e.size()
	return e
}

// size is about what an entry takes: its key is held twice.
func (e *queryEntry) size() int64 { return int64(2*len(e.key)) + 1024 }

// shrink forgets the entries that do not fit.
func (q *QueryStats) shrink() {
	for q.bytes > q.limit && q.recent.Len() > 0 {
		e := q.recent.Remove(q.recent.Back()).(*queryEntry) //nolint:forcetypeassert // the list has nothing else
		delete(q.entries, string(e.key))
		q.bytes -= e.size()
	}
}

func (a *aggregated) add(v int64, first bool) {
	a.sum += v
	if first || v > a.max {
		a.max = v
	}
	if first || v < a.min {
		a.min = v
	}
	square := apd.New(v, 0)
	_, _ = squares.Mul(square, square, square)
	_, _ = squares.Add(&a.squares, &a.squares, square)
}

// squares computes as Decimal128 does.
var squares = apd.BaseContext.WithPrecision(34)

// List describes the queries, as $queryStats shows them at that time in seconds.
func (q *QueryStats) List(now uint32) []value.Doc {
	q.mu.Lock()
	defer q.mu.Unlock()
	docs := make([]value.Doc, 0, q.recent.Len())
	for at := q.recent.Front(); at != nil; at = at.Next() {
		e := at.Value.(*queryEntry) //nolint:forcetypeassert // the list has nothing else
		b := value.NewBuilder()
		b.Document("key", e.key).String("keyHash", e.hash).String("queryShapeHash", e.shape)
		b.StartDocument("metrics")
		e.appendMetrics(b)
		b.End().Append("asOf", value.Timestamp(now, 0))
		docs = append(docs, b.Doc())
	}
	return docs
}

// appendMetrics writes the metrics. Those of what the server does not have are 0: reads from a
// disk for one query, tickets, plans that compete.
func (e *queryEntry) appendMetrics(b *value.Builder) {
	b.Int64("lastExecutionMicros", e.last.Microseconds()).Int64("execCount", e.n)
	none := aggregated{}
	for _, m := range []struct {
		name string
		of   *aggregated
	}{
		{"totalExecMicros", &e.sums[totalMicros]}, {"firstResponseExecMicros", &e.sums[firstMicros]}, {"docsReturned", &e.sums[docsReturned]},
		{"keysExamined", &e.sums[keysExamined]}, {"docsExamined", &e.sums[docsExamined]},
		{"bytesRead", &none}, {"readTimeMicros", &none}, {"workingTimeMillis", &e.sums[workingMillis]},
		{"delinquentAcquisitions", &none}, {"totalAcquisitionDelinquencyMillis", &none}, {"maxAcquisitionDelinquencyMillis", &none},
		{"numInterruptChecksPerSec", &none}, {"overdueInterruptApproxMaxMillis", &none},
	} {
		b.StartDocument(m.name).Int64("sum", m.of.sum).Int64("max", m.of.max).Int64("min", m.of.min)
		b.Append("sumOfSquares", value.DecimalValue(value.DecimalFromApd(&m.of.squares))).End()
	}
	for _, f := range []struct {
		name string
		yes  int64
	}{{"hasSortStage", e.sorted}, {"usedDisk", 0}, {"fromMultiPlanner", 0}, {"fromPlanCache", 0}} {
		b.StartDocument(f.name).Int64("true", f.yes).Int64("false", e.n-f.yes).End()
	}
	b.Date("firstSeenTimestamp", e.first).Date("latestSeenTimestamp", e.latest)
}
