package query

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// TestIndexBuildLetsReadersPass measures how long a reader and a writer wait
// while an index over 100,000 documents is built. It only fails if readers
// have to wait for the build.
func TestIndexBuildLetsReadersPass(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a large collection")
	}
	s := newServer(t)
	s.hundredThousand("c")
	s.insertDocs("other", numbered(10))
	done := make(chan time.Duration)
	go func() {
		start := time.Now()
		s.run(`{createIndexes: 'c', indexes: [{key: {s: 1, n: 1}, name: 'sn'}]}`)
		done <- time.Since(start)
	}()
	connect := func() *server {
		return &server{s.Another(t)}
	}
	writer := make(chan time.Duration, 1)
	stop := make(chan struct{})
	go func() {
		own, worst := connect(), time.Duration(0)
		for {
			select {
			case <-stop:
				writer <- worst
				return
			default:
				start := time.Now()
				own.run(`{update: 'other', updates: [{q: {_id: 1}, u: {$inc: {x: 1}}}]}`)
				worst = max(worst, time.Since(start))
			}
		}
	}()
	reader, worst, reads := connect(), time.Duration(0), 0
	for {
		select {
		case took := <-done:
			close(stop)
			t.Logf("build %v; %d reads meanwhile, the slowest %v; the slowest write %v", took, reads, worst, <-writer)
			if took > time.Second && reads < 10 {
				t.Errorf("only %d reads during the build", reads)
			}
			return
		default:
			start := time.Now()
			if len(batch(reader.must(value.NewDoc("find", value.String("c"), "filter", value.Document(value.NewDoc("_id", value.Int32(5))))))) != 1 {
				t.Fatal("not found")
			}
			worst, reads = max(worst, time.Since(start)), reads+1
		}
	}
}
