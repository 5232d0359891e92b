package servertest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/servertest"
	"github.com/duskdb/duskdb/value"
)

// direct runs commands without a socket.
type direct struct {
	testing.TB
	srv  *servertest.Server
	conn *commands.Conn
}

func newDirect(b testing.TB, srv *servertest.Server) *direct {
	return &direct{b, srv, srv.Service().NewConn("bench", srv.Addr())}
}

func (d *direct) run(db string, body value.Doc) value.Doc {
	out, _ := d.srv.Service().Handle(context.Background(), d.conn, &commands.Request{Body: body, DB: db}, nil)
	reply := value.Doc(out)
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
		d.Fatalf("%s", reply)
	}
	return reply
}

func (d *direct) json(db, text string) value.Doc {
	b := value.NewBuilder()
	it := value.MustJSON(text).Iter()
	return d.run(db, b.Raw(it.Rest()).String("$db", db).Doc())
}

// fill inserts n documents made by fn, in batches.
func (d *direct) fill(coll string, n int, fn func(b *value.Builder, i int)) {
	for from := 0; from < n; from += 1000 {
		b := value.NewBuilder()
		b.String("insert", coll).String("$db", "db").StartArray("documents")
		for i := from; i < min(from+1000, n); i++ {
			b.StartDocument("")
			fn(b, i)
			b.End()
		}
		b.End()
		d.run("db", b.Doc())
	}
}

func (d *direct) pass() value.Doc { return d.json("admin", `{"runExpirationPass": 1}`) }

var startMillis = servertest.Start.UnixMilli()

// BenchmarkIdlePass is a pass with nothing due, over all policies; it must
// not depend on how much is pending.
func BenchmarkIdlePass(b *testing.B) {
	for _, pending := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			d := newDirect(b, servertest.Run(b, servertest.At(servertest.Start)))
			d.json("db", `{"createIndexes": "ttl", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 3600}]}`)
			d.json("db", `{"create": "doc", "documentTtl": {"default": 3600}}`)
			d.json("db", `{"create": "cl", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "expireAfterSeconds": 3600}`)
			d.json("db", `{"create": "ts", "timeseries": {"timeField": "t"}, "expireAfterSeconds": 3600}`)
			d.json("db", `{"create": "q", "messageQueue": {"defaultMessageTimeToLive": 3600}}`)
			share := pending / 5
			dated := func(name string) func(*value.Builder, int) {
				return func(b *value.Builder, i int) { b.Date(name, startMillis+int64(i)) }
			}
			d.fill("ttl", share, dated("x"))
			d.fill("doc", share, dated("x"))
			d.fill("cl", share, dated("_id"))
			d.fill("ts", share, dated("t"))
			d.fill("q", share, dated("x"))
			b.ResetTimer()
			for range b.N {
				d.pass()
			}
		})
	}
}

// BenchmarkExpire removes 100,000 due documents, while a client reads single
// documents of another collection; its p99 is measured before and during.
func BenchmarkExpire(b *testing.B) {
	for _, indexes := range []int{0, 2} {
		b.Run(fmt.Sprintf("indexes=%d", indexes), func(b *testing.B) { expire(b, indexes) })
	}
	b.Run("documentTtl", func(b *testing.B) { expire(b, -1) })
}

