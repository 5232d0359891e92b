// Package ttltest makes collections for the tests of expiry, over the embedded engine in
// memory.
package ttltest

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// TB is what a test and a property test have in common.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Open opens an engine. It ends with the test.
func Open(tb testing.TB, path string, ix storage.Indexer) storage.Engine {
	tb.Helper()
	e, err := bunt.Open(bunt.Options{Path: path, Indexer: ix, CompactMinBytes: -1})
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

func must(tb TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

// Coll is a collection under its present name.
type Coll struct {
	Engine storage.Engine
	NS     storage.Namespace
	tb     TB
}

// Create makes a collection of the given options and index specifications, in JSON.
func Create(tb TB, e storage.Engine, name, options string, indexes ...string) *Coll {
	tb.Helper()
	c := &Coll{e, storage.Namespace{DB: "db", Coll: name}, tb}
	c.update(func(tx storage.Tx) error {
		_, err := tx.Create(c.NS, value.MustJSON(options), nil)
		return err
	})
	for _, spec := range indexes {
		c.AddIndex(value.MustJSON(spec))
	}
	return c
}

func (c *Coll) update(fn func(storage.Tx) error) {
	c.tb.Helper()
	must(c.tb, c.Engine.Update(context.Background(), fn))
}

// AddIndex adds an index.
func (c *Coll) AddIndex(spec value.Doc) {
	c.tb.Helper()
	c.update(func(tx storage.Tx) error {
		return tx.CreateIndex(c.NS, storage.IndexSpec{Name: spec.Lookup("name").Str(), Spec: spec})
	})
}

// AddInternal adds an index of the server's own.
func (c *Coll) AddInternal(name, path, order string) {
	c.tb.Helper()
	c.AddIndex(index.InternalSpec(name, path, index.Order(order)))
}

// SetIndex replaces the specification of an index.
func (c *Coll) SetIndex(spec string) {
	d := value.MustJSON(spec)
	c.update(func(tx storage.Tx) error {
		return tx.SetIndex(c.NS, storage.IndexSpec{Name: d.Lookup("name").Str(), Spec: d})
	})
}

// DropIndex removes an index.
func (c *Coll) DropIndex(name string) {
	c.update(func(tx storage.Tx) error { return tx.DropIndex(c.NS, name) })
}

// SetOptions changes the options.
func (c *Coll) SetOptions(options string) {
	c.update(func(tx storage.Tx) error { return tx.SetOptions(c.NS, value.MustJSON(options)) })
}

// Rename gives the collection another name.
func (c *Coll) Rename(name string) {
	to := storage.Namespace{DB: c.NS.DB, Coll: name}
	c.update(func(tx storage.Tx) error { return tx.Rename(c.NS, to) })
	c.NS = to
}

// Drop removes the collection.
func (c *Coll) Drop() { c.update(func(tx storage.Tx) error { return tx.Drop(c.NS) }) }

// Put inserts documents, in JSON, that are written at an instant.
func (c *Coll) Put(ts int64, docs ...string) {
	c.tb.Helper()
	c.Fill(ts, len(docs), func(i int) value.Doc { return value.MustJSON(docs[i]) })
}

// Fill inserts n documents.
func (c *Coll) Fill(ts int64, n int, doc func(i int) value.Doc) {
	c.tb.Helper()
	for i := 0; i < n; i += 1000 {
		c.Update(func(coll storage.Collection) (err error) {
			for k := i; k < min(i+1000, n) && err == nil; k++ {
				_, err = coll.Insert(doc(k), ts)
			}
			return err
		})
	}
}

// Insert inserts a document and returns its id.
func (c *Coll) Insert(ts int64, d value.Doc) (id storage.RecordID) {
	c.tb.Helper()
	c.Update(func(coll storage.Collection) (err error) {
		id, err = coll.Insert(d, ts)
		return err
	})
	return id
}

// Update runs fn with the collection in a transaction that may write.
func (c *Coll) Update(fn func(storage.Collection) error) {
	c.tb.Helper()
	c.update(func(tx storage.Tx) error {
		coll, err := tx.Collection(c.NS)
		must(c.tb, err)
		return fn(coll)
	})
}

// View runs fn with the collection.
func (c *Coll) View(fn func(storage.Collection) error) {
	c.tb.Helper()
	must(c.tb, c.Engine.View(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(c.NS)
		must(c.tb, err)
		return fn(coll)
	}))
}

// Info is the description of the collection.
func (c *Coll) Info() (info *storage.Info) {
	c.View(func(coll storage.Collection) error { info = coll.Info(); return nil })
	return info
}

// Records are the present records by their ids.
func (c *Coll) Records() map[storage.RecordID]storage.Record {
	list := map[storage.RecordID]storage.Record{}
	c.View(func(coll storage.Collection) error {
		return coll.Scan(storage.Range{}, func(r storage.Record) bool { list[r.ID] = r; return true })
	})
	return list
}

// Count is the number of records.
func (c *Coll) Count() (n int) {
	c.View(func(coll storage.Collection) error {
		count, err := coll.Count()
		n = int(count)
		return err
	})
	return n
}

// IDs lists the _id values in the order of their insertion.
func (c *Coll) IDs() (out string) {
	c.View(func(coll storage.Collection) error {
		return coll.Scan(storage.Range{}, func(r storage.Record) bool {
			out += fmt.Sprint(r.Doc.Lookup("_id"), " ")
			return true
		})
	})
	return out
}
