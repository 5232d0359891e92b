package commands

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// hotCommands are the commands whose cost is watched: each is the i-th
// request of its kind as a driver sends it, with a session.
var hotCommands = []struct {
	name  string
	build func(b *value.Builder, i int)
}{
	{"ping", func(b *value.Builder, _ int) { b.Int32("ping", 1) }},
	{"findOne", func(b *value.Builder, i int) {
		b.String("find", "c").StartDocument("filter").Int32("_id", int32(i%benchDocs)).End().Int32("limit", 1).Bool("singleBatch", true)
	}},
	{"insertOne", func(b *value.Builder, i int) {
		b.String("insert", "c").Bool("ordered", true).StartArray("documents").StartDocument("").Int32("_id", int32(benchDocs+i)).Int32("n", 0).
			String("text", "the quick brown fox jumps over the lazy dog").End().End()
	}},
	{"updateOne", func(b *value.Builder, i int) {
		b.String("update", "c").Bool("ordered", true).StartArray("updates").StartDocument("").
			StartDocument("q").Int32("_id", int32(i%benchDocs)).End().
			StartDocument("u").StartDocument("$inc").Int32("n", 1).End().End().End().End()
	}},
	{"deleteOne", func(b *value.Builder, i int) {
		b.String("delete", "c").Bool("ordered", true).StartArray("deletes").StartDocument("").
			StartDocument("q").Int32("_id", int32(i)).End().Int32("limit", 1).End().End()
	}},
}

func BenchmarkHot(b *testing.B) {
	for _, hot := range hotCommands {
		b.Run(hot.name, func(b *testing.B) {
			h := newHarness(b)
			docs := benchDocs
			if hot.name == "deleteOne" {
				docs = max(docs, b.N)
			}
			fillTo(h, docs)
			var cmd value.Builder
			buf, reply := make([]byte, 0, 4096), make([]byte, 0, 4096)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				cmd.Reset(buf[:0])
				hot.build(&cmd, i)
				cmd.String("$db", "test").StartDocument("lsid").Append("id", value.Binary(4, lsidBytes)).End()
				out, _ := h.svc.Handle(context.Background(), h.conn, &Request{Body: cmd.Doc()}, reply)
				if !value.Doc(out).Lookup("ok").Truthy() {
					b.Fatal(value.Doc(out))
				}
			}
		})
	}
}

var lsidBytes = []byte("0123456789abcdef")

func fillTo(h *harness, n int) {
	for i := 0; i < n; {
		b := value.NewBuilder()
		b.String("insert", "c").StartArray("documents")
		for range min(1000, n-i) {
			b.StartDocument("").Int32("_id", int32(i)).Int32("n", 0).String("text", "the quick brown fox jumps over the lazy dog").End()
			i++
		}
		b.End()
		h.runOn("test", b.Doc())
	}
}
