package commands_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// Every call of the engine is free in memory, costs microseconds on disk and a
// trip over the network elsewhere; calls within an Update are made while other
// writers wait. So each command has a budget of calls. The rows name all calls
// that the engine gets for a command, counted by a storagetest.Counter: "r." is
// within a View, "W." within an Update, and the rows that scans yield are not
// counted. The oplog is on, so each change has an Insert of its own into it.
//
// A change that lowers a figure writes the lower one here; a change that raises one needs
// a reason.

// counting is a harness over an engine whose calls are counted.
type counting struct {
	monitor *monitor.Monitor // the monitor of all passes, since it knows what has not changed
	*harness.Harness
	calls *storagetest.Counter
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: bunt.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	counter := storagetest.NewCounter(engine)
	return &counting{Harness: harness.NewOver(t, counter, manual, kernel.Options{Log: zerolog.Nop()}), calls: counter}
}

// fill inserts 1,000 documents with indexes on _id, a (10 documents for each
// value), b (143 or 142 for each) and t, by which they expire after an hour.
func (h *counting) fill() {
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1"}, {key: {t: 1}, name: "t_1", expireAfterSeconds: 3600}]}`)
	docs := make([]string, 1000)
	for i := range docs {
		docs[i] = fmt.Sprintf(`{_id: %d, a: %d, b: %d, n: 0, t: {$date: %q}}`, i, i%100, i%7, harness.TestStart.Format(time.RFC3339))
	}
	h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `]}`)
}

// during returns the calls that the engine gets while fn runs.
func (h *counting) during(fn func()) storagetest.Calls {
	h.calls.Take()
	fn()
	return h.calls.Take()
}

// budget is a command and the calls it makes.
type budget struct {
	name    string
	command string
	again   bool // counted when the command has run twice before
	want    string
	// The most that the command may ever take; 0: not limited.
	transactions int // Views and Updates
	data         int // calls that reach records, entries or their statistics
}

