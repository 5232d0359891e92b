package storagetest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// uniqueKeys are the keys that records have in a unique index.
type uniqueKeys map[storage.RecordID][]value.Value

type indexEntry struct {
	key []byte
	id  storage.RecordID
}

// entries lists the entries in the order of an index.
func (u uniqueKeys) entries() (list []indexEntry) {
	for id, values := range u {
		for _, v := range values {
			list = append(list, indexEntry{fieldKey(v), id})
		}
	}
	slices.SortFunc(list, func(a, b indexEntry) int { return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	return list
}

// within lists the entries of a scan.
func (u uniqueKeys) within(r storage.KeyRange) []string {
	list := []string{}
	all := u.entries()
	if r.Reverse {
		slices.Reverse(all)
	}
	for _, e := range all {
		behind := cmp.Or(bytes.Compare(e.key, r.AfterKey), cmp.Compare(e.id, r.AfterID))
		if r.Reverse {
			behind = -behind
		}
		if resumed := r.AfterKey != nil; resumed && behind <= 0 ||
			len(r.Lo) > 0 && bytes.Compare(e.key, r.Lo) < 0 || len(r.Hi) > 0 && bytes.Compare(e.key, r.Hi) >= 0 {
			continue
		}
		list = append(list, fmt.Sprintf("%x/%d", e.key, e.id))
	}
	return list
}

// check compares scans between all bounds, from all positions, and look-ups.
func (u uniqueKeys) check(t *testing.T, c storage.Collection, numbers int32) {
	t.Helper()
	bounds := [][]byte{nil}
	after := []indexEntry{{}}
	for n := range numbers {
		k := key(n)
		bounds = append(bounds, k, append(bytes.Clone(k), 1), append(bytes.Clone(k), 0xff))
		after = append(after, indexEntry{k, 2}, indexEntry{append(bytes.Clone(k), 1), 1})
	}
	for i, lo := range bounds {
		for _, hi := range bounds {
			for j, a := range after {
				if i%7 != j%7 && a.key != nil {
					continue // some of the positions are enough
				}
				for _, reverse := range []bool{false, true} {
					r := storage.KeyRange{Lo: lo, Hi: hi, Reverse: reverse, AfterKey: a.key, AfterID: a.id}
					if got, want := entries(t, c, "u", r), u.within(r); !slices.Equal(got, want) {
						t.Fatalf("%+v: got %v, want %v", r, got, want)
					}
				}
			}
		}
	}
	all := u.entries()
	for n := range numbers {
		first := storage.RecordID(0)
		if i := slices.IndexFunc(all, func(e indexEntry) bool { return bytes.HasPrefix(e.key, key(n)) }); i >= 0 {
			first = all[i].id
		}
		r, _, err := c.Find("u", key(n))
		if err != nil || r.ID != first {
			t.Fatalf("key %d is of record %d, %v, want %d", n, r.ID, err, first)
		}
	}
}

// testUniqueKeys: entries of a unique index whose keys have tails, also several of
// one record with the same Order, while records change and the index becomes one
// that is not unique.
func testUniqueKeys(t *testing.T, open Opener) {
	const numbers = 7
	s := startWith(t, open, UniqueSpec("u"))
	have := uniqueKeys{}
	check := func() {
		t.Helper()
		s.read(func(c storage.Collection) { have.check(t, c, numbers) })
	}
	n, l := func(n int32) value.Value { return value.Int32(n) }, func(n int64) value.Value { return value.Int64(n) }
	for i, step := range []struct {
		id     storage.RecordID
		values []value.Value
	}{
		{1, []value.Value{n(2), l(2)}},
		{2, []value.Value{l(4)}},
		{3, []value.Value{n(1)}},
		{4, []value.Value{n(3), l(5), l(3)}},
		{1, []value.Value{l(2)}},             // one of two goes
		{1, []value.Value{n(2), l(2), n(6)}}, // it comes back, with another
		{1, []value.Value{n(6)}},             // the row of two goes
		{2, []value.Value{n(4)}},             // another tail
		{4, []value.Value{l(3), n(5)}},
		{3, nil},
		{2, []value.Value{n(1), n(2), l(4), n(4)}},
	} {
		s.write(func(c storage.Collection) error {
			switch d := value.NewDoc("u", value.NewArray(step.values...)); {
			case have[step.id] == nil:
				id, err := c.Insert(d, 1)
				equal(t, "id", id, step.id)
				return err
			case step.values == nil:
				return Done(c.Delete(step.id))
			default:
				return Done(c.Update(step.id, d, 1))
			}
		})
		if have[step.id] = step.values; step.values == nil {
			delete(have, step.id)
		}
		if i%3 == 1 {
			s.reopen()
		}
		check()
	}
	s.write(func(c storage.Collection) error {
		for _, e := range []struct {
			v     value.Value
			owner storage.RecordID
		}{{n(3), 4}, {l(5), 4}, {l(6), 1}, {l(1), 2}} {
			_, err := c.Insert(value.NewDoc("u", e.v), 1)
			s.wantDup(err, "u", e.owner)
			if e.owner != 4 {
				s.wantDup(Done(c.Update(4, value.NewDoc("u", value.NewArray(l(3), e.v)), 1)), "u", e.owner)
			}
		}
		return nil
	})
	check()
	s.update(func(tx storage.Tx) error { return tx.SetIndex(NS, Spec("u")) })
	check()
	s.insert(value.NewDoc("u", l(4)), value.NewDoc("u", n(4)))
	have[5], have[6] = []value.Value{l(4)}, []value.Value{n(4)}
	check()
	s.reopen()
	check()
	s.update(func(tx storage.Tx) error { return tx.SetIndex(NS, UniqueSpec("u")) })
	s.write(func(c storage.Collection) error {
		_, err := c.Insert(value.NewDoc("u", l(6)), 1)
		s.wantDup(err, "u", 1)
		_, err = c.Insert(value.NewDoc("u", n(0)), 1)
		return err
	})
	have[7] = []value.Value{n(0)}
	check()
}
