package kvshared

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// place is where the record with an id is found by its unique key.
func place(id storage.RecordID) (s kv.Span, entry []byte) {
	s = kv.OrderSpan(7, 8, fmt.Append(nil, "key", id))
	entry = append(s.Lo[:len(s.Lo):len(s.Lo)], 0, 1, 0, 0, 0, 0, 0, 0, 0, byte(id))
	return s, entry
}

// TestLookupCache: what the cache has is what the database had in the state of the version
// that it names, whoever has committed, and in whichever order reads and commits are noted.
func TestLookupCache(t *testing.T) {
	t.Parallel()
	const records = 2
	rapid.Check(t, func(rt *rapid.T) {
		var cache lookupCache
		states := []map[storage.RecordID]string{{}} // the records in each version
		own := int64(0)                             // the last version that this server has noted
		hits := 0
		commit := func(id storage.RecordID, value string) int64 {
			next := map[storage.RecordID]string{}
			for id, v := range states[len(states)-1] {
				next[id] = v
			}
			if next[id] = value; value == "" {
				delete(next, id)
			}
			states = append(states, next)
			return int64(len(states) - 1)
		}
		id := func(rt *rapid.T) storage.RecordID {
			return storage.RecordID(rapid.Int64Range(1, records).Draw(rt, "record"))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"own commit": func(rt *rapid.T) {
				id := id(rt)
				_, entry := place(id)
				record := kv.Write{Key: kv.AppendRecordKey(nil, 7, id)}
				text := fmt.Sprint("own", len(states))
				wrote := func(list []kv.Write) { // later than others may have read or written the record
					if rapid.Bool().Draw(rt, "read before it is noted") {
						if rapid.Bool().Draw(rt, "another commit") {
							commit(id, fmt.Sprint("other", len(states)))
						}
						if text, ok := states[len(states)-1][id]; ok {
							s, entry := place(id)
							cache.put(s, entry, []byte(text), int64(len(states)-1))
						}
					}
					cache.wrote(list, own)
				}
				switch rapid.SampledFrom([]string{"write", "write", "delete", "change the key"}).Draw(rt, "kind") {
				case "write":
					record.Value = []byte(text)
					own = commit(id, text)
					wrote([]kv.Write{record})
				case "delete":
					own = commit(id, "")
					wrote([]kv.Write{record, {Key: entry}})
				default:
					record.Value = []byte(text)
					own = commit(id, "") // it is not found by this key any more
					wrote([]kv.Write{record, {Key: entry}})
				}
			},
			"commit of another server": func(rt *rapid.T) { commit(id(rt), fmt.Sprint("other", len(states))) },
			"read": func(rt *rapid.T) { // of a state that may be old by now
				id := id(rt)
				version := int64(len(states)-1) - rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(rt, "age")
				if version < 0 {
					return
				}
				if text, ok := states[version][id]; ok {
					s, entry := place(id)
					cache.put(s, entry, []byte(text), version)
				}
			},
			"look": func(rt *rapid.T) {
				id := id(rt)
				s, entry := place(id)
				f, version := cache.get(s)
				if f == nil {
					return
				}
				hits++
				if version < own {
					rt.Fatalf("a look-up as of version %d, after the own commit %d", version, own)
				}
				if want := states[version][id]; string(f.value) != want || string(f.entry) != string(entry) {
					rt.Fatalf("record %d is %q in version %d, want %q", id, f.value, version, want)
				}
			},
		})
	})
}

// TestLookupCacheBounds: the cache forgets the oldest, and does not keep what is large.
func TestLookupCacheBounds(t *testing.T) {
	t.Parallel()
	var cache lookupCache
	span := func(i int) (kv.Span, []byte) {
		s := kv.OrderSpan(7, 8, fmt.Append(nil, "key", i))
		return s, append(s.Lo[:len(s.Lo):len(s.Lo)], 0, 1, 0, 0, 0, 0, 0, byte(i>>16), byte(i>>8), byte(i))
	}
	has := func(i int) bool { s, _ := span(i); f, _ := cache.get(s); return f != nil }
	for i := range 3*maxLookups + 1 {
		s, entry := span(i)
		cache.put(s, entry, []byte("value"), 1)
	}
	if has(0) || has(maxLookups-1) || !has(3*maxLookups) || !has(2*maxLookups) {
		t.Error("the wrong ones are forgotten")
	}
	if len(cache.now)+len(cache.old) > 2*maxLookups || len(cache.records) > 2*maxLookups {
		t.Errorf("%d look-ups are kept, of %d records", len(cache.now)+len(cache.old), len(cache.records))
	}
	s, entry := span(-1)
	cache.put(s, entry, []byte(strings.Repeat("x", maxLookupBytes+1)), 1)
	if has(-1) {
		t.Error("a large record is kept")
	}
	s, entry = span(-2)
	if cache.putAgain(s, entry, []byte("v"), 1); has(-2) {
		t.Error("what was looked for once by a dry run is kept")
	}
	if cache.putAgain(s, entry, []byte("v"), 1); !has(-2) {
		t.Error("what was looked for twice is not kept")
	}
	cache.wrote([]kv.Write{{Key: kv.RecordKeyOf(entry), Value: []byte(strings.Repeat("x", maxLookupBytes+1))}}, 2)
	if has(-2) {
		t.Error("a record is kept that has become large")
	}
}

// TestGuesses: a wrong guess costs a trip, and what is found is right: a key leads to another
// record when its document was deleted and inserted again, also by another server, and to
// none when it was deleted.
func TestGuesses(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	e, s := d.open(t, "a")
	other, _ := d.open(t, "b")
	e.create(t, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	find := func() (a int32, trips int) {
		t.Helper()
		s.set(func() { clear(s.trips) })
		must(t, e.ViewBriefly(t.Context(), func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			rec, ok, err := c.Find("_id", keyOf(1))
			if a = -1; ok {
				a = rec.Doc.Lookup("a").Int32()
			}
			return err
		}))
		for _, n := range s.trips {
			trips += n
		}
		return a, trips
	}
	remove := func(c storage.Collection) error {
		rec, _, err := c.Find("_id", keyOf(1))
		if err == nil {
			_, err = c.Delete(rec.ID)
		}
		return err
	}
	for i, step := range []struct {
		change func(c storage.Collection) error
		a      int32
		trips  int
	}{
		{insertDoc(1, 7), 7, 1},
		{incremented(1), 8, 1},
		{remove, -1, 2},
		{insertDoc(1, 9), 9, 1},
		{func(c storage.Collection) error { return errors.Join(remove(c), insertDoc(1, 3)(c)) }, 3, 2},
	} {
		must(t, other.change(step.change))
		if a, trips := find(); a != step.a || trips != step.trips {
			t.Errorf("step %d: found %d in %d trips, want %d in %d", i, a, trips, step.a, step.trips)
		}
		if a, trips := find(); a != step.a || trips != 1 {
			t.Errorf("step %d, again: found %d in %d trips, want %d in 1", i, a, trips, step.a)
		}
	}
	if a, _ := find(); a != 3 {
		t.Errorf("found %d", a)
	}
	must(t, e.change(incremented(1))) // by the way of the guess
	if a, _ := find(); a != 4 {
		t.Errorf("found %d after an update", a)
	}
}
