package agg_tests

import (
	"context"
	"math/rand/v2"
	"testing"

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
