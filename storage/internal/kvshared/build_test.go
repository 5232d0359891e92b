package kvshared

import (
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestPrepareIndex: an index is built while two servers write, and has then what an index
// has that is built at once.
func TestPrepareIndex(t *testing.T) {
	t.Parallel()
	const records = 2*builtRecords + 10
	d := newDatabase()
	a, s := d.open(t, "a")
	b, _ := d.open(t, "b")
	a.create(t, storagetest.UniqueSpec("_id"))
	must(t, a.change(func(c storage.Collection) error {
		for id := range int32(records) {
			if err := insertDoc(id, id%7)(c); err != nil {
				return err
			}
		}
		return nil
	}))
	writes := 0
	write := func(string) { // between the commits of the build
		id := int32(writes * 500)
		if writes++; writes > 8 {
			return
		}
		must(t, b.change(incremented(id%records)))
		must(t, b.change(insertDoc(records+id, 3)))
		must(t, b.change(remove((id+1)%records)))
	}
	s.set(func() { s.before = write })
	release, err := a.PrepareIndex(t.Context(), ns, storagetest.Spec("a"))
	must(t, err)
	defer release()
	s.set(func() { s.before = nil })
	must(t, a.Update(a.life, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("a")) }))
	if writes < 4 {
		t.Errorf("only %d writes between the commits", writes)
	}
	want := map[string]bool{}
	for _, e := range []*Engine{a, b} {
		clear(want)
		must(t, e.look(func(c storage.Collection) error {
			err := c.Scan(storage.Range{}, func(r storage.Record) bool {
				want[fmt.Sprintf("%x/%d", keyOf(r.Doc.Lookup("a").Int32()), r.ID)] = true
				return true
			})
			n := 0
			xerr := c.ScanIndex("a", storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
				if n++; !want[fmt.Sprintf("%x/%d", key, id)] {
					t.Errorf("there is an entry %x/%d", key, id)
				}
				return true
			})
			if n != len(want) {
				t.Errorf("%d entries of %d records", n, len(want))
			}
			return errors.Join(err, xerr)
		}))
	}
	release()
	if got := a.contents(t); got != b.contents(t) || len(a.known.catalog.Load().root.Get(ns).Info.Indexes) != 2 {
		t.Error("after its release the index is not as it was")
	}
}

// building is the number of indexes that are being built.
func (e *Engine) building() (n int) {
	cat := e.known.catalog.Load()
	if c := cat.root.Get(ns); c != nil {
		n = len(c.Building)
	}
	return n
}

// TestPreparedIndexEnds: an index that nobody makes visible goes, with its entries.
func TestPreparedIndexEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		spec storage.IndexSpec
		then func(e *Engine) error // before it is released
		dup  bool
	}{
		{"released", storagetest.Spec("b"), nil, false},
		{"the collection is dropped", storagetest.Spec("b"), func(e *Engine) error {
			return e.Update(e.life, func(tx storage.Tx) error { return tx.Drop(ns) })
		}, false},
		{"the options change", storagetest.Spec("b"), func(e *Engine) error {
			return e.Update(e.life, func(tx storage.Tx) error { return tx.SetOptions(ns, document(1, 1)) })
		}, false},
		{"duplicates", storagetest.UniqueSpec("same"), nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase()
			e, _ := d.open(t, "e")
			prepared(t, e)
			rows := d.now.rows.Len()
			release, err := e.PrepareIndex(t.Context(), ns, tt.spec)
			var dup *storage.DuplicateKeyError
			if tt.dup && !errors.As(err, &dup) {
				t.Errorf("%v, want a duplicate key", err)
			}
			if !tt.dup {
				must(t, err)
				if n := e.building(); n != 1 {
					t.Errorf("%d indexes are being built", n)
				}
				if _, err := e.PrepareIndex(t.Context(), ns, tt.spec); !errors.Is(err, storage.ErrExists) {
					t.Errorf("the same index again: %v", err)
				}
				if tt.then != nil {
					must(t, tt.then(e))
				}
				release()
			}
			if n := e.building(); n != 0 {
				t.Errorf("%d indexes are being built", n)
			}
			if n := d.now.rows.Len(); n > rows {
				t.Errorf("%d rows, there were %d", n, rows)
			}
		})
	}
	e, _ := newDatabase().open(t, "e")
	if _, err := e.PrepareIndex(t.Context(), ns, storagetest.Spec("b")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an index of no collection: %v", err)
	}
}

// TestOrphans: what a server has left that is gone the next one removes, but nothing of
// those that live.
func TestOrphans(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, s := d.open(t, "a")
	prepared(t, a)
	_, err := a.PrepareIndex(t.Context(), ns, storagetest.Spec("b"))
	must(t, err)
	b, _ := d.open(t, "b")
	if b.building() != 1 {
		t.Error("the index of a server that lives was removed")
	}
	s.set(func() { s.closed = true }) // it has died
	c, _ := d.open(t, "c")
	if c.building() != 0 || b.building() != 0 {
		t.Error("the index of a server that is gone stays")
	}
}

// TestOrphanOfThisServer: what a server could not remove it removes before it builds again.
func TestOrphanOfThisServer(t *testing.T) {
	t.Parallel()
	e, s := newDatabase().open(t, "e")
	prepared(t, e)
	release, err := e.PrepareIndex(t.Context(), ns, storagetest.Spec("b"))
	must(t, err)
	s.failing("lock", 1, errLost)
	release()
	if e.building() != 1 {
		t.Fatal("it could be removed")
	}
	release, err = e.PrepareIndex(t.Context(), ns, storagetest.Spec("b"))
	must(t, err)
	release()
	if e.building() != 0 {
		t.Error("the index is still being built")
	}
}
