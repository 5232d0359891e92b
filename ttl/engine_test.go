package ttl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// rulesIndexer keeps the rules of a collection in its Info.Meta.
type rulesIndexer struct{ index.Indexer }

func (rulesIndexer) Attach(info *storage.Info) any { return NewRules(info) }

// engineHost is a host over the embedded engine, as a server has it.
type engineHost struct {
	storage.Engine
	params Parameters
}

func openEngine(t testing.TB, path string) *engineHost {
	t.Helper()
	e, err := bunt.Open(bunt.Options{Path: path, Indexer: rulesIndexer{}, CompactMinBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return &engineHost{Engine: e, params: DefaultParameters()}
}

func rulesOf(info *storage.Info) *Rules { r, _ := info.Meta.(*Rules); return r }

func (h *engineHost) Collections(ctx context.Context, a *Agenda, now int64) (Listing, error) {
	return a.List(ctx, h.Engine, now, func(info *storage.Info) (*Rules, bool) { return rulesOf(info), false }, nil)
}

func (h *engineHost) open(tx storage.Tx, c *Collection) (storage.Collection, error) {
	coll, err := tx.Collection(c.Namespace)
	if err == nil && coll.Info().UUID == c.UUID {
		return coll, nil
	}
	for _, info := range storagetest.Got(tx.Collections("")) {
		if info.UUID == c.UUID {
			return tx.Collection(info.Namespace)
		}
	}
	return nil, ErrGone
}

func (h *engineHost) View(ctx context.Context, c *Collection, fn func(storage.Collection, *Rules) error) error {
	return h.Engine.View(ctx, func(tx storage.Tx) error {
		coll, err := h.open(tx, c)
		if err != nil {
			return err
		}
		return fn(coll, rulesOf(coll.Info()))
	})
}

func (h *engineHost) Update(ctx context.Context, c *Collection, fn func(storage.Collection, *Rules, Remover) error) error {
	return h.Engine.Update(ctx, func(tx storage.Tx) error {
		coll, err := h.open(tx, c)
		if err != nil {
			return err
		}
		return fn(coll, rulesOf(coll.Info()), func(storage.Record, *Expired) error { return nil })
	})
}

func (h *engineHost) Parameters() Parameters { return h.params }
func (h *engineHost) Locked() bool           { return false }
func (h *engineHost) ActiveOperations() int  { return 0 }
func (h *engineHost) Operations() int64      { return 0 }

// create makes a collection with _id and TTL indexes, and internal ones.
func (h *engineHost) create(t testing.TB, name, options string, internal []Internal, specs ...string) storage.Namespace {
	t.Helper()
	ns := storage.Namespace{DB: "db", Coll: name}
	list := []storage.IndexSpec{index.IDSpec(nil).Stored()}
	for _, s := range specs {
		spec, err := index.Parse(value.MustJSON(s), index.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, spec.Stored())
	}
	for _, i := range internal {
		list = append(list, storage.IndexSpec{Name: i.Name, Spec: index.InternalSpec(i.Name, i.Path, index.Order(i.Order))})
	}
	err := h.Engine.Update(context.Background(), func(tx storage.Tx) error {
		_, err := tx.Create(ns, value.MustJSON(options), list)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func (h *engineHost) fill(t testing.TB, ns storage.Namespace, ts int64, n int, doc func(i int) value.Doc) {
	t.Helper()
	for i := 0; i < n; i += 1000 {
		err := h.Engine.Update(context.Background(), func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			for k := i; k < min(i+1000, n) && err == nil; k++ {
				_, err = coll.Insert(doc(k), ts)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (h *engineHost) count(t testing.TB, ns storage.Namespace) (n int64) {
	t.Helper()
	err := h.Engine.View(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err == nil {
			n = storagetest.Got(coll.Count())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func dated(at int64) func(int) value.Doc {
	return func(i int) value.Doc { return value.NewDoc("_id", value.Int(int64(i)), "x", value.DateTime(at)) }
}

// The rules and the internal indexes fit the real engine and its keys.
func TestOnEngine(t *testing.T) {
	h := openEngine(t, bunt.Memory)
	now := t0.UnixMilli()
	asc := h.create(t, "asc", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	desc := h.create(t, "desc", `{}`, nil, `{"key":{"x":-1},"name":"x_-1","expireAfterSeconds":10}`)
	partial := h.create(t, "partial", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0,"partialFilterExpression":{"z":{"$exists":true}}}`)
	document := h.create(t, "document", `{"documentTtl":{"default":10,"invalid":"reject"}}`, DocumentIndexes())
	series := h.create(t, "system.buckets.s", `{"expireAfterSeconds":5,"timeseries":{"timeField":"t","bucketMaxSpanSeconds":3600}}`, BucketIndexes("t"))
	for _, ns := range []storage.Namespace{asc, desc} {
		h.fill(t, ns, now, 250, dated(now))
		h.fill(t, ns, now, 1, func(int) value.Doc { return value.NewDoc("_id", value.String("later"), "x", value.DateTime(now+1)) })
		h.fill(t, ns, now, 1, func(int) value.Doc { return value.NewDoc("_id", value.String("never"), "x", value.Int32(1)) })
	}
	h.fill(t, partial, now, 1, func(int) value.Doc { return value.MustJSON(`{"_id":1,"x":` + at(0) + `,"z":1}`) })
	h.fill(t, partial, now, 1, func(int) value.Doc { return value.MustJSON(`{"_id":2,"x":` + at(0) + `}`) })
	for i, ttl := range []string{`{}`, `{"ttl":5}`, `{"ttl":11}`, `{"ttl":-1}`} {
		h.fill(t, document, now, 1, func(int) value.Doc {
			return value.NewDoc("_id", value.Int(int64(i)), "ttl", value.MustJSON(ttl).Lookup("ttl"))
		})
	}
	h.fill(t, series, now, 1, func(int) value.Doc { return value.MustJSON(bucketDoc(now/1000-3595, now)) })
	h.fill(t, series, now, 1, func(int) value.Doc { return value.MustJSON(bucketDoc(now/1000-3594+60, now)) })
	c := clock.NewManual(t0.Add(10 * time.Second))
	m := NewMonitor(h, Options{Clock: c})
	mustPass(t, m)
	for ns, want := range map[storage.Namespace]int64{asc: 2, desc: 2, partial: 1, document: 2, series: 1} {
		if got := h.count(t, ns); got != want {
			t.Errorf("%s: %d left, want %d", ns, got, want)
		}
	}
	if got := m.Metrics().DeletedDocuments.Load(); got != 502 {
		t.Errorf("%d documents counted", got)
	}
}

// BenchmarkExpire removes 100,000 due documents while a reader looks single
// documents up, and reports how long the reader's slowest look-ups take.
func BenchmarkExpire(b *testing.B) {
	const due, kept = 100_000, 10_000
	now := t0.UnixMilli()
	for b.Loop() {
		b.StopTimer()
		h := openEngine(b, b.TempDir())
		ns := h.create(b, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
		h.fill(b, ns, now, due, dated(now))
		other := h.create(b, "other", `{}`, nil)
		h.fill(b, other, now, kept, dated(now))
		idle := h.lookups(other, kept, 20_000, nil)
		stop := make(chan struct{})
		var busy []time.Duration
		var wg sync.WaitGroup
		wg.Go(func() { busy = h.lookups(other, kept, 1<<30, stop) })
		b.StartTimer()
		r := mustPassB(b, NewMonitor(h, Options{Clock: clock.NewManual(t0)}))
		b.StopTimer()
		close(stop)
		wg.Wait()
		if r.Of(Index).Documents != due {
			b.Fatal(r.Of(Index).Documents)
		}
		b.ReportMetric(due/r.Took.Seconds(), "docs/s")
		b.ReportMetric(float64(p99(idle).Microseconds()), "idle-p99-µs")
		b.ReportMetric(float64(p99(busy).Microseconds()), "busy-p99-µs")
		_ = h.Close()
		b.StartTimer()
	}
}

func mustPassB(b *testing.B, m *Monitor) Result {
	r, err := m.RunPass(context.Background(), All)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func p99(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)*99/100]
}

// lookups reads documents by _id and returns how long each look-up took.
func (h *engineHost) lookups(ns storage.Namespace, n, limit int, stop chan struct{}) (took []time.Duration) {
	c := clock.System()
	for i := range limit {
		select {
		case <-stop:
			return took
		default:
		}
		key := value.AppendKey(nil, value.Int(int64(i*7919%n)))
		began := c.Now()
		err := h.Engine.View(context.Background(), func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			if _, ok, err := coll.Find("_id_", key); err != nil || !ok {
				return errors.Join(err, errors.New("not found"))
			}
			return nil
		})
		took = append(took, c.Now().Sub(began))
		if err != nil {
			return took
		}
	}
	return took
}
