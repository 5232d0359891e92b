package agg

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/value"
)

// sales makes documents of about 200 bytes.
func sales(n int) []value.Doc {
	random := rand.New(rand.NewPCG(1, 2))
	docs := make([]value.Doc, n)
	for i := range docs {
		docs[i] = value.NewDoc("_id", value.Int32(int32(i)), "store", value.Int32(int32(random.IntN(100))), "status", value.String([]string{"A", "B"}[random.IntN(2)]),
			"amount", value.Double(random.Float64()*100), "quantity", value.Int32(int32(random.IntN(10))), "customer", value.Int32(int32(random.IntN(n))),
			"note", value.String("the quick brown fox jumps over the lazy dog and runs away from the hungry wolf, who is"))
	}
	return docs
}

func benchmarkPipeline(b *testing.B, setup func(s *server), coll, pipeline string) {
	s := newServer(b)
	setup(s)
	command := value.NewDoc("aggregate", value.String(coll), "pipeline", doc(`{p: `+pipeline+`}`).Lookup("p"), "cursor", value.Document(value.EmptyDoc))
	b.ReportAllocs()
	for b.Loop() {
		if reply := s.send(context.Background(), "test", command); !reply.Lookup("ok").Truthy() {
			b.Fatal(reply)
		}
	}
}

func BenchmarkMatchGroup100k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.insertDocs("c", sales(100_000)) }, "c",
		`[{$match: {status: "A"}}, {$group: {_id: "$store", total: {$sum: "$quantity"}, mean: {$avg: "$amount"}}}]`)
}

func BenchmarkSortLimit100k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.insertDocs("c", sales(100_000)) }, "c", `[{$sort: {amount: -1}}, {$limit: 10}]`)
}

func BenchmarkMatchProject100k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.insertDocs("c", sales(100_000)) }, "c",
		`[{$match: {status: "A"}}, {$project: {store: 1, v: {$multiply: ["$amount", "$quantity"]}}}, {$match: {v: {$lt: -1}}}]`)
}

func BenchmarkLookup10kBy10k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) {
		s.insertDocs("orders", sales(10_000))
		s.insertDocs("customers", sales(10_000))
		s.ok(`{createIndexes: "customers", indexes: [{key: {customer: 1}, name: "c"}]}`)
	}, "orders", `[{$lookup: {from: "customers", localField: "customer", foreignField: "customer", as: "r"}}, {$match: {r: -1}}]`)
}

func BenchmarkLookupByID10k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.insertDocs("orders", sales(10_000)) }, "orders",
		`[{$lookup: {from: "orders", localField: "customer", foreignField: "_id", as: "r"}}, {$match: {r: -1}}]`)
}

func BenchmarkLookupWithPipeline10k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) {
		s.insertDocs("orders", sales(10_000))
		s.ok(`{createIndexes: "orders", indexes: [{key: {customer: 1}, name: "c"}]}`)
	}, "orders", `[{$lookup: {from: "orders", let: {c: "$customer"}, pipeline: [{$match: {$expr: {$eq: ["$customer", "$$c"]}}}, {$project: {amount: 1}}], as: "r"}}, {$match: {r: -1}}]`)
}

// A document costs few allocations, and no more among many documents.
func TestAllocationsPerDocument(t *testing.T) {
	if engines.ForTests() != engines.Default || engines.Wrap != nil {
		t.Skip("an engine that reads from disk, or a wrapped one, allocates each document")
	}
	s := newServer(t)
	s.insertDocs("few", sales(2_000))
	s.insertDocs("many", sales(12_000))
	s.ok(`{createIndexes: "many", indexes: [{key: {customer: 1}, name: "c"}]}`)
	for _, c := range []struct {
		pipeline string
		most     float64 // allocations per document
	}{
		{`[{$match: {status: "A"}}, {$match: {v: 1}}]`, 0.1},
		{`[{$match: {status: "A"}}, {$project: {store: 1, v: {$multiply: ["$amount", "$quantity"]}}}, {$match: {v: {$lt: -1}}}]`, 2.5},
		{`[{$match: {status: "A"}}, {$group: {_id: "$store", total: {$sum: "$quantity"}, mean: {$avg: "$amount"}}}]`, 0.1},
		{`[{$sort: {amount: -1}}, {$limit: 10}]`, 0.1},
		{`[{$lookup: {from: "many", localField: "customer", foreignField: "customer", as: "r"}}, {$match: {r: -1}}]`, 30},
	} {
		allocations := func(coll string) float64 {
			command := value.NewDoc("aggregate", value.String(coll), "pipeline", doc(`{p: `+c.pipeline+`}`).Lookup("p"), "cursor", value.Document(value.EmptyDoc))
			return testing.AllocsPerRun(2, func() { s.send(context.Background(), "test", command) })
		}
		if n := (allocations("many") - allocations("few")) / 10_000; n > c.most {
			t.Errorf("%s: %.2f allocations per document, want %.2f at most", c.pipeline, n, c.most)
		}
	}
}

