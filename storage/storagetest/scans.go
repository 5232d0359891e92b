package storagetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func testScan(t *testing.T, open Opener) {
	s := startWith(t, open)
	for i := range int32(5) {
		s.insert(doc(i, i))
	}
	s.write(func(c storage.Collection) error { return Done(c.Delete(3)) })
	type ids = []storage.RecordID
	cases := []struct {
		r    storage.Range
		want ids
	}{
		{storage.Range{}, ids{1, 2, 4, 5}},
		{storage.Range{After: 2}, ids{4, 5}},
		{storage.Range{After: 3}, ids{4, 5}},
		{storage.Range{Until: 4}, ids{1, 2, 4}},
		{storage.Range{Until: 3}, ids{1, 2}},
		{storage.Range{After: 1, Until: 2}, ids{2}},
		{storage.Range{After: 5}, ids{}},
		{storage.Range{After: 4, Until: 4}, ids{}},
		{storage.Range{Reverse: true}, ids{5, 4, 2, 1}},
		{storage.Range{Reverse: true, After: 4}, ids{2, 1}},
		{storage.Range{Reverse: true, After: 3}, ids{2, 1}},
		{storage.Range{Reverse: true, Until: 2}, ids{5, 4, 2}},
		{storage.Range{Reverse: true, After: 5, Until: 3}, ids{4}},
		{storage.Range{Reverse: true, After: 1}, ids{}},
	}
	s.read(func(c storage.Collection) {
		for _, tc := range cases {
			if got := scanIDs(c, tc.r); !slices.Equal(got, tc.want) {
				t.Errorf("%+v: got %v, want %v", tc.r, got, tc.want)
			}
		}
		n := 0
		s.must(c.Scan(storage.Range{}, func(storage.Record) bool { n++; return n < 2 }))
		equal(t, "stopped after", n, 2)
	})
}

func testScanIndex(t *testing.T, open Opener) {
	s := startWith(t, open, Spec("a"))
	s.insert(doc(1, 3), doc(2, 1), doc(3, 2), doc(4, 2), doc(5, -1)) // keys -1/5 1/2 2/3 2/4 3/1
	e := func(pairs ...int32) []string {
		list := []string{}
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, fmt.Sprintf("%x/%d", key(pairs[i]), pairs[i+1]))
		}
		return list
	}
	type kr = storage.KeyRange
	cases := []struct {
		r    kr
		want []string
	}{
		{kr{}, e(-1, 5, 1, 2, 2, 3, 2, 4, 3, 1)},
		{kr{Lo: key(2)}, e(2, 3, 2, 4, 3, 1)},
		{kr{Hi: key(2)}, e(-1, 5, 1, 2)},
		{kr{Lo: key(1), Hi: key(3)}, e(1, 2, 2, 3, 2, 4)},
		{kr{Lo: key(2), Hi: append(key(2), 0xff)}, e(2, 3, 2, 4)},
		{kr{Lo: append(key(2), 0)}, e(3, 1)},
		{kr{Lo: append(key(2), 0xff)}, e(3, 1)},
		{kr{Lo: key(3), Hi: key(3)}, e()},
		{kr{AfterKey: key(2), AfterID: 3}, e(2, 4, 3, 1)},
		{kr{AfterKey: key(2), AfterID: 4, Lo: key(1)}, e(3, 1)},
		{kr{AfterKey: key(-1), AfterID: 5, Lo: key(2)}, e(2, 3, 2, 4, 3, 1)},
		{kr{AfterKey: key(3), AfterID: 1}, e()},
		{kr{Reverse: true}, e(3, 1, 2, 4, 2, 3, 1, 2, -1, 5)},
		{kr{Reverse: true, Lo: key(2)}, e(3, 1, 2, 4, 2, 3)},
		{kr{Reverse: true, Hi: key(2)}, e(1, 2, -1, 5)},
		{kr{Reverse: true, Hi: append(key(2), 0)}, e(2, 4, 2, 3, 1, 2, -1, 5)},
		{kr{Reverse: true, AfterKey: key(2), AfterID: 4}, e(2, 3, 1, 2, -1, 5)},
		{kr{Reverse: true, AfterKey: key(2), AfterID: 3, Lo: key(1)}, e(1, 2)},
		{kr{Reverse: true, AfterKey: key(3), AfterID: 1, Hi: key(2)}, e(1, 2, -1, 5)},
	}
	check := func() {
		s.read(func(c storage.Collection) {
			for _, tc := range cases {
				if got := entries(t, c, "a", tc.r); !slices.Equal(got, tc.want) {
					t.Errorf("%+v: got %v, want %v", tc.r, got, tc.want)
				}
			}
			d, ok := find(t, c, "a", key(2))
			equal(t, "first of equals", ok && d.Lookup("_id").Int32() == 3, true)
		})
	}
	check()
	s.reopen()
	check()
}

