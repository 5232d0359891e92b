package pebble

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// The records of the benchmarks of expiry, and how many a batch removes.
const (
	dueRecords = 50_000
	dueBatch   = 512
)

// dueEngine has records that are due, with three indexes.
func dueEngine(tb testing.TB, records int) *Engine {
	e, err := Open(Options{Path: tb.TempDir(), Indexer: storagetest.Indexer{}})
	must(tb, err)
	specs := []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("k"), storagetest.Spec("t")}
	for i := 0; i < records; i += dueBatch {
		must(tb, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err != nil {
				c, err = tx.Create(storagetest.NS, nil, specs)
			}
			for n := i; n < min(i+dueBatch, records) && err == nil; n++ {
				_, err = c.Insert(value.NewDoc("_id", value.Int64(int64(n)), "k", value.Int64(int64(n)*7919%int64(records)), "t", value.DateTime(1000+int64(n)), "s", padding), 1)
			}
			return err
		}))
	}
	return e
}

// expire removes records in the order of t, as the TTL monitor does.
func expire(tb testing.TB, e *Engine, most int) (removed int) {
	d := storage.RangeDelete{Index: "t", Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Remove, nil }}
	for done := false; !done && removed < most; {
		must(tb, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err != nil {
				return err
			}
			d.Most = min(dueBatch, most-removed)
			out, err := c.DeleteRange(&d)
			d.Keys.AfterKey, d.Keys.AfterID = bytes.Clone(out.Key), out.ID
			removed, done = removed+out.Removed, out.Done
			return err
		}))
	}
	return removed
}

// BenchmarkExpiry removes records through the engine, and as many keys of the same
// lengths and order from Pebble itself.
func BenchmarkExpiry(b *testing.B) {
	perSecond := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*dueRecords/b.Elapsed().Seconds(), "records/s")
	}
	b.Run("engine", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			e := dueEngine(b, dueRecords)
			b.StartTimer()
			if n := expire(b, e, dueRecords); n != dueRecords {
				b.Fatal(n)
			}
			b.StopTimer()
			must(b, e.Close())
		}
		perSecond(b)
	})
	b.Run("raw", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			e := dueEngine(b, dueRecords)
			batches := dueKeys(b, e)
			b.StartTimer()
			for _, keys := range batches {
				batch := e.store.db.NewBatch()
				for _, key := range keys {
					must(b, batch.Delete(key, nil))
				}
				must(b, batch.Commit(pebble.Sync))
			}
			b.StopTimer()
			must(b, e.Close())
		}
		perSecond(b)
	})
}

// dueKeys are all keys of records and entries, in batches as expire removes them.
func dueKeys(tb testing.TB, e *Engine) [][][]byte {
	it, err := e.store.db.NewIter(&pebble.IterOptions{LowerBound: []byte("d"), UpperBound: []byte("e")})
	must(tb, err)
	defer it.Close()
	batches := make([][][]byte, (dueRecords+dueBatch-1)/dueBatch)
	seen := map[uint64]int{}
	for ok := it.First(); ok; ok = it.Next() {
		key := bytes.Clone(it.Key())
		id := binary.BigEndian.Uint64(key[len(key)-8:]) // at the end of the keys of records and entries
		if v := it.Value(); key[5] == 'x' && len(v) > 0 {
			id, _ = binary.Uvarint(v) // the value of a row of the unique index
		}
		seen[id]++
		i := (id - 1) / dueBatch
		batches[i] = append(batches[i], key)
	}
	for _, n := range seen {
		if n != 4 {
			tb.Fatalf("%d keys of a record", n)
		}
	}
	return batches
}