var budgets = []budget{
	{name: "insert", command: `{insert: "c", documents: [{_id: -1, a: 1}]}`,
		want: "Stamp 1, Update 1, W.Collection 2, W.Insert 2", data: 2, transactions: 1},
	{name: "find by _id", command: `{find: "c", filter: {_id: 7}}`,
		want: "Stamp 1, View 1, r.Collection 1, r.Find 1", data: 1, transactions: 1},
	{name: "find by index", command: `{find: "c", filter: {a: 5}}`,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "find by index with a known plan", command: `{find: "c", filter: {a: 5}}`, again: true,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "find by two indexes", command: `{find: "c", filter: {a: 5, b: 2}}`,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanIndex 2, r.ScanRecords 1", transactions: 2},
	{name: "find by two indexes with a known plan", command: `{find: "c", filter: {a: 5, b: 2}}`, again: true,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 1, r.ScanIndex 1, r.ScanRecords 1", transactions: 2},
	{name: "find 10 of all, sorted", command: `{find: "c", sort: {a: 1}, limit: 10}`,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "count", command: `{count: "c", query: {a: 5}}`,
		want: "Stamp 2, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanIndex 1", transactions: 2},
	{name: "count by documents", command: `{count: "c", query: {a: 5, n: 0}}`,
		want: "Stamp 2, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "distinct", command: `{distinct: "c", key: "n", query: {a: 5}}`,
		want: "Stamp 3, View 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "aggregate", command: `{aggregate: "c", pipeline: [{$match: {a: 5}}, {$group: {_id: "$b", n: {$sum: 1}}}], cursor: {}}`,
		want: "Stamp 4, View 1, r.Collection 6, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "$lookup of 100", command: `{aggregate: "c", pipeline: [{$match: {_id: {$lt: 100}}}, {$lookup: {from: "c", localField: "a", foreignField: "a", as: "x"}}, {$project: {n: {$size: "$x"}}}], cursor: {}}`,
		want: "Stamp 4, View 6, r.Collection 14, r.Count 2, r.IndexStats 9, r.ScanRecords 102", transactions: 6},
	{name: "$lookup of 100 without an index", command: `{aggregate: "c", pipeline: [{$match: {_id: {$lt: 100}}}, {$lookup: {from: "c", localField: "a", foreignField: "n", as: "x"}}, {$project: {n: {$size: "$x"}}}], cursor: {}}`,
		want: "Stamp 5, View 18, r.Collection 25, r.Count 3, r.IndexStats 13, r.Scan 12, r.ScanRecords 2", transactions: 18},
	{name: "updateOne by _id", command: `{update: "c", updates: [{q: {_id: 7}, u: {$inc: {n: 1}}}]}`,
		want: "Stamp 1, Update 1, W.Collection 2, W.Find 1, W.Insert 1, W.Update 1", transactions: 1, data: 3},
	{name: "updateOne with a new field", command: `{update: "c", updates: [{q: {_id: 8}, u: {$set: {fresh: 1}}}]}`,
		want: "Stamp 1, Update 1, W.Collection 2, W.Find 1, W.Insert 1, W.Update 1"},
	{name: "updateMany of 143", command: `{update: "c", updates: [{q: {b: 2}, u: {$inc: {n: 1}}, multi: true}]}`,
		want: "Stamp 2, Update 1, View 1, W.Collection 2, W.GetMany 1, W.Insert 1, W.Update 143, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "deleteMany of 10", command: `{delete: "c", deletes: [{q: {a: 5}, limit: 0}]}`,
		want: "Stamp 2, Update 1, View 1, W.Collection 2, W.Delete 10, W.GetMany 1, W.Insert 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "findAndModify", command: `{findAndModify: "c", query: {a: 7}, update: {$inc: {n: 1}}}`,
		want: "Stamp 2, Update 1, View 1, W.Collection 2, W.Get 1, W.Insert 1, W.Update 1, r.Collection 3, r.Count 1, r.IndexStats 4, r.ScanRecords 1", transactions: 2},
	{name: "findAndModify by _id", command: `{findAndModify: "c", query: {_id: 7}, update: {$inc: {n: 1}}}`,
		want: "Stamp 1, Update 1, W.Collection 2, W.Find 1, W.Insert 1, W.Update 1", transactions: 1},
	{name: "$lookup of 1,000 with $limit 5", command: `{aggregate: "c", pipeline: [{$match: {_id: {$gte: 0}}}, {$lookup: {from: "c", localField: "a", foreignField: "a", as: "x"}}, {$match: {n: 0}}, {$limit: 5}, {$project: {n: {$size: "$x"}}}], cursor: {}}`,
		want: "Stamp 4, View 4, r.Collection 12, r.Count 2, r.IndexStats 8, r.ScanRecords 6", transactions: 6},
}

func TestCallBudgets(t *testing.T) {
	for _, b := range budgets {
		h := newCounting(t)
		h.fill()
		for range 2 {
			if b.again {
				h.OK(b.command)
			}
		}
		got := h.during(func() { h.OK(b.command) })
		if got.String() != b.want {
			t.Errorf("%s: calls are\n%s\nwant\n%s", b.name, got, b.want)
		}
		if n := got.Transactions(); b.transactions > 0 && n > b.transactions {
			t.Errorf("%s takes %d transactions, at most %d are expected", b.name, n, b.transactions)
		}
		if n := got.Data(); b.data > 0 && n > b.data {
			t.Errorf("%s takes %d calls of a collection, at most %d are expected", b.name, n, b.data)
		}
	}
}

// pass runs a pass of a monitor with transactions of at most 512 records, which passes
// reach when no client is active.
func (h *counting) pass() monitor.Result {
	h.Helper()
	if h.monitor == nil {
		h.monitor = monitor.New(write.ExpiryHost{Svc: h.Svc}, monitor.Options{Clock: h.Clock, Log: zerolog.Nop(), Batch: 512})
	}
	r, err := h.monitor.RunPass(context.Background(), ttl.All)
	if err != nil {
		h.Fatal(err)
	}
	return r
}

func TestCallBudgetOfExpiry(t *testing.T) {
	h := newCounting(t)
	h.fill()
	h.Clock.Advance(2 * time.Hour)
	var r monitor.Result
	got := h.during(func() { r = h.pass() })
	if n := r.Of(ttl.Index).Documents; n != 1000 {
		t.Fatalf("%d documents expired, want 1000", n)
	}
	want := "Update 2, View 1, W.Collection 4, W.DeleteRange 2, W.Insert 2, r.Collection 1, r.Collections 1, r.ScanIndex 1"
	if got.String() != want {
		t.Errorf("expiry of 1,000 documents: calls are\n%s\nwant\n%s", got, want)
	}
	if n := got.Transactions() + got.Opens() + got.Data(); n > 20 {
		t.Errorf("expiry of 1,000 documents takes %d calls, at most 20 are expected", n)
	}
}

// An idle pass: 10,000 collections, of which 101 have something that may expire. The
// first one reads the first entries of their indexes where the collections are listed, the
// others only what has changed.
func TestCallBudgetOfIdlePass(t *testing.T) {
	h := newCounting(t)
	h.fill()
	expiring := []storage.IndexSpec{{Name: "t_1", Spec: value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc("t", value.Int32(1))),
		"name", value.String("t_1"), "expireAfterSeconds", value.Int32(3600))}}
	err := h.Svc.Engine.Update(context.Background(), func(tx storage.Tx) error {
		for i := range 10_000 - 1 {
			var indexes []storage.IndexSpec
			if i < 100 {
				indexes = expiring
			}
			if _, err := tx.Create(storage.Namespace{DB: "many", Coll: fmt.Sprintf("c%d", i)}, nil, indexes); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := h.during(func() { h.pass() })
	want := "View 1, r.Collection 101, r.Collections 1, r.ScanIndex 101"
	if got.String() != want {
		t.Errorf("an idle pass: calls are\n%s\nwant\n%s", got, want)
	}
	if n := got.Transactions(); n > 2 {
		t.Errorf("an idle pass takes %d transactions, at most 2 are expected", n)
	}
	if again := h.during(func() { h.pass() }).String(); again != "" {
		t.Errorf("another one, after which nothing has changed: calls are\n%s\nwant none", again)
	}
	h.OK(`{insert: "c", documents: [{_id: -1, t: {$date: "2030-01-01T00:00:00Z"}}]}`)
	changed := h.during(func() { h.pass() })
	if want := "View 1, r.Collection 2, r.ScanIndex 1"; changed.String() != want { // the second is the change log
		t.Errorf("one after a write to one collection: calls are\n%s\nwant\n%s", changed, want)
	}
}

// TestSmallBatches: a getMore reads in proportion to its batch, however much the cursor has left.
func TestSmallBatches(t *testing.T) {
	t.Parallel()
	h := newCounting(t)
	h.fill()
	for _, find := range []string{`{find: "c", batchSize: 0}`, `{find: "c", filter: {b: {$gte: 0}}, hint: "b_1", batchSize: 0}`} {
		id := h.OK(find).Lookup("cursor").Doc().Lookup("id").Int64()
		const batches = 100
		read := 0
		for name, n := range h.during(func() {
			for range batches {
				h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id))
			}
		}) {
			if strings.HasSuffix(name, "rows") {
				read += n
			}
		}
		if read < batches || read > 64*batches {
			t.Errorf("%s: %d rows read for %d batches of one document", find, read, batches)
		}
	}
}
