package kvshared

import (
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// operation is something that a server does to the collection, or to the catalog.
type operation struct {
	name string
	fn   func(tx storage.Tx) error
}

// run does the operation in an Update, as commands do: together with others.
func (o operation) run(e *Engine) error { return e.UpdateShared(e.life, o.fn) }

// alone does it in an Update of its own.
func (o operation) alone(e *Engine) error { return e.Update(e.life, o.fn) }

// each is an operation on the collection.
func each(name string, fn func(c storage.Collection) error) operation {
	return operation{name, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	}}
}

// sumInto writes the sum of all documents into a new one: it reads everything.
func sumInto(id int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		sum := int32(0)
		if err := c.Scan(storage.Range{}, func(r storage.Record) bool { sum += r.Doc.Lookup("a").Int32(); return true }); err != nil {
			return err
		}
		_, err := c.Insert(document(id, sum), 1)
		return err
	}
}

// firstOf changes the first document by the index a.
func firstOf(c storage.Collection) error {
	var first storage.Record
	err := c.ScanRecords("a", storage.KeyRange{}, func(_ []byte, r storage.Record) bool { first = r; return false })
	if err == nil && first.ID != 0 {
		_, err = c.Update(first.ID, document(first.Doc.Lookup("_id").Int32(), 50), 3)
	}
	return err
}

func remove(id int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		rec, ok, err := c.Find("_id", keyOf(id))
		if err == nil && ok {
			_, err = c.Delete(rec.ID)
		}
		return err
	}
}

func insertDoc(id, a int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		_, err := c.Insert(document(id, a), 1)
		return err
	}
}

// deleteBelow removes what the index a has below a value.
func deleteBelow(a int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		_, err := c.DeleteRange(&storage.RangeDelete{
			Index: "a", Keys: storage.KeyRange{Hi: keyOf(a)}, Limit: 10,
			Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil },
		})
		return err
	}
}

var operations = []operation{
	each("increment 1", incremented(1)),
	each("increment 2", incremented(2)),
	each("insert 9", insertDoc(9, 4)),
	each("insert 10", insertDoc(10, 1)),
	each("remove 1", remove(1)),
	each("sum of all", sumInto(20)),
	each("first by a", firstOf),
	each("delete a range", deleteBelow(3)),
	each("truncate", func(c storage.Collection) error { return c.Truncate() }),
	each("count", func(c storage.Collection) error {
		n, err := c.Count()
		if err == nil {
			_, err = c.Insert(document(30, int32(n)), 1)
		}
		return err
	}),
	{"create an index", func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("b")) }},
	{"drop an index", func(tx storage.Tx) error { return tx.DropIndex(ns, "a") }},
	{"drop", func(tx storage.Tx) error { return tx.Drop(ns) }},
	{"rename", func(tx storage.Tx) error { return tx.Rename(ns, storage.Namespace{DB: "db", Coll: "other"}) }},
}

// class names an error as far as callers tell errors apart.
func class(err error) string {
	var dup *storage.DuplicateKeyError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &dup):
		return "duplicate key"
	case errors.Is(err, storage.ErrNotFound):
		return "not found"
	case errors.Is(err, storage.ErrNoIndex):
		return "no index"
	case errors.Is(err, storage.ErrConflict):
		return "conflict"
	}
	return err.Error()
}

// contents is everything that a server reads.
func (e *Engine) contents(tb testing.TB) string {
	tb.Helper()
	out := ""
	must(tb, e.View(e.life, func(tx storage.Tx) error {
		out = ""
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range infos {
			c, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			n, err := c.Count()
			if err != nil {
				return err
			}
			size, err := c.Size()
			if err != nil {
				return err
			}
			out += fmt.Sprintf("%s: %d records, %d bytes\n", info.Namespace, n, size)
			if err := c.Scan(storage.Range{}, func(r storage.Record) bool {
				out += fmt.Sprintln(" ", r.ID, string(r.Doc))
				return true
			}); err != nil {
				return err
			}
			for _, x := range info.Indexes {
				entries := int64(0)
				if err := c.ScanIndex(x.Name, storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
					entries++
					out += fmt.Sprintf("  %s %x %d\n", x.Name, key, id)
					return true
				}); err != nil {
					return err
				}
				if st, err := c.IndexStats(x.Name); err != nil || st.Entries != entries && !st.Estimate {
					tb.Errorf("%s has %d entries, counted %d, %v", x.Name, entries, st.Entries, err)
				}
			}
		}
		return nil
	}))
	return out
}

// prepared makes the collection with a few documents.
func prepared(tb testing.TB, e *Engine) {
	tb.Helper()
	e.create(tb, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	for id := range int32(4) {
		must(tb, e.change(insertDoc(id, id)))
	}
	for range 2 { // so that the cache of look-ups has a document
		must(tb, e.change(incremented(1)))
	}
}

// TestBetween: whatever another server, or another goroutine of this one, commits between
// the dry run of an operation and its commit, or right before the trip of that, it is as if
// one operation had followed the other.
func TestBetween(t *testing.T) {
	t.Parallel()
	for _, w := range []interruption{
		{"this server", false, false, false},
		{"another server", true, false, false},
		{"another server, unheard", true, true, false},
		{"another server, before the trip", true, false, true},
		{"another server, unheard, before the trip", true, true, true},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, first := range operations {
				for _, second := range operations {
					t.Run(first.name+"/"+second.name, func(t *testing.T) {
						w.test(t, first, second, operation.run)
						w.test(t, first, second, operation.alone)
					})
				}
			}
		})
	}
}

// interruption says who commits between a dry run and its commit, and when.
type interruption struct {
	name   string
	other  bool // another server
	deaf   bool // neither server is told of the other's commits
	before bool // before the trip that commits or takes the lock, else behind the dry run
}

func (w interruption) test(t *testing.T, first, second operation, run func(operation, *Engine) error) {
	t.Helper()
	serial, _ := newDatabase().open(t, "serial")
	prepared(t, serial)
	wantFirst := class(run(first, serial))
	wantSecond := class(run(second, serial))
	want := serial.contents(t)

	d := newDatabase()
	e, s := d.open(t, "e")
	prepared(t, e)
	between := e
	if w.other {
		var b *server
		between, b = d.open(t, "b")
		b.set(func() { s.deaf, b.deaf = w.deaf, w.deaf })
	}
	gotFirst, runs := "", 0
	interrupt := func(string) {
		if gotFirst == "" {
			gotFirst = "begun"
			gotFirst = class(run(first, between))
		}
	}
	if w.before {
		s.set(func() { s.before = interrupt })
	}
	got := class(run(operation{second.name, func(tx storage.Tx) error {
		err := second.fn(tx)
		if runs++; runs == 1 && !w.before {
			interrupt("")
		}
		return err
	}}, e))
	interrupt("") // the operation has failed before its trip
	if gotFirst != wantFirst || got != wantSecond {
		t.Errorf("the operations end with %s and %s, want %s and %s", gotFirst, got, wantFirst, wantSecond)
	}
	for _, engine := range []*Engine{e, between} {
		if got := engine.contents(t); got != want {
			t.Fatalf("the database has\n%swant\n%s", got, want)
		}
	}
}
