package pebble

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// change writes to the collection between a preparation and its use: records exchange
// keys, are removed and are inserted.
func change(t *testing.T, e *Engine) {
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err != nil {
			return err
		}
		a, _ := storagetest.Get(c, 1)
		b, _ := storagetest.Get(c, 2)
		swap := func(id storage.RecordID, d, from value.Doc) error {
			return storagetest.Done(c.Update(id, value.NewDoc("_id", d.Lookup("_id"), "u", from.Lookup("u"), "a", d.Lookup("a")), 2))
		}
		_, err = c.Insert(value.NewDoc("_id", value.Int32(5000), "u", value.Int32(5000), "a", value.NewArray(value.Int32(1), value.Int32(2))), 2)
		return errors.Join(err, swap(1, a.Doc, b.Doc), swap(2, b.Doc, a.Doc), storagetest.Done(c.Delete(3)))
	}))
}

func uniqueRecords(t *testing.T, e *Engine, n int) {
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
		for i := range n {
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(int32(i)), "u", value.Int32(int32(i*7)), "a", value.Int32(int32(i%10))), 1)
			}
		}
		return err
	}))
}

func create(e *Engine, spec storage.IndexSpec) error {
	return e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(storagetest.NS, spec) })
}

// TestPrepared: a prepared index has the same entries as one that CreateIndex builds by
// itself.
func TestPrepared(t *testing.T) {
	for _, spec := range []storage.IndexSpec{storagetest.Spec("a"), storagetest.UniqueSpec("u")} {
		var dumps [2]string
		for i := range dumps {
			dir := t.TempDir()
			e := openAt(t, dir)
			uniqueRecords(t, e, 3000)
			release := func() {}
			if i == 1 {
				var err error
				release, err = e.PrepareIndex(ctx, storagetest.NS, spec)
				must(t, err)
			}
			change(t, e)
			must(t, create(e, spec))
			release()
			change2 := storagetest.Dump(e)
			must(t, e.Close())
			e = openAt(t, dir)
			if dumps[i] = storagetest.Dump(e); dumps[i] != change2 {
				t.Errorf("%s: another state after opening again", spec.Name)
			}
		}
		if dumps[0] != dumps[1] {
			t.Errorf("%s: prepared\n%s\nbuilt\n%s", spec.Name, dumps[1], dumps[0])
		}
	}
}

// TestPreparedInVain: entries of an index that nobody creates are removed, at
// once or by the next open.
func TestPreparedInVain(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	uniqueRecords(t, e, 2000)
	before := rows(t, e)
	release, err := e.PrepareIndex(ctx, storagetest.NS, storagetest.Spec("a"))
	must(t, err)
	if n := rows(t, e); n != before+2001 {
		t.Errorf("%d rows while prepared, %d before", n, before)
	}
	crashed := openAt(t, copied(t, dir))
	if n := rows(t, crashed); n != before {
		t.Errorf("%d rows after a crash, %d before", n, before)
	}
	release()
	release()
	if n := rows(t, e); n != before {
		t.Errorf("%d rows after release, %d before", n, before)
	}
	// What fails leaves nothing.
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(-1), "u", value.Int32(7)), 1)
		}
		return err
	}))
	before = rows(t, e)
	var dup *storage.DuplicateKeyError
	if _, err := e.PrepareIndex(ctx, storagetest.NS, storagetest.UniqueSpec("u")); !errors.As(err, &dup) || dup.Existing != 2 {
		t.Errorf("a unique index with duplicates: %v, %+v", err, dup)
	}
	if n := rows(t, e); n != before {
		t.Errorf("%d rows after a failure, %d before", n, before)
	}
}

// TestPreparedTwice: an index that was created from a preparation, dropped and
// created again has all its entries.
func TestPreparedTwice(t *testing.T) {
	e := openAt(t, t.TempDir())
	uniqueRecords(t, e, 100)
	spec := storagetest.Spec("a")
	release, err := e.PrepareIndex(ctx, storagetest.NS, spec)
	must(t, err)
	must(t, create(e, spec))
	want := storagetest.Dump(e)
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		return errors.Join(tx.DropIndex(storagetest.NS, "a"), tx.CreateIndex(storagetest.NS, spec))
	}))
	release()
	if got := storagetest.Dump(e); got != want {
		t.Errorf("state\n%s\nwant\n%s", got, want)
	}
}

// rows counts everything in the store.
func rows(t *testing.T, e *Engine) (n int) {
	s, err := e.store.Snapshot()
	must(t, err)
	defer s.Close()
	it := s.Scan(ctx, []byte{0}, []byte{0xff}, false)
	for it.Next() {
		n++
	}
	must(t, it.Close())
	return n
}
