package pebble

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// seen is a snapshot transaction with the documents that it must read.
type seen struct {
	storage.Txn
	ids  map[int32]storage.RecordID
	docs map[int32]value.Doc
}

// check reads all records, and then all keys twice, the second time from the cache, by
// the unique key and by the id.
func (s *seen) check(rt *rapid.T, keys int32) {
	c, err := s.Collection(storagetest.NS)
	must(rt, err)
	n, last := 0, storage.RecordID(0)
	must(rt, c.Scan(storage.Range{}, func(r storage.Record) bool {
		k := r.Doc.Lookup("k").Int32()
		if r.ID <= last || r.ID != s.ids[k] || !bytes.Equal(r.Doc, s.docs[k]) {
			rt.Fatalf("record %d is %v behind record %d, want %v", r.ID, r.Doc, last, s.docs[k])
		}
		n, last = n+1, r.ID
		return true
	}))
	if n != len(s.ids) {
		rt.Fatalf("a scan has %d records, want %d", n, len(s.ids))
	}
	for range 2 {
		for k := range keys {
			r, ok, err := c.Find("k", value.AppendKey(nil, value.Int32(k)))
			must(rt, err)
			if want := s.docs[k]; ok != (want != nil) || ok && (!bytes.Equal(r.Doc, want) || r.ID != s.ids[k]) {
				rt.Fatalf("key %d is %v in record %d, want %v in %d", k, r.Doc, r.ID, want, s.ids[k])
			}
			if id := s.ids[k]; id != 0 {
				r, ok, err = c.Get(id)
				if must(rt, err); !ok || !bytes.Equal(r.Doc, s.docs[k]) {
					rt.Fatalf("record %d is %v, want %v", id, r.Doc, s.docs[k])
				}
			}
		}
	}
}

// TestOldStates: each transaction, on an old state or on the latest one, reads its own
// state, whatever the others have left in the cache.
func TestOldStates(t *testing.T) {
	const keys = 12
	rapid.Check(t, func(rt *rapid.T) {
		e, err := Open(Options{Path: Memory, Indexer: storagetest.Indexer{}, CacheBytes: 1 << 20})
		must(rt, err)
		defer e.Close()
		must(rt, e.Update(ctx, func(tx storage.Tx) error {
			_, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("k")})
			return err
		}))
		ids, docs := map[int32]storage.RecordID{}, map[int32]value.Doc{}
		var open []*seen
		for step := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			key, to := rapid.Int32Range(0, keys-1).Draw(rt, "key"), rapid.Int32Range(0, keys-1).Draw(rt, "to")
			remove, fail := rapid.Bool().Draw(rt, "remove"), rapid.IntRange(0, 9).Draw(rt, "fail") == 0
			before, next := ids, map[int32]storage.RecordID{}
			nextDocs := map[int32]value.Doc{}
			for k := range ids {
				next[k], nextDocs[k] = ids[k], docs[k]
			}
			err := e.Update(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(storagetest.NS)
				must(rt, err)
				doc := value.NewDoc("k", value.Int32(to), "step", value.Int32(int32(step)))
				switch id := before[key]; {
				case id == 0:
					doc = value.NewDoc("k", value.Int32(key), "step", value.Int32(int32(step)))
					next[key], err = c.Insert(doc, 1)
					nextDocs[key] = doc
				case remove:
					_, err = c.Delete(id)
					delete(next, key)
					delete(nextDocs, key)
				case to == key || before[to] == 0:
					_, err = c.Update(id, doc, 2)
					delete(next, key)
					delete(nextDocs, key)
					next[to], nextDocs[to] = id, doc
				}
				must(rt, err)
				if fail {
					return errOnPurpose
				}
				return nil
			})
			if fail != errors.Is(err, errOnPurpose) {
				rt.Fatal(err)
			}
			if !fail {
				ids, docs = next, nextDocs
			}
			txn, err := e.Begin(ctx)
			must(rt, err)
			open = append(open, &seen{txn, ids, docs})
			if len(open) > 5 {
				i := rapid.IntRange(0, 5).Draw(rt, "end")
				open[i].Abort()
				open = append(open[:i:i], open[i+1:]...)
			}
			for range 2 {
				open[rapid.IntRange(0, len(open)-1).Draw(rt, "reader")].check(rt, keys)
			}
		}
		for _, s := range open {
			s.Abort()
		}
	})
}

var errOnPurpose = errors.New("on purpose")
