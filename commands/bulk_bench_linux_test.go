package commands_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// The benchmarks of this file read many documents with one command, and report the time
// for each. Beside them are loops over the same bytes without a server.

// bulkDocs is how many documents of about 300 bytes there are.
const bulkDocs = 20_000

func bulkDoc(i int) value.Doc {
	return value.NewDoc("_id", value.Int32(int32(i)), "g", value.Int32(int32(i%100)), "k", value.Int32(int32(i*7919%bulkDocs)),
		"s", value.String(fmt.Sprint("name", i/100)), "v", value.Int32(int32(i)), "pad", value.String(strings.Repeat("x", 220)))
}

func bulkFill(h *harness.Harness) {
	for _, c := range []string{"c", "outer"} {
		n := bulkDocs
		if c == "outer" {
			n = 2000
		}
		for at := 0; at < n; at += 1000 {
			b := value.NewBuilder()
			b.String("insert", c).StartArray("documents")
			for i := at; i < at+1000; i++ {
				b.Document("", bulkDoc(i))
			}
			h.RunOn("test", b.End().Doc())
		}
	}
	h.OK(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k_1"}]}`)
}

var bulkCommands = []struct {
	name, command string
	docs          int // number of documents, by which the time is divided
}{
	{"Scan", `{find: "c", filter: {g: 17, s: {$regex: "9$"}}}`, bulkDocs},
	{"Count", `{count: "c", query: {g: 17}}`, bulkDocs},
	{"CountRange", `{count: "c", query: {v: {$gte: 5000, $lt: 9000}}}`, bulkDocs},
	{"Group", `{aggregate: "c", pipeline: [{$group: {_id: "$g", n: {$sum: "$v"}}}], cursor: {}}`, bulkDocs},
	{"GroupString", `{aggregate: "c", pipeline: [{$group: {_id: "$s", n: {$sum: "$v"}, a: {$avg: "$k"}, m: {$max: "$v"}}}], cursor: {}}`, bulkDocs},
	{"MatchGroup", `{aggregate: "c", pipeline: [{$match: {k: {$gte: 0}, v: {$gte: 0}}}, {$group: {_id: "$g", n: {$sum: 1}}}], cursor: {}}`, bulkDocs},
	{"TopSort", `{aggregate: "c", pipeline: [{$sort: {v: -1, s: 1}}, {$limit: 10}], cursor: {}}`, bulkDocs},
	{"TopSortWorst", `{aggregate: "c", pipeline: [{$sort: {v: -1}}, {$limit: 10}], cursor: {}}`, bulkDocs}, // each document replaces the worst
	{"FindTopSort", `{find: "c", sort: {v: -1}, limit: 10}`, bulkDocs},
	{"Sort", `{aggregate: "c", pipeline: [{$sort: {s: 1}}, {$group: {_id: null, n: {$sum: 1}}}], cursor: {}}`, bulkDocs},
	{"LookupIndexed", `{aggregate: "outer", pipeline: [{$lookup: {from: "c", localField: "k", foreignField: "k", as: "r"}}, {$match: {"r.0": {$exists: false}}}], cursor: {}}`, 2000},
	{"LookupHashed", `{aggregate: "outer", pipeline: [{$lookup: {from: "c", localField: "v", foreignField: "v", as: "r"}}, {$match: {"r.0": {$exists: false}}}], cursor: {}}`, 2000},
}

func BenchmarkBulk(b *testing.B) {
	h := harness.New(b)
	bulkFill(h)
	for _, c := range bulkCommands {
		b.Run(c.name, func(b *testing.B) {
			cmd := withDB(c.command)
			perDoc(b, c.docs, func(int) value.Doc { return cmd }, h)
		})
	}
	b.Run("Range", func(b *testing.B) {
		perDoc(b, 100, func(i int) value.Doc {
			lo := int32(i * 7919 % (bulkDocs - 100))
			b := value.NewBuilder()
			return b.String("find", "c").StartDocument("filter").StartDocument("k").Int32("$gte", lo).Int32("$lt", lo+100).End().End().String("$db", "test").Doc()
		}, h)
	})
}

func perDoc(b *testing.B, docs int, command func(i int) value.Doc, h *harness.Harness) {
	buf := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	start := processorTime()
	b.ResetTimer()
	for i := range b.N {
		out, _ := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: command(i)}, buf)
		if !value.Doc(out).Lookup("ok").Truthy() {
			b.Fatal(value.Doc(out))
		}
	}
	reportEach(b, start, docs)
}

// BenchmarkBulkByHand are plain loops over the same documents.
func BenchmarkBulkByHand(b *testing.B) {
	docs := make([]value.Doc, bulkDocs)
	for i := range docs {
		docs[i] = bulkDoc(i)
	}
	loop := func(f func()) func(b *testing.B) {
		return func(b *testing.B) {
			start := processorTime()
			for range b.N {
				f()
			}
			reportEach(b, start, bulkDocs)
		}
	}
	b.Run("Scan", loop(func() {
		n := 0
		for _, d := range docs {
			if d.Lookup("g").Int64() == 17 && strings.HasSuffix(d.Lookup("s").Str(), "9") {
				n++
			}
		}
	}))
	b.Run("Group", loop(func() {
		groups := map[int64]*int64{}
		for _, d := range docs {
			g := d.Lookup("g").Int64()
			sum := groups[g]
			if sum == nil {
				sum = new(int64)
				groups[g] = sum
			}
			*sum += d.Lookup("v").Int64()
		}
	}))
}

// withDB reads a command, and adds the database.
func withDB(command string) value.Doc {
	it := harness.Relaxed(command).Iter()
	return value.NewBuilder().Raw(it.Rest()).String("$db", "test").Doc()
}

// reportEach reports the processor time for each document, which hardly changes on a busy
// machine.
func reportEach(b *testing.B, start time.Duration, docs int) {
	b.ReportMetric(float64(processorTime()-start)/float64(b.N)/float64(docs), "cpu-ns/doc")
}
