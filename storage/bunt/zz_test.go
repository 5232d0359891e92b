package bunt

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
	"syscall"
	"testing"
)

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
func BenchmarkZZ(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		e := openBench(b, b.TempDir())
		create(b, e, benchIndexes[0])
		log := storage.Namespace{DB: "l", Coll: "l"}
		must(b, e.Update(ctx, func(tx storage.Tx) error { _, err := tx.Create(log, nil, nil); return err }))
		bulk(b, e, n, 200)
		doc := benchDoc(n+1000000, 200)
		entry := benchDoc(0, 150)
		name := map[int]string{10_000: "10k", 1_000_000: "1M"}[n]
		b.Run("insert/"+name, func(b *testing.B) {
			b.ReportAllocs()
			c0 := cpu()
			for i := range b.N {
				must(b, e.Update(ctx, func(tx storage.Tx) error {
					c, _ := tx.Collection(ns)
					d := append(value.Doc(nil), doc...)
					d[9] = byte(i)
					d[10] = byte(i >> 8)
					d[11] = byte(i >> 16)
					d[12] = 1
					if _, err := c.Insert(d, 1); err != nil {
						return err
					}
					l, _ := tx.Collection(log)
					_, err := l.Insert(entry, 1)
					return err
				}))
			}
			b.ReportMetric(float64(cpu()-c0)/float64(b.N), "cpu-ns/op")
			b.StopTimer()
			must(b, inColl(e, ns, func(c storage.Collection) error {
				for id := c.LastID(); id > storage.RecordID(n); id-- {
					_ = c.Delete(id)
				}
				return nil
			}))
		})
		b.Run("update/"+name, func(b *testing.B) {
			b.ReportAllocs()
			c0 := cpu()
			for i := range b.N {
				must(b, e.Update(ctx, func(tx storage.Tx) error {
					c, _ := tx.Collection(ns)
					id := storage.RecordID(i*7919%n + 1)
					r, _ := c.Get(id)
					if err := c.Update(id, r.Doc, 1); err != nil {
						return err
					}
					l, _ := tx.Collection(log)
					_, err := l.Insert(entry, 1)
					return err
				}))
			}
			b.ReportMetric(float64(cpu()-c0)/float64(b.N), "cpu-ns/op")
		})
		b.Run("find/"+name, func(b *testing.B) {
			b.ReportAllocs()
			c0 := cpu()
			var key []byte
			for i := range b.N {
				must(b, e.View(ctx, func(tx storage.Tx) error {
					c, _ := tx.Collection(ns)
					key = value.AppendKey(key[:0], value.Int32(int32(i*7919%n)))
					_, ok, err := c.Find("_id", key)
					if !ok {
						b.Fatal(i)
					}
					return err
				}))
			}
			b.ReportMetric(float64(cpu()-c0)/float64(b.N), "cpu-ns/op")
		})
	}
}
