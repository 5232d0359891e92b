package engines

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestCompare: each difference between a copy and its original is found.
func TestCompare(t *testing.T) {
	ns := storage.Namespace{DB: "a", Coll: "c"}
	doc := func(v int32) value.Doc { return value.NewDoc("_id", value.Int32(v), "v", value.Int32(v)) }
	with := func(fn func(storage.Collection) error) func(storage.Tx) error {
		return func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			return fn(c)
		}
	}
	again := func(tx storage.Tx, ix ...storage.IndexSpec) error { // the same records, but in a new collection
		if err := tx.Drop(ns); err != nil {
			return err
		}
		c, err := tx.Create(ns, value.EmptyDoc, ix)
		for v := int32(1); v <= 3 && err == nil; v++ {
			_, err = c.Insert(doc(v), int64(v))
		}
		return err
	}
	for name, tt := range map[string]struct {
		change func(storage.Tx) error
		says   string
	}{
		"equal":      {func(storage.Tx) error { return nil }, ""},
		"document":   {with(func(c storage.Collection) error { _, err := c.Update(2, doc(9), 2); return err }), "documents of the copy differ"},
		"instant":    {with(func(c storage.Collection) error { _, err := c.Update(2, doc(2), 3); return err }), "documents of the copy differ"},
		"missing":    {with(func(c storage.Collection) error { _, err := c.Delete(2); return err }), "has 2 documents"},
		"additional": {with(func(c storage.Collection) error { _, err := c.Insert(doc(4), 4); return err }), "has 4 documents"},
		"options":    {func(tx storage.Tx) error { return tx.SetOptions(ns, value.NewDoc("x", value.Int32(1))) }, "other options"},
		"index":      {func(tx storage.Tx) error { return tx.DropIndex(ns, "v") }, "has 1 indexes"},
		"UUID": {func(tx storage.Tx) error {
			return again(tx, storagetest.UniqueSpec("_id"), storagetest.Spec("v"))
		}, "another UUID"},
		"specification": {func(tx storage.Tx) error {
			return tx.SetIndex(ns, storage.IndexSpec{Name: "v", Spec: value.NewDoc("field", value.String("v"), "sparse", value.Bool(true))})
		}, "another index in the place of v"},
		"collection": {func(tx storage.Tx) error { return tx.Drop(ns) }, "0 are there"},
		"name":       {func(tx storage.Tx) error { return tx.Rename(ns, storage.Namespace{DB: "a", Coll: "d"}) }, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			var both [2]Opened
			for i := range both {
				var err error
				if both[i], err = Open(Default, Options{Path: Memory, Indexer: storagetest.Indexer{}}); err != nil {
					t.Fatal(err)
				}
				defer both[i].Close()
			}
			err := both[0].Update(t.Context(), func(tx storage.Tx) error {
				if _, err := tx.Create(ns, value.EmptyDoc, nil); err != nil {
					return err
				}
				return again(tx, storagetest.UniqueSpec("_id"), storagetest.Spec("v"))
			})
			if err != nil {
				t.Fatal(err)
			}
			tr := &transfer{from: both[0].Engine, update: both[1].Update, begin: func(int64) {}, tick: func(int64) {}}
			prints, err := tr.copyTo(t.Context(), both[1].Engine)
			if err != nil {
				t.Fatal(err)
			}
			if err := both[1].Update(t.Context(), tt.change); err != nil {
				t.Fatal(err)
			}
			_, err = tr.compare(t.Context(), both[1].Engine, prints)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}
