package timeseries

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// plainIndexer gives collections no Meta.
type plainIndexer struct{ index.Indexer }

func (plainIndexer) Attach(*storage.Info) any { return nil }

// engineStore writes buckets with an engine's transaction.
type engineStore struct{ storage.Collection }

func (s engineStore) Insert(d value.Doc) (storage.RecordID, error) { return s.Collection.Insert(d, 0) }
func (s engineStore) Replace(r storage.Record, d value.Doc) error {
	return storagetest.Done(s.Update(r.ID, d, 0))
}

// bucketIndex parses an index on measurements and makes that on buckets.
func bucketIndex(t *testing.T, o *Options, spec value.Doc) storage.IndexSpec {
	t.Helper()
	parsed, err := index.Parse(spec, index.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := o.BucketIndex(parsed.Doc())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := index.Load(stored)
	if err != nil {
		t.Fatal(err)
	}
	if user, ok := o.UserIndex(loaded.Doc()); !ok || string(user) != string(parsed.Doc()) {
		t.Errorf("listed as %s, created as %s", user, parsed.Doc())
	}
	return loaded.Stored()
}

// Buckets, the indexes on them and their keys fit the real engine.
func TestOnEngine(t *testing.T) {
	e, err := bunt.Open(bunt.Options{Path: bunt.Memory, Indexer: plainIndexer{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, ns := context.Background(), storage.Namespace{DB: "db", Coll: reserved.Buckets("c")}
	indexes := []storage.IndexSpec{
		index.IDSpec(nil).Stored(),
		bucketIndex(t, seconds, seconds.DefaultIndex()),
		bucketIndex(t, seconds, value.MustJSON(`{"key":{"t":1},"name":"old","expireAfterSeconds":1,"partialFilterExpression":{"m.s":{"$gt":5}}}`)),
	}
	err = e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(ns, value.NewDoc("timeseries", value.Document(seconds.Doc())), indexes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	metas := []string{`{"s":1}`, `{"s":9}`, `null`, `"x"`}
	for i := range 20 { // each time with a catalog that knows nothing
		err := e.Update(ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			var batch []value.Doc
			for _, m := range metas {
				batch = append(batch, at(float64(i), `,"m":`+m))
			}
			batch = append(batch, at(float64(i), ``))
			return NewCatalog().Insert(coll, engineStore{coll}, seconds, nil, batch)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err = e.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		if storagetest.Got(coll.Count()) != int64(len(metas)+1) {
			t.Errorf("%d buckets", storagetest.Got(coll.Count()))
		}
		if stats, err := coll.IndexStats("old"); err != nil || stats.Entries != 1 {
			t.Errorf("the partial index has %d entries, %v", stats.Entries, err)
		}
		return coll.Scan(storage.Range{}, func(r storage.Record) bool {
			if n, err := Count(seconds, r.Doc); n != 20 || err != nil {
				t.Errorf("a bucket of %d, %v", n, err)
			}
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