// testScanResumed: a scan goes on where another one stopped, and its callback
// may write the position of the next one over that of its own.
func testScanResumed(t *testing.T, open Opener) {
	const n = 1000
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.write(func(c storage.Collection) error {
		for i := range int32(n) {
			if _, err := c.Insert(doc(i, i*7%20), 1); err != nil { // keys and ids rise apart
				return err
			}
		}
		return nil
	})
	pages := func(c storage.Collection, page int, reverse bool) {
		var got []string
		var at []byte
		r := storage.KeyRange{Reverse: reverse}
		for seen := page; seen == page; {
			seen = 0
			s.must(c.ScanIndex("a", r, func(k []byte, id storage.RecordID) bool {
				got = append(got, fmt.Sprint(string(k), id))
				at = append(at[:0], k...)
				r.AfterID = id
				seen++
				return seen < page
			}))
			r.AfterKey = at
		}
		slices.Sort(got)
		if different := len(slices.Compact(got)); len(got) != n || different != n {
			t.Errorf("pages of %d, reverse %v: %d entries, %d different, want %d", page, reverse, len(got), different, n)
		}
	}
	check := func() {
		s.read(func(c storage.Collection) {
			for page := 1; page < 120; page++ {
				pages(c, page, false)
				pages(c, page, true)
			}
		})
	}
	check()
	s.reopen()
	check()
}

// testScanDuringWrites: writers get through while a scan is in its callback,
// and a scan resumed by position sees what landed behind it.
func testScanDuringWrites(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1), doc(2, 2))
	var last storage.RecordID
	s.read(func(c storage.Collection) {
		s.must(c.Scan(storage.Range{}, func(r storage.Record) bool {
			last = r.ID
			s.insert(doc(100+int32(r.ID), 0)) // would deadlock if the scan held a lock
			return r.ID < 2
		}))
	})
	s.read(func(c storage.Collection) {
		got := scanIDs(c, storage.Range{After: last})
		equal(t, "resumed", slices.Equal(got, []storage.RecordID{3, 4}), true)
	})
}

func testMultikey(t *testing.T, open Opener) {
	s := startWith(t, open, Spec("a"), UniqueSpec("u"))
	list := func(id int32, field string, ns ...int32) value.Doc {
		vs := []value.Value{}
		for _, n := range ns {
			vs = append(vs, value.Int32(n))
		}
		return value.NewDoc("_id", value.Int32(id), field, value.NewArray(vs...))
	}
	stats := func(index string) (st storage.IndexStats) {
		s.read(func(c storage.Collection) { st, _ = c.IndexStats(index) })
		return st
	}
	s.insert(value.NewDoc("a", value.Int32(1), "u", value.Int32(50)))
	equal(t, "multikey", stats("a").Multikey, storage.Multikey(0))
	s.insert(list(1, "a", 1, 2, 2, 3))
	equal(t, "multikey", stats("a").Multikey, storage.Multikey(1))
	equal(t, "entries", stats("a").Entries, 4)
	s.write(func(c storage.Collection) error { return Done(c.Update(2, list(1, "a", 2, 4), 1)) })
	s.read(func(c storage.Collection) {
		equal(t, "entries", fmt.Sprint(entries(t, c, "a", storage.KeyRange{})),
			fmt.Sprintf("[%x/1 %x/2 %x/2]", key(1), key(2), key(4)))
	})
	before := stats("a")
	s.reopen()
	equal(t, "stats after reopening", stats("a"), before)
	s.write(func(c storage.Collection) error {
		_, err := c.Insert(list(2, "u", 7, 7, 8), 1) // equal to itself is no duplicate
		s.must(err)
		_, err = c.Insert(list(3, "u", 9, 8), 1)
		s.wantDup(err, "u", 3)
		return Done(c.Update(3, list(2, "u", 8, 9), 1))
	})
}
