package commands_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func benchmarkCommand(b *testing.B, setup func(h *harness.Harness), command func(i int) value.Doc) {
	h := harness.New(b)
	if setup != nil {
		setup(h)
	}
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		out, _ := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: command(i)}, buf)
		if !value.Doc(out).Lookup("ok").Truthy() {
			b.Fatal(value.Doc(out))
		}
	}
}

func BenchmarkPing(b *testing.B) {
	cmd := value.MustJSON(`{"ping": 1, "$db": "admin"}`)
	benchmarkCommand(b, nil, func(int) value.Doc { return cmd })
}

func BenchmarkFindOneByID(b *testing.B) {
	benchmarkCommand(b, harness.Fill, func(i int) value.Doc {
		return value.NewDoc("find", value.String("c"), "filter", value.Document(value.NewDoc("_id", value.Int32(int32(i%harness.BenchDocs)))),
			"limit", value.Int32(1), "singleBatch", value.Bool(true), "$db", value.String("test"))
	})
}

func BenchmarkInsertOne(b *testing.B) {
	benchmarkCommand(b, nil, func(i int) value.Doc {
		d := value.NewDoc("_id", value.Int32(int32(i)), "n", value.Int32(0), "text", value.String("the quick brown fox jumps over the lazy dog"))
		return value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d)), "$db", value.String("test"))
	})
}

func BenchmarkUpdateOneInc(b *testing.B) {
	benchmarkCommand(b, harness.Fill, func(i int) value.Doc {
		u := value.NewDoc("q", value.Document(value.NewDoc("_id", value.Int32(int32(i%harness.BenchDocs)))),
			"u", value.Document(value.NewDoc("$inc", value.Document(value.NewDoc("n", value.Int32(1))))))
		return value.NewDoc("update", value.String("c"), "updates", value.NewArray(value.Document(u)), "$db", value.String("test"))
	})
}

// BenchmarkFindRange finds 100 documents by a range of an index.
func BenchmarkFindRange(b *testing.B) {
	benchmarkCommand(b, func(h *harness.Harness) {
		docs := value.NewBuilder()
		docs.String("insert", "c").StartArray("documents")
		for i := range int32(10_000) {
			docs.StartDocument("").Int32("_id", i).Int32("k", i).String("text", "the quick brown fox jumps over the lazy dog").End()
		}
		h.RunOn("test", docs.End().Doc())
		h.OK(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k_1"}]}`)
	}, func(i int) value.Doc {
		lo := int32(i * 7919 % 9900)
		b := value.NewBuilder()
		return b.String("find", "c").StartDocument("filter").StartDocument("k").Int32("$gte", lo).Int32("$lt", lo+100).End().End().String("$db", "test").Doc()
	})
}
