package pebble

import (
	"sync/atomic"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestConformanceWithGaps: an engine that remembers each gap, however small, is like
// any other.
func TestConformanceWithGaps(t *testing.T) {
	if testing.Short() {
		t.Skip("the same as TestConformance, with other ids")
	}
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix, CacheBytes: 32 << 20, gapKeys: 1})
		must(tb, err)
		return e
	})
}

// first reads the first entry of an index, as the look of a TTL monitor at the
// beginning of a pass does.
func first(tb testing.TB, e *Engine, index string) (found storage.RecordID) {
	tb.Helper()
	must(tb, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err != nil {
			return err
		}
		return c.ScanIndex(index, storage.KeyRange{}, func(_ []byte, id storage.RecordID) bool {
			found = id
			return false
		})
	}))
	return found
}

// TestFlatExpiry: what a look at the first entry costs does not grow with what has
// expired before, nor does a batch, also when documents that are due already come
// in between.
func TestFlatExpiry(t *testing.T) {
	t.Parallel()
	const records, parts = 6_000, 6
	var walked atomic.Int64
	e := dueEngine(t, records)
	e.store.opts.walked = func(keys int) { walked.Add(int64(keys)) }
	defer e.Close()
	last := storage.RecordID(records)
	for part := range parts - 1 {
		walked.Store(0)
		if n := expire(t, e, records/parts); n != records/parts {
			t.Fatalf("%d removed", n)
		}
		// Each entry is passed once, the first of a batch, and the next one, once more.
		if n := walked.Load(); n > 2*records/parts {
			t.Errorf("part %d: a removal walked over %d keys", part, n)
		}
		walked.Store(0)
		want := storage.RecordID((part+1)*records/parts + 1)
		for range 3 {
			if got := first(t, e, "t"); got != want {
				t.Errorf("the first is %d, want %d", got, want)
			}
		}
		if n := walked.Load(); n > 3*defaultGapKeys {
			t.Errorf("part %d: looks walked over %d keys", part, n)
		}
		late(t, e, records+part)
		walked.Store(0)
		if last++; first(t, e, "t") != last || expire(t, e, 1) != 1 || first(t, e, "t") != want {
			t.Error("a late record is not the first, or not removed")
		}
		if n := walked.Load(); n > 3*defaultGapKeys {
			t.Errorf("part %d: with a late record %d keys", part, n)
		}
	}
}

// late inserts a record that is due before all others.
func late(tb testing.TB, e *Engine, id int) {
	tb.Helper()
	must(tb, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int64(int64(id)), "k", value.Int64(0), "t", value.DateTime(100)), 1)
		}
		return err
	}))
}

// TestFlatQueue: records that are removed one by one from the beginning of an index
// do not slow down the next look.
func TestFlatQueue(t *testing.T) {
	t.Parallel()
	const records = 1_500
	var walked atomic.Int64
	e := dueEngine(t, records)
	e.store.opts.walked = func(keys int) { walked.Add(int64(keys)) }
	defer e.Close()
	for n := range records - 1 {
		for _, index := range []string{"t", "_id"} {
			if id := first(t, e, index); id != storage.RecordID(n+1) {
				t.Fatalf("the first of %s is %d, want %d", index, id, n+1)
			}
		}
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err == nil {
				_, err = c.Delete(storage.RecordID(n + 1))
			}
			return err
		}))
	}
	// A look walks over those that were removed since the last gap was noted.
	if n := walked.Load(); n > 2*records*defaultGapKeys {
		t.Errorf("%d keys", n)
	}
}

// BenchmarkLook reads the first entry of an index of whose entries half have expired.
func BenchmarkLook(b *testing.B) {
	e := dueEngine(b, dueRecords)
	defer e.Close()
	expire(b, e, dueRecords/2)
	b.ResetTimer()
	for range b.N {
		first(b, e, "t")
	}
}
