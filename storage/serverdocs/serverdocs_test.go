package serverdocs_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

var (
	ctx = context.Background()
	ns  = storage.Namespace{DB: "config", Coll: "own"}
)

// indexer gives the indexes their meaning, and collections none.
type indexer struct{ index.Indexer }

func (indexer) Attach(*storage.Info) any { return nil }

func open(t testing.TB) storage.Engine {
	t.Helper()
	e, err := bunt.Open(bunt.Options{Path: bunt.Memory, Indexer: indexer{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func update(t *testing.T, e storage.Engine, fn func(storage.Tx) error) {
	t.Helper()
	if err := e.Update(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

// all lists what is stored, as text.
func all(t *testing.T, e storage.Engine) (list []string) {
	t.Helper()
	err := e.View(ctx, func(tx storage.Tx) error {
		docs, err := serverdocs.All(tx, ns)
		for _, d := range docs {
			list = append(list, d.String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func exists(t *testing.T, e storage.Engine) bool {
	t.Helper()
	stamp, err := e.Stamp(ns)
	if err != nil {
		t.Fatal(err)
	}
	return stamp != 0
}

func doc(id string, n int32) value.Doc {
	return value.NewDoc("_id", value.String(id), "n", value.Int32(n))
}

func put(t *testing.T, e storage.Engine, d value.Doc) {
	t.Helper()
	update(t, e, func(tx storage.Tx) error { return serverdocs.Put(tx, ns, d, 1) })
}

func wantAll(t *testing.T, e storage.Engine, want ...value.Doc) {
	t.Helper()
	var list []string
	for _, d := range want {
		list = append(list, d.String())
	}
	if got := all(t, e); !reflect.DeepEqual(got, list) {
		t.Errorf("stored are %v, want %v", got, list)
	}
}

func TestPutAndGet(t *testing.T) {
	e := open(t)
	get := func(id string) (d value.Doc) {
		t.Helper()
		if err := e.View(ctx, func(tx storage.Tx) (err error) { d, err = serverdocs.Get(tx, ns, value.String(id)); return err }); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if get("a") != nil || all(t, e) != nil || exists(t, e) {
		t.Error("reading finds something or makes the collection")
	}
	put(t, e, doc("a", 1))
	put(t, e, doc("b", 2))
	put(t, e, doc("a", 3))
	wantAll(t, e, doc("a", 3), doc("b", 2))
	if get("a").String() != doc("a", 3).String() || get("c") != nil {
		t.Errorf("found %v and %v", get("a"), get("c"))
	}
}

func TestIndexOfNewCollections(t *testing.T) {
	e := open(t)
	put(t, e, doc("a", 1))
	update(t, e, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		want := index.IDSpec(nil).Stored()
		got := coll.Info().Indexes
		if len(got) != 1 || got[0].Name != want.Name || string(got[0].Spec) != string(want.Spec) {
			t.Errorf("the indexes are %v, want %v", got, want)
		}
		_, err = coll.Insert(doc("a", 2), 1)
		if dup := (*storage.DuplicateKeyError)(nil); !errors.As(err, &dup) {
			t.Errorf("a second document of the same _id: %v", err)
		}
		return nil
	})
}

func TestOpenWithFurtherIndexes(t *testing.T) {
	e := open(t)
	further, err := index.Load(value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc("n", value.Int32(1))), "name", value.String("n_1")))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		update(t, e, func(tx storage.Tx) error {
			coll, err := serverdocs.Open(tx, ns, further.Stored())
			if err == nil && len(coll.Info().Indexes) != 2 {
				t.Errorf("the indexes are %v", coll.Info().Indexes)
			}
			return err
		})
	}
}

func TestEntry(t *testing.T) {
	e := open(t)
	put(t, e, doc("other", 0))
	update(t, e, func(tx storage.Tx) error {
		entry, err := serverdocs.Find(tx, ns, value.String("a"))
		if err != nil || entry.Exists() || entry.Doc != nil {
			t.Errorf("found %v: %v", entry, err)
		}
		if err := entry.Delete(); err != nil {
			t.Errorf("removing what is not there: %v", err)
		}
		for n := range int32(3) {
			if err := entry.Put(doc("a", n), 1); err != nil {
				return err
			}
		}
		if !entry.Exists() {
			t.Error("an entry that was stored does not exist")
		}
		return nil
	})
	wantAll(t, e, doc("other", 0), doc("a", 2))
	remove := func(id string, how func(*serverdocs.Entry) error) {
		update(t, e, func(tx storage.Tx) error {
			entry, err := serverdocs.Find(tx, ns, value.String(id))
			if err == nil {
				err = how(&entry)
			}
			if entry.Exists() {
				t.Errorf("%s exists after its removal", id)
			}
			return err
		})
	}
	remove("none", (*serverdocs.Entry).DeleteAndDrop)
	remove("other", (*serverdocs.Entry).DeleteAndDrop)
	wantAll(t, e, doc("a", 2))
	remove("a", (*serverdocs.Entry).DeleteAndDrop)
	if exists(t, e) {
		t.Error("the collection outlives its last document")
	}
	put(t, e, doc("a", 1))
	remove("a", (*serverdocs.Entry).Delete)
	if !exists(t, e) || all(t, e) != nil {
		t.Error("Delete takes the collection away, or leaves the document")
	}
}

func TestPutOnly(t *testing.T) {
	e := open(t)
	only := func() (d value.Doc) {
		if err := e.View(ctx, func(tx storage.Tx) (err error) { d, err = serverdocs.Only(tx, ns); return err }); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if only() != nil {
		t.Errorf("found %v", only())
	}
	for _, d := range []value.Doc{doc("a", 1), doc("a", 2), doc("b", 3)} {
		update(t, e, func(tx storage.Tx) error { return serverdocs.PutOnly(tx, ns, d, 1) })
		wantAll(t, e, d)
		if only().String() != d.String() {
			t.Errorf("found %v, want %v", only(), d)
		}
	}
}

func TestAny(t *testing.T) {
	e := open(t)
	check := func(want bool) {
		t.Helper()
		err := e.View(ctx, func(tx storage.Tx) error {
			got, err := serverdocs.Any(tx, ns)
			if got != want {
				t.Errorf("any: %v, want %v", got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check(false)
	update(t, e, func(tx storage.Tx) error { _, err := serverdocs.Open(tx, ns); return err })
	check(false)
	put(t, e, doc("a", 1))
	check(true)
}
