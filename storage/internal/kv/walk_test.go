package kv

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// walkedBy is how many keys the iterators walk over that something uses.
func (s *memStore) walkedBy(do func()) (n int) {
	s.walked = func(keys int) { n += keys }
	do()
	s.walked = nil
	return n
}

// first is the id of the first document by an index, or in the order of the records.
func (e *Engine) first(tb testing.TB, index string) (id int32) {
	tb.Helper()
	id = -1
	must(tb, e.View(tb.Context(), in(func(c storage.Collection) error {
		each := func(r storage.Record) bool { id = r.Doc.Lookup("_id").Int32(); return false }
		if index == "" {
			return c.Scan(storage.Range{Wanted: 1}, each)
		}
		return c.ScanRecords(index, storage.KeyRange{Wanted: 1}, func(_ []byte, r storage.Record) bool { return each(r) })
	})))
	return id
}

// TestFewKeysAreWalked: the first record, and the first of an index, cost the same whatever
// was deleted before them.
func TestFewKeysAreWalked(t *testing.T) {
	t.Parallel()
	const records, far = 400, 8
	for _, how := range []string{"one by one", "in ranges"} {
		s := newMemStore()
		e := s.engine(t, func(o *Options) { o.GapKeys, o.ValueCacheBytes = far, 1<<20 })
		e.create(t, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
		for id := range int32(records) {
			must(t, e.Update(t.Context(), in(insertDoc(id, id))))
		}
		for n := 0; n < records-10; {
			must(t, e.Update(t.Context(), in(func(c storage.Collection) error {
				if how == "one by one" {
					_, err := c.Delete(storage.RecordID(n + 1))
					n++
					return err
				}
				out, err := c.DeleteRange(&storage.RangeDelete{Index: "a", Limit: 10, Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }})
				n += out.Removed
				return err
			})))
			for _, index := range []string{"a", "_id", ""} {
				walked := s.walkedBy(func() {
					if id := e.first(t, index); id != int32(n) {
						t.Fatalf("%s: the first of %q is %d, want %d", how, index, id, n)
					}
				})
				if walked > far+10 {
					t.Fatalf("%s: after %d deletes the first of %q costs %d keys", how, n, index, walked)
				}
			}
		}
	}
}

// TestGapsChangeNothing: an engine that remembers gaps reads what one reads that does not,
// whatever is written and deleted, and whatever is read in between and later of a snapshot.
func TestGapsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plain := newMemStore().engine(t)
		gaps := newMemStore().engine(t, func(o *Options) { o.GapKeys, o.ValueCacheBytes = 1, 64<<10 })
		engines := []*Engine{plain, gaps}
		for _, e := range engines {
			e.create(t, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
		}
		var txns [2]storage.Txn
		end := func() {
			for _, txn := range txns {
				if txn != nil {
					txn.Abort()
				}
			}
			txns = [2]storage.Txn{}
		}
		defer end()
		both := func(fn func(c storage.Collection) string) {
			var got [2]string
			for i, e := range engines {
				must(t, e.Update(t.Context(), in(func(c storage.Collection) error { got[i] = fn(c); return nil })))
			}
			if got[0] != got[1] {
				rt.Fatalf("with gaps %s, without %s", got[1], got[0])
			}
		}
		number := func(rt *rapid.T, name string) int32 { return rapid.Int32Range(0, 12).Draw(rt, name) }
		rt.Repeat(map[string]func(*rapid.T){
			"insert": func(rt *rapid.T) {
				id, a := number(rt, "id"), number(rt, "a")
				both(func(c storage.Collection) string { _, err := c.Insert(document(id, a), 1); return class(err) })
			},
			"delete": func(rt *rapid.T) {
				id := storage.RecordID(rapid.Int64Range(1, 20).Draw(rt, "record"))
				both(func(c storage.Collection) string { _, err := c.Delete(id); return class(err) })
			},
			"update": func(rt *rapid.T) {
				id, a := storage.RecordID(rapid.Int64Range(1, 20).Draw(rt, "record")), number(rt, "a")
				both(func(c storage.Collection) string {
					r, ok, err := c.Get(id)
					if ok {
						_, err = c.Update(id, document(r.Doc.Lookup("_id").Int32(), a), 2)
					}
					return class(err)
				})
			},
			"delete a range": func(rt *rapid.T) {
				index := rapid.SampledFrom([]string{"a", "_id"}).Draw(rt, "index")
				d := storage.RangeDelete{Index: index, Keys: keyRange(rt), Limit: int(number(rt, "most")), Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
					if r.ID%5 == 0 {
						return storage.Verdict{Do: storage.Keep}, nil
					}
					return storage.Verdict{Do: storage.Remove}, nil
				}}
				both(func(c storage.Collection) string { out, err := c.DeleteRange(&d); return fmt.Sprint(out, class(err)) })
			},
			"begin": func(*rapid.T) {
				end()
				for i, e := range engines {
					var err error
					txns[i], err = e.Begin(t.Context())
					must(t, err)
				}
			},
			"": func(rt *rapid.T) {
				index, r := rapid.SampledFrom([]string{"a", "_id", ""}).Draw(rt, "index"), keyRange(rt)
				read := func(c storage.Collection) (out string) {
					if index == "" {
						err := c.Scan(storage.Range{Reverse: r.Reverse}, func(r storage.Record) bool { out += fmt.Sprint(r.ID, " "); return true })
						return out + class(err)
					}
					err := c.ScanIndex(index, r, func(key []byte, id storage.RecordID) bool {
						out += fmt.Sprintf("%x/%d ", key, id)
						return true
					})
					return out + class(err)
				}
				var got, old [2]string
				for i, e := range engines {
					must(t, e.View(t.Context(), in(func(c storage.Collection) error { got[i] = read(c); return nil })))
					if txns[i] != nil {
						must(t, in(func(c storage.Collection) error { old[i] = read(c); return nil })(txns[i]))
					}
				}
				if got[0] != got[1] || old[0] != old[1] {
					rt.Fatalf("with gaps %q and %q, without %q and %q", got[1], old[1], got[0], old[0])
				}
			},
		})
	})
}

// keyRange draws a part of an index.
func keyRange(rt *rapid.T) (r storage.KeyRange) {
	bound := func(name string) []byte {
		if n := rapid.Int32Range(-3, 12).Draw(rt, name); n >= 0 {
			return keyOf(n)
		}
		return nil
	}
	r = storage.KeyRange{Lo: bound("lo"), Hi: bound("hi"), Reverse: rapid.Bool().Draw(rt, "reverse")}
	if after := bound("after"); after != nil && rapid.Bool().Draw(rt, "resumed") {
		r.AfterKey, r.AfterID = after, storage.RecordID(rapid.Int64Range(0, 20).Draw(rt, "after id"))
	}
	return r
}

func class(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// TestPieces: records that a scan copies into one piece of memory do not overlap, and a large
// one does not hold others.
func TestPieces(t *testing.T) {
	t.Parallel()
	var p pieces
	var kept, want [][]byte
	for i := range 300 {
		b := slices.Repeat([]byte{byte(i)}, (i*37)%(maxPiece/3))
		kept, want = append(kept, p.keep(b)), append(want, slices.Clone(b))
		clear(b)
	}
	for i := range kept {
		if !slices.Equal(kept[i], want[i]) || cap(kept[i]) != len(kept[i]) && len(kept[i]) <= maxPiece/4 {
			t.Fatalf("record %d has %d bytes of %d, its capacity is %d", i, len(kept[i]), len(want[i]), cap(kept[i]))
		}
	}
}
