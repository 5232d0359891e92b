package bunt

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestConformanceUnderReruns: the suite passes if functions of updates run twice. It
// expects certain ids and versions, so these stay as they are.
func TestConformanceUnderReruns(t *testing.T) {
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix})
		must(tb, err)
		return storagetest.Hostile(e, storagetest.Hostility{Seed: 1, Reruns: true})
	})
}

// hostileEngine is a hostile engine in memory with the collection ns.
func hostileEngine(t *testing.T, how storagetest.Hostility) storage.Engine {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	return storagetest.Hostile(e, how)
}

// TestHostileWrites: with all behaviours on, each Update that ends without an
// error is applied once; ids grow with gaps; versions change.
func TestHostileWrites(t *testing.T) {
	e := hostileEngine(t, storagetest.Hostility{Seed: 7, Gaps: true, Reruns: true, Conflicts: true, Catalog: true})
	var ids []storage.RecordID
	runs, conflicts := 0, 0
	versions := map[uint64]bool{}
	for i := range 100 {
		var id storage.RecordID
		for done := false; !done; {
			err := e.Update(ctx, func(tx storage.Tx) (err error) {
				runs++
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				versions[c.Info().Version] = true
				id, err = c.Insert(value.NewDoc("_id", value.Int32(int32(i))), 1)
				return err
			})
			if done = err == nil; !done && !errors.Is(err, storage.ErrConflict) {
				t.Fatal(err)
			}
			if !done {
				conflicts++
			}
		}
		if len(ids) > 0 && id <= ids[len(ids)-1] {
			t.Fatalf("id %d follows %d", id, ids[len(ids)-1])
		}
		ids = append(ids, id)
	}
	if last := ids[len(ids)-1]; last < 120 {
		t.Errorf("100 records end with id %d: there are few gaps", last)
	}
	if runs < 120 || conflicts < 5 || len(versions) < 5 {
		t.Errorf("%d runs, %d conflicts, %d versions", runs, conflicts, len(versions))
	}
	must(t, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if n := storagetest.Got(c.Count()); n != 100 {
			t.Errorf("%d records", n)
		}
		return err
	}))
}

// TestHostileViews: the function of a View runs once, or first with an outdated catalog,
// where it can read descriptions only.
func TestHostileViews(t *testing.T) {
	e := hostileEngine(t, storagetest.Hostility{Seed: 3, Views: true})
	runs := map[int]int{}
	for range 100 {
		n := 0
		var last error
		err := e.View(t.Context(), func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				t.Fatal(err)
			}
			n++
			_, last = coll.Count()
			return last
		})
		if err != nil || last != nil {
			t.Fatal(err, last)
		}
		runs[n]++
	}
	if len(runs) != 2 || runs[1] == 0 || runs[2] == 0 {
		t.Errorf("the functions ran so often: %v", runs)
	}
}

// TestHostileReads: each method that reads fails when the test says so, also in
// the middle of a scan.
func TestHostileReads(t *testing.T) {
	bad := errors.New("unreadable")
	var fail storagetest.Read
	after := 0
	e := hostileEngine(t, storagetest.Hostility{Fail: func(r storagetest.Read) error {
		if r != fail {
			return nil
		}
		if after--; after >= 0 {
			return nil
		}
		return bad
	}})
	must(t, inCollOf(e, func(c storage.Collection) error {
		for i := range int32(3) {
			if _, err := c.Insert(value.NewDoc("_id", value.Int32(i)), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	yes := func(storage.Record) bool { return true }
	reads := map[storagetest.Read]func(storage.Collection) error{
		"Get":        func(c storage.Collection) error { _, _, err := c.Get(1); return err },
		"GetMany":    func(c storage.Collection) error { return c.GetMany([]storage.RecordID{1, 2}, yes) },
		"Scan":       func(c storage.Collection) error { return c.Scan(storage.Range{}, yes) },
		"Find":       func(c storage.Collection) error { _, _, err := c.Find("_id", nil); return err },
		"Count":      func(c storage.Collection) error { _, err := c.Count(); return err },
		"Size":       func(c storage.Collection) error { _, err := c.Size(); return err },
		"LastID":     func(c storage.Collection) error { _, err := c.LastID(); return err },
		"IndexStats": func(c storage.Collection) error { _, err := c.IndexStats("_id"); return err },
		"Update": func(c storage.Collection) error {
			_, err := c.Update(1, value.NewDoc("_id", value.Int32(0)), 1)
			return err
		},
		"Delete": func(c storage.Collection) error { _, err := c.Delete(1); return err },
		"ScanIndex": func(c storage.Collection) error {
			return c.ScanIndex("_id", storage.KeyRange{}, func([]byte, storage.RecordID) bool { return true })
		},
		"ScanRecords": func(c storage.Collection) error {
			return c.ScanRecords("_id", storage.KeyRange{}, func([]byte, storage.Record) bool { return true })
		},
		"Collection": func(storage.Collection) error { return nil },
	}
	for r, do := range reads {
		for _, n := range []int{0, 1} {
			fail, after = r, n
			err := inCollOf(e, do)
			scan := len(r) > 3 && r[:4] == "Scan" || r == "GetMany"
			if want := n == 0 || scan; errors.Is(err, bad) != want {
				t.Errorf("%s, after %d: %v", r, n, err)
			}
			fail = ""
			if err := inCollOf(e, func(storage.Collection) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// inCollOf runs fn on the collection ns in an Update.
func inCollOf(e storage.Engine, fn func(storage.Collection) error) error {
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}
