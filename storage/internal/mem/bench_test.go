package mem_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
	"github.com/duskdb/duskdb/storage/internal/versus"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

var (
	ctx = context.Background()
	ns  = storage.Namespace{DB: "db", Coll: "c"}
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func doc(i, size int) value.Doc {
	return value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int64(int64(rand.Uint64())), "at", value.DateTime(int64(i)),
		"s", value.String(strings.Repeat("x", max(0, size-60))))
}

func inColl(e storage.Engine, fn func(c storage.Collection) error) error {
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

func filled(b testing.TB, e storage.Engine, n, size int, specs ...storage.IndexSpec) storage.Engine {
	must(b, e.Update(ctx, func(tx storage.Tx) error { _, err := tx.Create(ns, nil, specs); return err }))
	for from := 0; from < n; from += 1000 {
		must(b, inColl(e, func(c storage.Collection) error {
			for i := from; i < min(n, from+1000); i++ {
				if _, err := c.Insert(doc(i, size), 1); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return e
}

func open() (storage.Engine, error) {
	return kv.Open(mem.New(), kv.Options{Name: "bunt", Indexer: storagetest.Indexer{}})
}

func both(b testing.TB, n, size int, specs ...storage.IndexSpec) (old, now storage.Engine) {
	o, err := bunt.Open(bunt.Options{Path: bunt.Memory, Indexer: storagetest.Indexer{}, CompactMinBytes: -1})
	must(b, err)
	m, err := open()
	must(b, err)
	b.Cleanup(func() { _ = o.Close(); _ = m.Close() })
	return filled(b, o, n, size, specs...), filled(b, m, n, size, specs...)
}

var three = []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("a"), storagetest.Spec("at")}

func shared(e storage.Engine, fn func(c storage.Collection) error) error {
	return e.(storage.Sharer).UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

func BenchmarkFind(b *testing.B) {
	const n = 100_000
	old, now := both(b, n, 200, three[:1]...)
	find := func(e storage.Engine) func(int, int64) error {
		return func(int, int64) error {
			i := rand.IntN(n)
			return storage.ViewBriefly(ctx, e, func(tx storage.Tx) error {
				var room [32]byte
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				_, ok, err := c.Find("_id", value.AppendKey(room[:0], value.Int32(int32(i))))
				if !ok {
					b.Error("not found")
				}
				return err
			})
		}
	}
	versus.Run(b, 16, 200_000, find(old), find(now))
}

func benchInsert(b *testing.B, workers int, specs ...storage.IndexSpec) {
	old, now := both(b, 100_000, 200, specs...)
	ins := func(e storage.Engine) func(int, int64) error {
		return func(_ int, n int64) error {
			return shared(e, func(c storage.Collection) error { _, err := c.Insert(doc(100_000+int(n), 200), 1); return err })
		}
	}
	versus.Run(b, workers, 50_000, ins(old), ins(now))
}
func BenchmarkInsert1(b *testing.B)       { benchInsert(b, 1, three[:1]...) }
func BenchmarkInsert16(b *testing.B)      { benchInsert(b, 16, three[:1]...) }
func BenchmarkInsert16Three(b *testing.B) { benchInsert(b, 16, three...) }

// BenchmarkInsertMany inserts 100 documents in a commit.
func BenchmarkInsertMany(b *testing.B) {
	old, now := both(b, 100_000, 200, three[:1]...)
	ins := func(e storage.Engine) func(int, int64) error {
		return func(_ int, n int64) error {
			return shared(e, func(c storage.Collection) error {
				for i := range 100 {
					if _, err := c.Insert(doc(100_000+int(n)*100+i, 200), 1); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	versus.Run(b, 4, 1000, ins(old), ins(now))
}

func benchUpdate(b *testing.B, workers int, specs ...storage.IndexSpec) {
	old, now := both(b, 100_000, 200, specs...)
	up := func(e storage.Engine) func(int, int64) error {
		return func(_ int, n int64) error {
			i := rand.IntN(100_000)
			return shared(e, func(c storage.Collection) error {
				_, err := c.Update(storage.RecordID(i+1), doc(i, 200), 2)
				return err
			})
		}
	}
	versus.Run(b, workers, 50_000, up(old), up(now))
}
func BenchmarkUpdate1(b *testing.B)       { benchUpdate(b, 1, three[:1]...) }
func BenchmarkUpdate16(b *testing.B)      { benchUpdate(b, 16, three[:1]...) }
func BenchmarkUpdate16Three(b *testing.B) { benchUpdate(b, 16, three...) }

func BenchmarkScan(b *testing.B) {
	const n = 200_000
	old, now := both(b, n, 200, three...)
	do := func(fn func(c storage.Collection, count *int) error) func(e storage.Engine) func(int, int64) error {
		return func(e storage.Engine) func(int, int64) error {
			return func(int, int64) error {
				count := 0
				err := e.View(ctx, func(tx storage.Tx) error {
					c, _ := tx.Collection(ns)
					return fn(c, &count)
				})
				if count != n {
					b.Error(count)
				}
				return err
			}
		}
	}
	for name, fn := range map[string]func(c storage.Collection, count *int) error{
		"records": func(c storage.Collection, count *int) error {
			return c.Scan(storage.Range{}, func(storage.Record) bool { *count++; return true })
		},
		"entries": func(c storage.Collection, count *int) error {
			return c.ScanIndex("a", storage.KeyRange{}, func([]byte, storage.RecordID) bool { *count++; return true })
		},
		"joined": func(c storage.Collection, count *int) error {
			return c.ScanRecords("at", storage.KeyRange{}, func([]byte, storage.Record) bool { *count++; return true })
		},
		"joined random": func(c storage.Collection, count *int) error {
			return c.ScanRecords("a", storage.KeyRange{}, func([]byte, storage.Record) bool { *count++; return true })
		},
	} {
		b.Run(name, func(b *testing.B) { versus.Run(b, 1, 10, do(fn)(old), do(fn)(now)) })
	}
}

// BenchmarkRange reads 100 records of an index.
func BenchmarkRange(b *testing.B) {
	const n = 100_000
	old, now := both(b, n, 200, three...)
	do := func(e storage.Engine) func(int, int64) error {
		return func(int, int64) error {
			lo := value.AppendKey(nil, value.DateTime(int64(rand.IntN(n-200))))
			count := 0
			return e.View(ctx, func(tx storage.Tx) error {
				c, _ := tx.Collection(ns)
				return c.ScanRecords("at", storage.KeyRange{Lo: lo}, func([]byte, storage.Record) bool { count++; return count < 100 })
			})
		}
	}
	versus.Run(b, 4, 10_000, do(old), do(now))
}

// BenchmarkExpire deletes the oldest documents by ranges of 500.
func BenchmarkExpire(b *testing.B) {
	old, now := both(b, 100_000, 200, three...)
	at := map[storage.Engine]int{}
	do := func(e storage.Engine) func(int, int64) error {
		return func(int, int64) error {
			var out storage.RangeDeleted
			err := inColl(e, func(c storage.Collection) (err error) {
				out, err = c.DeleteRange(&storage.RangeDelete{Index: "at", Limit: 500, Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }})
				return err
			})
			if err != nil || out.Removed != 500 {
				b.Error(out, err)
			}
			return err
		}
	}
	for range b.N {
		var r versus.Race
		for range 5 {
			for _, e := range []storage.Engine{old, now} {
				must(b, inColl(e, func(c storage.Collection) error {
					for range 40_000 {
						if _, err := c.Insert(doc(100_000+at[e], 200), 1); err != nil {
							return err
						}
						at[e]++
					}
					return nil
				}))
			}
			runtime.GC()
			r.Round(b, 1, 80, do(old), do(now))
		}
		r.Report(b)
	}
}

func BenchmarkMemory(b *testing.B) {
	const n = 200_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, specs := range [][]storage.IndexSpec{nil, three[:1], three} {
		b.Run(string(rune('0'+len(specs))), func(b *testing.B) {
			h0 := heap()
			old, err := bunt.Open(bunt.Options{Path: bunt.Memory, Indexer: storagetest.Indexer{}, CompactMinBytes: -1})
			must(b, err)
			filled(b, old, n, 200, specs...)
			h1 := heap()
			now, err := open()
			must(b, err)
			filled(b, now, n, 200, specs...)
			h2 := heap()
			b.ReportMetric(float64(h1-h0)/n, "B/old")
			b.ReportMetric(float64(h2-h1)/n, "B/new")
			b.ReportMetric(float64(h2-h1)/float64(h1-h0), "ratio")
			runtime.KeepAlive(old)
			runtime.KeepAlive(now)
			must(b, old.Close())
		})
	}
}
