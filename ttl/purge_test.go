package ttl

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/ttl/internal/ttltest"
)

// t0 is the instant at which the cases of the specification begin.
var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is t0 and some seconds, as a date in JSON.
func at(seconds float64) string {
	return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, t0.UnixMilli()+int64(seconds*1000))
}

// indexer compiles indexes and keeps nothing else of a collection.
type indexer struct{ index.Indexer }

func (indexer) Attach(*storage.Info) any { return nil }

func openEngine(tb testing.TB) storage.Engine {
	return ttltest.Open(tb, bunt.Memory, indexer{})
}

// newColl makes a collection; it has the indexes of document TTL if its options have
// documentTtl.
func newColl(tb ttltest.TB, e storage.Engine, options string, indexes ...string) *ttltest.Coll {
	c := ttltest.Create(tb, e, "c", options, indexes...)
	if c.Info().Options.Has("documentTtl") {
		for _, i := range DocumentIndexes() {
			c.AddInternal(i.Name, i.Path, i.Order)
		}
	}
	return c
}

func forecast(c *ttltest.Coll, h Horizon) (all []Forecast) {
	c.View(func(coll storage.Collection) (err error) {
		all, err = NewRules(coll.Info()).Forecast(coll, h)
		return err
	})
	return all
}

// purged removes what has expired, and returns the count of documents.
func purged(c *ttltest.Coll, now int64) (r Removed) {
	c.Update(func(coll storage.Collection) (err error) {
		r, err = NewRules(coll.Info()).Purge(coll, now, func(storage.Record, *Expired) error { return nil })
		return err
	})
	return r
}

func TestPurge(t *testing.T) {
	c := newColl(t, openEngine(t), `{"documentTtl":{"default":10}}`)
	c.Put(t0.UnixMilli(), `{"_id":1}`, `{"_id":2,"ttl":100}`, `{"_id":3,"ttl":5}`)
	if r := purged(c, t0.UnixMilli()+10000); r.Documents != 2 || c.IDs() != "2 " {
		t.Errorf("%+v, left %s", r, c.IDs())
	}
}
