package commands_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// hotCommands are the commands whose cost is tested: each function builds the i-th
// request as a driver sends it, with a session.
var hotCommands = []struct {
	name    string
	ceiling float64 // allocations, those of the storage engine included
	build   func(b *value.Builder, i int)
}{
	{"ping", 0, func(b *value.Builder, _ int) { b.Int32("ping", 1) }},
	{"findOne", 0, func(b *value.Builder, i int) {
		b.String("find", "c").StartDocument("filter").Int32("_id", int32(i%harness.BenchDocs)).End().Int32("limit", 1).Bool("singleBatch", true)
	}},
	{"insertOne", 17, func(b *value.Builder, i int) {
		b.String("insert", "c").Bool("ordered", true).StartArray("documents").StartDocument("").Int32("_id", int32(hotDocs+i)).Int32("n", 0).
			String("text", "the quick brown fox jumps over the lazy dog").End().End()
	}},
	{"updateOne", 19, func(b *value.Builder, i int) {
		b.String("update", "c").Bool("ordered", true).StartArray("updates").StartDocument("").
			StartDocument("q").Int32("_id", int32(i%harness.BenchDocs)).End().
			StartDocument("u").StartDocument("$inc").Int32("n", 1).End().End().End().End()
	}},
	{"addField", 19, func(b *value.Builder, i int) { // each document has it once
		b.String("update", "c").Bool("ordered", true).StartArray("updates").StartDocument("").
			StartDocument("q").Int32("_id", int32(i)).End().
			StartDocument("u").StartDocument("$set").Int32("added", 1).End().End().End().End()
	}},
	{"findAndModify", 19, func(b *value.Builder, i int) {
		b.String("findAndModify", "c").StartDocument("query").Int32("_id", int32(i%harness.BenchDocs)).End().
			StartDocument("update").StartDocument("$inc").Int32("n", 1).End().End()
	}},
	{"deleteOne", 25, func(b *value.Builder, i int) {
		b.String("delete", "c").Bool("ordered", true).StartArray("deletes").StartDocument("").
			StartDocument("q").Int32("_id", int32(i)).End().Int32("limit", 1).End().End()
	}},
}

// hotDocs is the upper limit of the _ids of existing documents; higher _ids are free.
const hotDocs = 1 << 24

// hotLoop sends one kind of command after another as a connection does, which
// reuses its memory.
type hotLoop struct {
	h          *harness.Harness
	cmd        value.Builder
	buf, reply []byte
	request    kernel.Request
	i          int
}

func newHotLoop(h *harness.Harness) *hotLoop {
	return &hotLoop{h: h, buf: make([]byte, 0, 4096), reply: make([]byte, 0, 4096)}
}

func (l *hotLoop) run(build func(b *value.Builder, i int)) value.Doc {
	l.i++
	return l.send("test", func(b *value.Builder) { build(b, l.i-1) })
}

// transaction runs a transaction that updates two documents, and returns the reply to the
// commit.
func (l *hotLoop) transaction() value.Doc {
	l.i++
	for n := range 2 {
		l.send("test", func(b *value.Builder) {
			b.String("update", "c").StartArray("updates").StartDocument("").
				StartDocument("q").Int32("_id", int32((2*l.i+n)%harness.BenchDocs)).End().
				StartDocument("u").StartDocument("$inc").Int32("n", 1).End().End().End().End()
			if n == 0 {
				b.Bool("startTransaction", true)
			}
			b.Int64("txnNumber", int64(l.i)).Bool("autocommit", false)
		})
	}
	return l.send("admin", func(b *value.Builder) {
		b.Int32("commitTransaction", 1).Int64("txnNumber", int64(l.i)).Bool("autocommit", false)
	})
}

func (l *hotLoop) send(db string, build func(b *value.Builder)) value.Doc {
	l.cmd.Reset(l.buf[:0])
	build(&l.cmd)
	l.cmd.String("$db", db).StartDocument("lsid").Append("id", value.Binary(4, lsidBytes)).End()
	l.request.Body = l.cmd.Doc()
	out, _ := harness.Answer(l.h.Svc, context.Background(), l.h.Conn, &l.request, l.reply)
	return out
}

func BenchmarkHot(b *testing.B) {
	for _, hot := range hotCommands {
		b.Run(hot.name, func(b *testing.B) {
			h := harness.New(b)
			docs := harness.BenchDocs
			if hot.name == "deleteOne" || hot.name == "addField" {
				docs = max(docs, b.N)
			}
			fillTo(h, docs)
			l := newHotLoop(h)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if reply := l.run(hot.build); !reply.Lookup("ok").Truthy() {
					b.Fatal(reply)
				}
			}
		})
	}
}

func BenchmarkHotTransaction(b *testing.B) {
	h := harness.New(b)
	fillTo(h, harness.BenchDocs)
	l := newHotLoop(h)
	b.ReportAllocs()
	for b.Loop() {
		if reply := l.transaction(); !reply.Lookup("ok").Truthy() {
			b.Fatal(reply)
		}
	}
}

var lsidBytes = []byte("0123456789abcdef")

func fillTo(h *harness.Harness, n int) {
	for i := 0; i < n; {
		b := value.NewBuilder()
		b.String("insert", "c").StartArray("documents")
		for range min(1000, n-i) {
			b.StartDocument("").Int32("_id", int32(i)).Int32("n", 0).String("text", "the quick brown fox jumps over the lazy dog").End()
			i++
		}
		b.End()
		h.RunOn("test", b.Doc())
	}
}
