package query

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/value"
)

// hundredThousand fills a collection with documents whose n is spread over
// them out of order.
func (s *server) hundredThousand(coll string) {
	const total, chunk = 100_000, 1000
	for start := 0; start < total; start += chunk {
		var docs []value.Value
		for i := start; i < start+chunk; i++ {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(int32(i)), "n", value.Int32(int32(i*7919%total)),
				"g", value.Int32(int32(i%100)), "s", value.String(fmt.Sprint("name", i)))))
		}
		s.insertDocs(coll, docs)
	}
}

// repeat measures one command; it reports the documents looked at per second
// if docs is given.
func (s *server) repeat(b *testing.B, command string, docs int) {
	body := parse(command)
	it := body.Iter()
	body = value.NewBuilder().Raw(it.Rest()).String("$db", "test").Doc()
	buf := make([]byte, 0, 64<<10)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		out, _ := s.Service.Handle(context.Background(), s.Conn, &commands.Request{Body: body}, buf)
		if !value.Doc(out).Lookup("ok").Truthy() {
			b.Fatal(value.Doc(out))
		}
	}
	if docs > 0 {
		b.ReportMetric(float64(docs)*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
	}
}

func BenchmarkQueries(b *testing.B) {
	s := newServer(b)
	s.hundredThousand("c")
	s.run(`{createIndexes: 'c', indexes: [{key: {n: 1}, name: 'n'}, {key: {g: 1, n: 1}, name: 'gn'}]}`)
	for _, c := range []struct {
		name, command string
		docs          int
	}{
		{"ping", `{ping: 1}`, 0},
		{"findByID", `{find: 'c', filter: {_id: 500}}`, 0},
		{"findOneByIndex", `{find: 'c', filter: {n: 500}, limit: 1}`, 0},
		{"range100ByIndex", `{find: 'c', filter: {n: {$gte: 500, $lt: 600}}}`, 0},
		{"range100ByScan", `{find: 'c', filter: {n: {$gte: 500, $lt: 600}}, hint: {$natural: 1}}`, 100_000},
		{"sortByIndexLimit20", `{find: 'c', filter: {g: 5}, sort: {n: -1}, limit: 20}`, 0},
		{"sortInMemoryLimit20", `{find: 'c', sort: {s: 1}, limit: 20}`, 100_000},
		{"scanNone", `{find: 'c', filter: {s: 'nobody'}}`, 100_000},
		{"scanCount", `{count: 'c', query: {s: {$gt: 'name5'}}}`, 100_000},
		{"countByIndex", `{count: 'c', query: {g: 5}}`, 0},
		{"countAll", `{count: 'c'}`, 0},
		{"coveredRange100", `{find: 'c', filter: {n: {$gte: 500, $lt: 600}}, projection: {n: 1, _id: 0}}`, 0},
		{"distinctByScan", `{distinct: 'c', key: 'g', hint: {$natural: 1}}`, 100_000},
		{"distinctByIndex", `{distinct: 'c', key: 'g'}`, 0},
		{"groupByIndex", `{aggregate: 'c', pipeline: [{$group: {_id: '$g'}}], cursor: {}}`, 0},
		{"updateByID", `{update: 'c', updates: [{q: {_id: 500}, u: {$inc: {x: 1}}}]}`, 0},
		{"updateByIndex", `{update: 'c', updates: [{q: {n: 500}, u: {$inc: {x: 1}}}]}`, 0},
		{"findAndModifyByID", `{findAndModify: 'c', query: {_id: 500}, update: {$inc: {x: 1}}, new: true}`, 0},
	} {
		b.Run(c.name, func(b *testing.B) { s.repeat(b, c.command, c.docs) })
	}
}

// BenchmarkPlanning compares queries for which the planner chooses one of five
// indexes with queries that have a hint.
func BenchmarkPlanning(b *testing.B) {
	s := newServer(b)
	s.hundredThousand("c")
	s.run(`{createIndexes: 'c', indexes: [{key: {n: 1}, name: 'n'}, {key: {g: 1, n: 1}, name: 'gn'}, {key: {g: 1, s: 1}, name: 'gs'}, {key: {g: 1}, name: 'g'}, {key: {s: 1}, name: 's'}]}`)
	for _, c := range []struct{ name, query string }{
		{"one", `find: 'c', filter: {n: 500, g: 21, s: {$gte: 'name5'}}`},
		{"hundred", `find: 'c', filter: {g: 21, n: {$gte: 500, $lt: 10500}, s: {$gte: 'name'}}`},
		{"sortedPage", `find: 'c', filter: {g: 21}, sort: {n: 1}, limit: 20`},
	} {
		b.Run(c.name+"/choose", func(b *testing.B) { s.repeat(b, `{`+c.query+`}`, 0) })
		b.Run(c.name+"/hint", func(b *testing.B) { s.repeat(b, `{`+c.query+`, hint: 'gn'}`, 0) })
	}
}
