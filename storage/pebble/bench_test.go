package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// benchRecords is the size of the hot set.
const benchRecords = 10_000

// engines are what the benchmarks compare.
var engines = []struct {
	name string
	open func(tb testing.TB, dir string) storage.Engine
}{
	{"pebble", func(tb testing.TB, dir string) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}})
		must(tb, err)
		return e
	}},
	{"bunt", func(tb testing.TB, dir string) storage.Engine {
		e, err := bunt.Open(bunt.Options{Path: dir, Indexer: storagetest.Indexer{}})
		must(tb, err)
		return e
	}},
}

func benchEngines(b *testing.B, run func(b *testing.B, e storage.Engine)) {
	for _, x := range engines {
		b.Run(x.name, func(b *testing.B) {
			e := x.open(b, b.TempDir())
			defer e.Close()
			must(b, e.Update(ctx, func(tx storage.Tx) error {
				c, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
				for i := range benchRecords {
					if err == nil {
						_, err = c.Insert(benchDoc(int64(i)), 1)
					}
				}
				return err
			}))
			b.ReportAllocs()
			b.ResetTimer()
			run(b, e)
		})
	}
}

var padding = value.String(string(make([]byte, 150)))

func benchDoc(i int64) value.Doc {
	return value.NewDoc("_id", value.Int64(i), "a", value.Int64(i%100), "s", padding)
}

// BenchmarkFind reads single records of a hot set by a unique key.
func BenchmarkFind(b *testing.B) {
	benchEngines(b, func(b *testing.B, e storage.Engine) {
		for i := 0; b.Loop(); i++ {
			key := value.AppendKey(nil, value.Int64(int64(i*7919%benchRecords)))
			must(b, e.View(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(storagetest.NS)
				if err != nil {
					return err
				}
				if _, ok, err := c.Find("_id", key); !ok || err != nil {
					b.Fatal(ok, err)
				}
				return nil
			}))
		}
	})
}

// BenchmarkScan reads all records.
func BenchmarkScan(b *testing.B) {
	benchEngines(b, func(b *testing.B, e storage.Engine) {
		for b.Loop() {
			must(b, e.View(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(storagetest.NS)
				if err != nil {
					return err
				}
				return c.Scan(storage.Range{}, func(storage.Record) bool { return true })
			}))
		}
	})
}

// BenchmarkInsert16 inserts single records from 16 goroutines.
func BenchmarkInsert16(b *testing.B) {
	benchEngines(b, func(b *testing.B, e storage.Engine) {
		var next atomic.Int64
		next.Store(benchRecords)
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				d := benchDoc(next.Add(1))
				must(b, e.(storage.Sharer).UpdateShared(ctx, func(tx storage.Tx) error {
					c, err := tx.Collection(storagetest.NS)
					if err == nil {
						_, err = c.Insert(d, 1)
					}
					return err
				}))
			}
		})
	})
}

// BenchmarkOpen opens what a kill in the midst of inserts has left, and says how long the check
// of the logs takes, which comes before Pebble repeats them.
func BenchmarkOpen(b *testing.B) {
	live := b.TempDir()
	e := openAt(b, live)
	for n := range 200 {
		must(b, insert(e, 500*n, 500))
	}
	must(b, e.Sync(ctx))
	killed := copied(b, live)
	checked := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		dir := copied(b, killed)
		b.StartTimer()
		began := clock.System().Now()
		_, err := verify(filepath.Join(dir, filesName))
		checked += clock.System().Now().Sub(began)
		must(b, err)
		e := opened(b, dir)
		b.StopTimer()
		must(b, errors.Join(e.Close(), os.RemoveAll(dir)))
		b.StartTimer()
	}
	b.ReportMetric(float64(checked.Microseconds())/float64(b.N), "µs/check")
}
