package agg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// benchDocs makes documents of about 200 bytes.
func benchDocs(n int) []value.Doc {
	pad := strings.Repeat("x", 100)
	out := make([]value.Doc, n)
	for i := range out {
		out[i] = value.NewDoc("_id", value.Int32(int32(i)), "g", value.Int32(int32(i%100)), "x", value.Int32(int32(i*7%1000)),
			"y", value.Double(float64(i)/3), "s", value.String(fmt.Sprintf("name%d", i%1000)), "pad", value.String(pad))
	}
	return out
}

func benchmarkPipeline(b *testing.B, n int, pipeline string) {
	in := benchDocs(n)
	p, err := agg.Compile(aggtest.Array(b, pipeline), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		it, err := p.Run(aggtest.Exec(nil), stage.Docs(in...))
		if err != nil {
			b.Fatal(err)
		}
		for {
			d, err := it.Next()
			if err != nil {
				b.Fatal(err)
			}
			if d == nil {
				break
			}
		}
		it.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/doc")
}

func BenchmarkMatchGroup(b *testing.B) {
	benchmarkPipeline(b, 100_000, `[{"$match": {"x": {"$gte": 100}}}, {"$group": {"_id": "$g", "n": {"$sum": "$x"}, "a": {"$avg": "$y"}}}]`)
}

// BenchmarkGroupByHand measures a hand-written loop that does the same as
// BenchmarkMatchGroup.
func BenchmarkGroupByHand(b *testing.B) {
	in := benchDocs(100_000)
	b.ReportAllocs()
	for range b.N {
		type acc struct {
			sum, n int64
			y      float64
		}
		groups := map[int64]*acc{}
		for _, d := range in {
			x := d.Lookup("x").Int64()
			if x < 100 {
				continue
			}
			g := d.Lookup("g").Int64()
			a := groups[g]
			if a == nil {
				a = &acc{}
				groups[g] = a
			}
			a.sum += x
			a.y += d.Lookup("y").Double()
			a.n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/doc")
}

func BenchmarkGroupManyKeys(b *testing.B) {
	benchmarkPipeline(b, 100_000, `[{"$group": {"_id": "$_id", "n": {"$sum": 1}}}]`)
}

func BenchmarkSort(b *testing.B) { benchmarkPipeline(b, 100_000, `[{"$sort": {"s": 1}}]`) }

func BenchmarkTopSort(b *testing.B) {
	benchmarkPipeline(b, 1_000_000, `[{"$sort": {"x": -1, "_id": 1}}, {"$limit": 10}]`)
}

func BenchmarkMatchProject(b *testing.B) {
	benchmarkPipeline(b, 100_000, `[{"$match": {"x": {"$gte": 500}}}, {"$project": {"g": 1, "z": {"$add": ["$x", "$y"]}}}]`)
}

func BenchmarkWindow(b *testing.B) {
	benchmarkPipeline(b, 100_000, `[{"$setWindowFields": {"partitionBy": "$g", "sortBy": {"_id": 1}, "output": {"r": {"$sum": "$x", "window": {"documents": [-10, 10]}}}}}]`)
}

// hashed is a host that answers equality on one field from a map, as an
// index would.
type hashed struct {
	*aggtest.Host
	byKey map[int64][]value.Doc
}

func (h *hashed) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	if r.Coll != "d" {
		return h.Host.Open(x, r)
	}
	c := r.Matcher.Root().(*match.Compare)
	n, _ := c.Value.AsInt64()
	return stage.Source{Iterator: stage.Docs(h.byKey[n]...)}, nil
}

func BenchmarkLookup(b *testing.B) {
	h := &hashed{aggtest.NewHost(), map[int64][]value.Doc{}}
	h.Colls["test.c"] = benchDocs(10_000)
	for i := range 10_000 {
		h.byKey[int64(i)] = []value.Doc{value.NewDoc("_id", value.Int32(int32(i)))}
	}
	p, err := agg.Compile(aggtest.Array(b, `[{"$lookup": {"from": "d", "localField": "_id", "foreignField": "_id", "as": "d"}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		it, err := p.Open(aggtest.Exec(h))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := aggtest.ReadAll(it); err != nil || len(got) != 10_000 {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkUnwind(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			elements := make([]value.Value, n)
			for i := range elements {
				elements[i] = value.Int32(int32(i))
			}
			in := value.NewDoc("_id", value.Int32(1), "a", value.String("before"), "r", value.NewArray(elements...), "z", value.String("behind"))
			p, err := agg.Compile(aggtest.Array(b, `[{"$unwind": "$r"}]`), stage.Options{DB: "test", Coll: "c"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for range b.N {
				it, err := p.Run(aggtest.Exec(nil), stage.Docs(in))
				if err != nil {
					b.Fatal(err)
				}
				for d, err := it.Next(); d != nil || err != nil; d, err = it.Next() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
