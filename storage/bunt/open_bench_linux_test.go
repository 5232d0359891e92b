package bunt

import (
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	indexes "github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// serverIndexer makes the indexes of the server, ascending by one field.
type serverIndexer struct{ indexes.Indexer }

func (serverIndexer) Attach(*storage.Info) any { return nil }

func (x serverIndexer) Index(options value.Doc, spec storage.IndexSpec) (storage.Index, error) {
	spec.Spec = value.NewDoc("v", value.Int32(2), "name", value.String(spec.Name),
		"key", value.Document(value.NewDoc(spec.Spec.Lookup("field").Str(), value.Int32(1))))
	return x.Indexer.Index(options, spec)
}

// BenchmarkOpenAgainstBunt opens a million documents of 200 bytes, in turn with the engine,
// which builds three indexes, and with BuntDB alone, which has each document under a key and
// nothing else.
func BenchmarkOpenAgainstBunt(b *testing.B) {
	const n = 1_000_000
	dir, raw := b.TempDir(), filepath.Join(b.TempDir(), "raw")
	open := func() *Engine {
		e, err := Open(Options{Path: dir, Indexer: serverIndexer{}, CompactMinBytes: -1})
		must(b, err)
		return e
	}
	e := open()
	create(b, e, benchIndexes...)
	bulk(b, e, n, 200)
	must(b, e.Close())
	db := openRaw(b, raw)
	for from := 0; from < n; from += 1000 {
		setRaw(b, db, from, 1000, 200)
	}
	must(b, db.Close())
	e, db = nil, nil

	of := []*opened{
		{name: "engine", open: func() io.Closer { return open() }},
		{name: "buntdb", open: func() io.Closer { return openRaw(b, raw) }},
	}
	for range b.N {
		for _, o := range of {
			o.measure(b)
		}
	}
	for _, o := range of {
		b.ReportMetric(median(o.took).Seconds()*1e3, o.name+"-ms")
		b.ReportMetric(median(o.processor).Seconds()*1e3, o.name+"-cpu-ms")
	}
	b.ReportMetric(float64(median(of[1].took))/float64(median(of[0].took)), "buntdb/engine")
}

// opened is what BenchmarkOpenAgainstBunt opens.
type opened struct {
	name            string
	open            func() io.Closer
	took, processor []time.Duration
}

func (o *opened) measure(b *testing.B) {
	runtime.GC()
	began, used := time.Now(), processorTime(b)
	c := o.open()
	o.took, o.processor = append(o.took, time.Since(began)), append(o.processor, processorTime(b)-used)
	must(b, c.Close())
}

// processorTime is that of the process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
