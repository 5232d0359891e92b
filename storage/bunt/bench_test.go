package bunt

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// benchDoc is a document with three indexed fields, of about size bytes.
func benchDoc(i, size int) value.Doc {
	return value.NewDoc(
		"_id", value.Int32(int32(i)),
		"a", value.Int64(int64(rand.Uint64())),
		"at", value.DateTime(int64(i)),
		"s", value.String(strings.Repeat("x", max(0, size-60))))
}

var benchIndexes = []storage.IndexSpec{
	storagetest.UniqueSpec("_id"), storagetest.Spec("a"), storagetest.Spec("at"),
}

// bulk inserts n documents in batches.
func bulk(b testing.TB, e *Engine, n, size int) {
	for from := 0; from < n; from += 1000 {
		must(b, inColl(e, ns, func(c storage.Collection) error {
			for i := from; i < min(n, from+1000); i++ {
				if _, err := c.Insert(benchDoc(i, size), 1); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

func openBench(b *testing.B, dir string) *Engine {
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, CompactMinBytes: -1})
	must(b, err)
	b.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkInsert inserts 1 KB documents into a collection with three
// indexes, by one and by a thousand to an Update.
func BenchmarkInsert(b *testing.B) {
	for _, batch := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			e := openBench(b, b.TempDir())
			create(b, e, benchIndexes...)
			b.ReportAllocs()
			for i := 0; i < b.N; i += batch {
				must(b, inColl(e, ns, func(c storage.Collection) error {
					for k := range batch {
						if _, err := c.Insert(benchDoc(i+k, 1000), 1); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		})
	}
}

// BenchmarkInsertInto inserts single documents into a collection that has
// many.
func BenchmarkInsertInto(b *testing.B) {
	e := openBench(b, b.TempDir())
	create(b, e, benchIndexes...)
	bulk(b, e, 500_000, 200)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		must(b, inColl(e, ns, func(c storage.Collection) error {
			_, err := c.Insert(benchDoc(500_000+i, 200), 1)
			return err
		}))
	}
}

// BenchmarkDelete removes the oldest documents, few to an Update, as expiry
// beside clients does: two indexes lose their first entries, one any.
func BenchmarkDelete(b *testing.B) {
	const batch = 16
	e := openBench(b, Memory)
	create(b, e, benchIndexes...)
	bulk(b, e, (b.N+batch-1)/batch*batch, 200)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		must(b, inColl(e, ns, func(c storage.Collection) error {
			for k := range batch {
				if err := storagetest.Done(c.Delete(storage.RecordID(i + k + 1))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

func BenchmarkUpdate(b *testing.B) {
	e := openBench(b, b.TempDir())
	create(b, e, benchIndexes[0])
	bulk(b, e, 100_000, 200)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		i := rand.IntN(100_000)
		must(b, inColl(e, ns, func(c storage.Collection) error {
			return storagetest.Done(c.Update(storage.RecordID(i+1), benchDoc(i, 200), 2))
		}))
	}
}

// BenchmarkGet reads by record id and by key.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		e := openBench(b, Memory)
		create(b, e, benchIndexes[0])
		bulk(b, e, n, 100)
		get := func(b *testing.B, fn func(c storage.Collection, i int) bool) {
			b.ReportAllocs()
			for range b.N {
				i := rand.IntN(n)
				must(b, e.View(ctx, func(tx storage.Tx) error {
					c, err := tx.Collection(ns)
					if err == nil && !fn(c, i) {
						b.Fatal("not found")
					}
					return err
				}))
			}
		}
		b.Run(fmt.Sprintf("id/%d", n), func(b *testing.B) {
			get(b, func(c storage.Collection, i int) bool { _, ok := storagetest.Get(c, storage.RecordID(i+1)); return ok })
		})
		b.Run(fmt.Sprintf("key/%d", n), func(b *testing.B) {
			var key []byte
			get(b, func(c storage.Collection, i int) bool {
				key = value.AppendKey(key[:0], value.Int32(int32(i)))
				_, ok, _ := c.Find("_id", key)
				return ok
			})
		})
	}
}

// BenchmarkScan scans a million small documents, by record and by index.
func BenchmarkScan(b *testing.B) {
	const n = 1_000_000
	e := openBench(b, Memory)
	create(b, e, benchIndexes[1])
	bulk(b, e, n, 80)
	scan := func(b *testing.B, fn func(c storage.Collection, count *int) error) {
		for range b.N {
			must(b, e.View(ctx, func(tx storage.Tx) error {
				c, _ := tx.Collection(ns)
				count := 0
				err := fn(c, &count)
				if count != n {
					b.Fatal(count)
				}
				return err
			}))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	}
	b.Run("records", func(b *testing.B) {
		scan(b, func(c storage.Collection, count *int) error {
			return c.Scan(storage.Range{}, func(storage.Record) bool { *count++; return true })
		})
	})
	b.Run("index", func(b *testing.B) {
		scan(b, func(c storage.Collection, count *int) error {
			return c.ScanIndex("a", storage.KeyRange{}, func([]byte, storage.RecordID) bool { *count++; return true })
		})
	})
	b.Run("index+get", func(b *testing.B) {
		scan(b, func(c storage.Collection, count *int) error {
			return c.ScanIndex("a", storage.KeyRange{}, func(_ []byte, id storage.RecordID) bool {
				c.Get(id)
				*count++
				return true
			})
		})
	})
}

// BenchmarkOpen opens a log of 1 KB documents with three indexes.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			e := openBench(b, dir)
			create(b, e, benchIndexes...)
			bulk(b, e, n, 1000)
			must(b, e.Close())
			reopen(b, func() io.Closer { return openBench(b, dir) })
		})
	}
}

// reopen measures opening, and not closing.
func reopen(b *testing.B, open func() io.Closer) {
	b.ResetTimer()
	for range b.N {
		c := open()
		b.StopTimer()
		must(b, c.Close())
		b.StartTimer()
	}
}

// BenchmarkMemory reports the heap per 200 B document without index, after
// writing and after opening.
func BenchmarkMemory(b *testing.B) {
	const n = 500_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	dir := b.TempDir()
	before := heap()
	e := openBench(b, dir)
	create(b, e)
	bulk(b, e, n, 200)
	b.ReportMetric(float64(heap()-before)/n, "B/written")
	must(b, e.Close())
	e = nil
	before = heap()
	e = openBench(b, dir)
	b.ReportMetric(float64(heap()-before)/n, "B/opened")
	runtime.KeepAlive(e)
}

// BenchmarkSync commits and syncs from several writers.
func BenchmarkSync(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) { benchmarkSync(b, writers, nil) })
	}
	// What grouping is worth: the same with a sync for each commit.
	b.Run("writers=16,one-by-one", func(b *testing.B) { benchmarkSync(b, 16, new(sync.Mutex)) })
}

// benchmarkSync has writers that each wait for their commits to be on disk,
// one after the other if there is a turn to wait for.
func benchmarkSync(b *testing.B, writers int, turn *sync.Mutex) {
	e := openBench(b, b.TempDir())
	create(b, e, benchIndexes[0])
	var next atomic.Int64
	var wg sync.WaitGroup
	insert := func(i int64) {
		if turn != nil {
			turn.Lock()
			defer turn.Unlock()
		}
		must(b, inColl(e, ns, func(c storage.Collection) error {
			_, err := c.Insert(benchDoc(int(i), 200), 1)
			return err
		}))
		must(b, e.Sync(ctx))
	}
	b.ResetTimer()
	for range writers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				insert(i)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(storagetest.Got(e.Stats()).Syncs), "syncs")
}

// BenchmarkReadersWhileWriting reports how long a look-up takes while one
// writer inserts without pause, and another scans.
func BenchmarkReadersWhileWriting(b *testing.B) {
	e := openBench(b, b.TempDir())
	create(b, e, benchIndexes[0])
	bulk(b, e, 100_000, 200)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 100_000; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			must(b, inColl(e, ns, func(c storage.Collection) error {
				_, err := c.Insert(benchDoc(i, 200), 1)
				return err
			}))
		}
	})
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		must(b, e.View(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				c.Get(storage.RecordID(rand.IntN(100_000) + 1))
			}
			return err
		}))
		took = append(took, time.Since(start))
	}
	b.StopTimer()
	close(stop)
	wg.Wait()
	slowest(b, took)
}

func slowest(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(took[len(took)*999/1000].Nanoseconds()), "p99.9-ns")
}

// BenchmarkCompact compacts a log of 1 KB documents and reports the longest
// that a writer had to wait meanwhile.
func BenchmarkCompact(b *testing.B) {
	const n = 200_000
	e := openBench(b, b.TempDir())
	create(b, e, benchIndexes[0])
	bulk(b, e, n, 1000)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var took []time.Duration
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			start := time.Now()
			must(b, inColl(e, ns, func(c storage.Collection) error {
				id := 1 + rand.IntN(n)
				return storagetest.Done(c.Update(storage.RecordID(id), benchDoc(id-1, 1000), 2))
			}))
			took = append(took, time.Since(start))
		}
	})
	b.ResetTimer()
	for range b.N {
		must(b, e.Compact(ctx))
	}
	b.StopTimer()
	close(stop)
	wg.Wait()
	slowest(b, took)
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
}