func expire(b *testing.B, indexes int) {
	const n = 100_000
	srv := servertest.Run(b, servertest.At(servertest.Start))
	d, s := newDirect(b, srv), connect(b, srv)
	d.fill("other", 10_000, func(b *value.Builder, i int) { b.Int32("_id", int32(i)).String("s", "text") })
	if indexes < 0 {
		d.json("db", `{"create": "c", "documentTtl": {"default": 10}}`)
	} else {
		d.json("db", `{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 10}]}`)
	}
	for i := range indexes {
		d.json("db", fmt.Sprintf(`{"createIndexes": "c", "indexes": [{"key": {"f%d": 1}, "name": "f%d_1"}]}`, i, i))
	}
	var idle, busy []time.Duration
	var took, alone time.Duration
	b.ResetTimer()
	for range b.N {
		for _, watched := range []bool{false, true} {
			b.StopTimer()
			d.fill("c", n, func(b *value.Builder, i int) {
				b.Date("x", srv.Clock.NowMillis()).Int32("f0", int32(i*7919)).Int32("f1", int32(i))
			})
			d.json("admin", `{"testClock": 1, "advanceSeconds": 11, "runDuePasses": false}`)
			if watched { // in turns with the busy ones: the machine may have other work
				idle = append(idle, reads(s, 2000, func() {})...)
			}
			b.StartTimer()
			began := time.Now()
			if !watched {
				d.pass()
				alone += time.Since(began)
				continue
			}
			busy = append(busy, reads(s, 100, func() { d.pass() })...)
			took += time.Since(began)
		}
	}
	b.ReportMetric(float64(n*b.N)/alone.Seconds(), "docs/s")
	b.ReportMetric(float64(n*b.N)/took.Seconds(), "docs/s-with-reader")
	b.ReportMetric(float64(p99(idle).Microseconds()), "idle-p99-µs")
	b.ReportMetric(float64(p99(busy).Microseconds()), "busy-p99-µs")
	b.ReportMetric(float64(p99(busy))/float64(p99(idle)), "busy/idle")
	b.ReportMetric(0, "ns/op")
}

func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}

// reads returns the times of at least so many findOne commands while fn runs.
func reads(s *scene, min int, fn func()) []time.Duration {
	var stop atomic.Bool
	var all []time.Duration
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		c := s.db.Collection("other")
		for i := 0; !stop.Load() || i < min; i++ {
			began := time.Now()
			if err := c.FindOne(context.Background(), bson.D{{Key: "_id", Value: i % 10_000}}).Err(); err != nil {
				s.Error(err)
				return
			}
			all = append(all, time.Since(began))
		}
	}()
	fn()
	stop.Store(true)
	wg.Wait()
	return all
}

// BenchmarkExpireSeries removes a million measurements.
func BenchmarkExpireSeries(b *testing.B) {
	const n = 1_000_000
	srv := servertest.Run(b, servertest.At(servertest.Start))
	d := newDirect(b, srv)
	d.json("db", `{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}, "expireAfterSeconds": 10}`)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		now := srv.Clock.NowMillis()
		d.fill("c", n, func(b *value.Builder, i int) {
			b.Date("t", now+int64(i%1000)).Int32("m", int32(i/1000)).Double("v", float64(i))
		})
		d.json("admin", `{"testClock": 1, "advanceSeconds": 7200, "runDuePasses": false}`)
		b.StartTimer()
		d.pass()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "measurements/s")
}

// BenchmarkMessages sends, receives and completes a message on 16
// connections; the other half is three pings instead.
func BenchmarkMessages(b *testing.B) {
	const connections = 16
	run := func(name string, step func(s *scene)) {
		b.Run(name, func(b *testing.B) {
			srv := servertest.Run(b, servertest.At(servertest.Start))
			connect(b, srv).ok(`{create: "q", messageQueue: {}}`)
			scenes := make([]*scene, connections)
			for i := range scenes {
				scenes[i] = connect(b, srv)
				scenes[i].ok(`{ping: 1}`)
			}
			b.ResetTimer()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for _, s := range scenes {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for left.Add(-1) >= 0 {
						step(s)
					}
				}()
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rounds/s")
		})
	}
	ctx := context.Background()
	run("ping3", func(s *scene) {
		for range 3 {
			s.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}})
		}
	})
	run("round", func(s *scene) {
		s.db.RunCommand(ctx, bson.D{{Key: "insert", Value: "q"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}})
		r, err := s.db.RunCommand(ctx, bson.D{{Key: "mqReceive", Value: "q"}}).Raw()
		if err != nil {
			s.Error(err)
			return
		}
		for _, m := range elements(r.Lookup("messages")) {
			s.db.RunCommand(ctx, bson.D{{Key: "mqComplete", Value: "q"}, {Key: "lockToken", Value: m.Lookup("_mq", "lockToken")}})
		}
	})
}

