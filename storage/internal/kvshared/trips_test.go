package kvshared

import (
	"fmt"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

var ns = storagetest.NS

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// change runs fn on the collection in an Update.
func (e *Engine) change(fn func(c storage.Collection) error) error {
	return e.UpdateShared(e.life, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

// look runs fn on the collection in a View.
func (e *Engine) look(fn func(c storage.Collection) error) error {
	return e.View(e.life, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

// create makes the collection.
func (e *Engine) create(tb testing.TB, indexes ...storage.IndexSpec) {
	tb.Helper()
	must(tb, e.Update(tb.Context(), func(tx storage.Tx) error {
		_, err := tx.Create(ns, nil, indexes)
		return err
	}))
}

func document(id, a int32) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "a", value.Int32(a))
}

func keyOf(id int32) []byte { return value.AppendKey(nil, value.Int32(id)) }

// incremented adds one to the field a of a document, as an update by _id does.
func incremented(id int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		rec, ok, err := c.Find("_id", keyOf(id))
		if err != nil || !ok {
			return err
		}
		_, err = c.Update(rec.ID, document(id, rec.Doc.Lookup("a").Int32()+1), 2)
		return err
	}
}

// counters are the fields a of all documents, by their ids.
func (e *Engine) counters(tb testing.TB) map[int32]int32 {
	tb.Helper()
	sums := map[int32]int32{}
	must(tb, e.look(func(c storage.Collection) error {
		return c.Scan(storage.Range{}, func(r storage.Record) bool {
			sums[r.Doc.Lookup("_id").Int32()] = r.Doc.Lookup("a").Int32()
			return true
		})
	}))
	return sums
}

// TestTrips: how many trips updates by _id take, and that none is lost.
func TestTrips(t *testing.T) {
	t.Parallel()
	const docs = 8
	for _, tt := range []struct {
		name             string
		servers, writers int
		own              bool // each server has documents of its own
		deaf             bool // servers learn of each other's commits by their own reads alone
		each             int
		max              float64 // trips an update, of all kinds
	}{
		{"one writer", 1, 1, false, false, 200, 1.1},
		{"writers of one server", 1, 12, false, false, 40, 1.1},
		{"two servers, each with its own documents", 2, 1, true, false, 100, 2.1},
		{"two servers that do not hear of each other", 2, 1, true, true, 100, 3.3},
		{"two servers with many writers", 2, 6, true, false, 40, 4},
		{"two servers and the same documents", 2, 6, false, true, 40, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase()
			var engines []*Engine
			for i := range tt.servers {
				e, _ := d.open(t, fmt.Sprint("s", i))
				engines = append(engines, e)
			}
			engines[0].create(t, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
			for id := range int32(docs * tt.servers) {
				must(t, engines[0].change(insertDoc(id, 0)))
			}
			for _, s := range d.servers {
				s.set(func() { s.deaf = tt.deaf; clear(s.trips) })
			}
			var wg sync.WaitGroup
			turn := make(chan struct{}, 1)
			for i, e := range engines {
				for w := range tt.writers {
					wg.Go(func() {
						for n := range tt.each {
							id := int32((w + n) % docs)
							if tt.own {
								id += int32(i * docs)
							}
							if tt.writers == 1 {
								turn <- struct{}{}
							}
							if err := e.change(incremented(id)); err != nil {
								t.Error(err)
							}
							if tt.writers == 1 {
								<-turn
							}
						}
					})
				}
			}
			wg.Wait()
			trips := 0
			for _, s := range d.servers {
				for _, n := range s.trips {
					trips += n
				}
				t.Log(s.name, s.trips)
			}
			updates := tt.servers * tt.writers * tt.each
			per := float64(trips) / float64(updates)
			if t.Logf("%.2f trips an update", per); per > tt.max {
				t.Errorf("%d updates take %d trips, want at most %.1f each", updates, trips, tt.max)
			}
			sum := int32(0)
			for _, a := range engines[0].counters(t) {
				sum += a
			}
			if int(sum) != updates {
				t.Errorf("%d updates have counted to %d", updates, sum)
			}
		})
	}
}