func BenchmarkSortLimit1M(b *testing.B) {
	benchmarkPipeline(b, func(s *server) {
		for range 10 {
			docs := sales(100_000)
			for i, d := range docs {
				docs[i] = value.NewDoc("amount", d.Lookup("amount"), "store", d.Lookup("store"))
			}
			s.insertDocs("c", docs)
		}
	}, "c", `[{$sort: {amount: -1}}, {$limit: 10}]`)
}

func BenchmarkSeriesGroupByHour(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.fill("ts") }, "ts", `[{$group: {_id: {$dateTrunc: {date: "$t", unit: "hour"}}, hi: {$max: "$x"}, n: {$sum: 1}}}]`)
}

// BenchmarkSeriesGroupUnpacked is the same with what buckets do not tell.
func BenchmarkSeriesGroupUnpacked(b *testing.B) {
	benchmarkPipeline(b, func(s *server) { s.fill("ts") }, "ts", `[{$group: {_id: {$hour: "$t"}, hi: {$max: "$x"}, n: {$sum: 1}}}]`)
}

func BenchmarkLookupByRange10k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) {
		s.insertDocs("orders", sales(10_000))
		s.ok(`{createIndexes: "orders", indexes: [{key: {customer: 1}, name: "c"}]}`)
	}, "orders", `[{$lookup: {from: "orders", let: {c: "$customer"}, pipeline: [{$match: {$expr: {$and: [{$gte: ["$customer", "$$c"]}, {$lt: ["$customer", {$add: ["$$c", 2]}]}]}}}, {$project: {amount: 1}}], as: "r"}}, {$match: {r: -1}}]`)
}

// places fills a collection with points all over the world.
func places(s *server) {
	random := rand.New(rand.NewPCG(3, 4))
	docs := make([]value.Doc, 50_000)
	for i := range docs {
		at := value.NewArray(value.Double(random.Float64()*360-180), value.Double(random.Float64()*170-85))
		docs[i] = value.NewDoc("_id", value.Int32(int32(i)), "p", at, "loc", value.Document(value.NewDoc("type", value.String("Point"), "coordinates", at)))
	}
	s.insertDocs("c", docs)
	s.ok(`{createIndexes: "c", indexes: [{key: {loc: "2dsphere"}, name: "sphere"}]}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {p: "2d"}, name: "plane"}]}`)
}

func BenchmarkGeoNearLimit10(b *testing.B) {
	benchmarkPipeline(b, places, "c", `[{$geoNear: {near: {type: "Point", coordinates: [10, 20]}, key: "loc", distanceField: "d"}}, {$limit: 10}]`)
}

func BenchmarkGeoNearPlaneLimit10(b *testing.B) {
	benchmarkPipeline(b, places, "c", `[{$geoNear: {near: [10, 20], key: "p", distanceField: "d"}}, {$limit: 10}]`)
}

// BenchmarkGeoNearAll measures every distance.
func BenchmarkGeoNearAll(b *testing.B) {
	benchmarkPipeline(b, places, "c", `[{$geoNear: {near: {type: "Point", coordinates: [10, 20]}, key: "loc", distanceField: "d"}}, {$group: {_id: null, d: {$min: "$d"}}}]`)
}

func BenchmarkMerge10k(b *testing.B) {
	benchmarkPipeline(b, func(s *server) {
		s.insertDocs("orders", sales(10_000))
		s.insertDocs("into", sales(10_000))
	}, "orders", `[{$set: {rank: 1}}, {$merge: "into"}]`)
}