// BenchmarkInvisibility measures the cost of document TTL for a find on a collection
// without expired documents. It measures the two collections in turns, so that other
// work of the machine affects both equally.
func BenchmarkInvisibility(b *testing.B) {
	d := newDirect(b, servertest.Run(b, servertest.At(servertest.Start)))
	d.json("db", `{"create": "ttl", "documentTtl": {"default": 3600}}`)
	for _, coll := range []string{"plain", "ttl"} {
		d.fill(coll, 2_000, func(b *value.Builder, i int) {
			b.Int32("_id", int32(i)).String("name", "somebody or other").Int32("n", int32(i)).Double("price", 2.5).String("text", "the quick brown fox")
		})
	}
	for name, rest := range map[string]string{
		"scan":    `"filter": {"n": {"$lt": 0}}`,
		"findAll": `"batchSize": 2000`,
		"findOne": `"filter": {"_id": 77}`,
	} {
		b.Run(name, func(b *testing.B) {
			var bodies [2]value.Doc
			for i, coll := range []string{"plain", "ttl"} {
				bodies[i] = value.MustJSON(fmt.Sprintf(`{"find": %q, %s, "$db": "db"}`, coll, rest))
			}
			var took [2][]time.Duration
			for range b.N {
				for i, body := range bodies {
					began := time.Now()
					d.run("db", body)
					took[i] = append(took[i], time.Since(began))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			plain, ttl := took[0][b.N/2], took[1][b.N/2]
			b.ReportMetric(float64(plain.Nanoseconds()), "plain-ns")
			b.ReportMetric(float64(ttl.Nanoseconds()), "ttl-ns")
			b.ReportMetric(100*(float64(ttl)/float64(plain)-1), "overhead-%")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFileGrowth inserts and expires 20,000 documents 50 times; the file
// is to stay below four times the size of one cycle, beside the change log.
func BenchmarkFileGrowth(b *testing.B) {
	for _, oplog := range []int{-1, 0, 64} { // none, the default, always large
		b.Run(fmt.Sprintf("oplog=%dMB", oplog), func(b *testing.B) { fileGrowth(b, oplog) })
	}
}

func fileGrowth(b *testing.B, oplog int) {
	for range b.N {
		dir := b.TempDir()
		srv := servertest.Run(b, servertest.At(servertest.Start), servertest.Dir(dir), servertest.Oplog(oplog))
		d := newDirect(b, srv)
		d.json("db", `{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 10}]}`)
		var one, largest, both int64
		for cycle := range 50 {
			now := srv.Clock.NowMillis()
			d.fill("c", 20_000, func(b *value.Builder, i int) {
				b.Date("x", now).String("s", "a document of a few hundred bytes: the quick brown fox jumps over the lazy dog, again and again and again")
			})
			d.json("admin", `{"testClock": 1, "advanceSeconds": 61}`)
			file, all := dirSize(b, dir)
			if cycle == 0 {
				one = file
			}
			largest, both = max(largest, file), max(both, all)
		}
		b.ReportMetric(float64(one), "bytes/one")
		b.ReportMetric(float64(largest)/float64(one), "max/one")
		b.ReportMetric(float64(both)/float64(one), "max-with-copy/one")
		srv.Stop()
	}
}

// dirSize returns the size of the largest file of a directory, which has the data, and
// of all files, since a compaction writes a second one.
func dirSize(b *testing.B, dir string) (largest, all int64) {
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			largest, all = max(largest, info.Size()), all+info.Size()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return largest, all
}
