package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/versus"
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

// expiry returns a function that removes records in the order of t, as the TTL monitor
// does: a batch of at most so many.
func expiry(tb testing.TB, e *Engine) func(most int) (removed int, done bool) {
	d := storage.RangeDelete{Index: "t", Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }}
	return func(most int) (removed int, done bool) {
		must(tb, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err != nil {
				return err
			}
			d.Limit = min(dueBatch, most)
			out, err := c.DeleteRange(&d)
			d.Keys.AfterKey, d.Keys.AfterID = bytes.Clone(out.Key), out.ID
			removed, done = out.Removed, out.Done
			return err
		}))
		return removed, done
	}
}

// expire removes up to so many records.
func expire(tb testing.TB, e *Engine, most int) (removed int) {
	batch := expiry(tb, e)
	for removed < most {
		n, done := batch(most - removed)
		if removed += n; done {
			break
		}
	}
	return removed
}

// BenchmarkRawExpiry removes records through the engine, and as many keys of the same
// lengths and order from Pebble itself. An operation is a batch.
func BenchmarkRawExpiry(b *testing.B) {
	var r versus.Race
	for range b.N {
		e, other := dueEngine(b, dueRecords), dueEngine(b, dueRecords)
		batches, engine, removed := dueKeys(b, other), expiry(b, e), 0
		r.Round(b, 1, len(batches), func(int, int64) error {
			batch := other.store.db.NewBatch()
			for _, key := range batches[0] {
				must(b, batch.Delete(key, nil))
			}
			batches = batches[1:]
			return batch.Commit(pebble.Sync)
		}, func(int, int64) error {
			n, _ := engine(dueBatch)
			removed += n
			return nil
		})
		if removed != dueRecords {
			b.Fatal(removed)
		}
		must(b, errors.Join(e.Close(), other.Close()))
	}
	r.Report(b)
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
