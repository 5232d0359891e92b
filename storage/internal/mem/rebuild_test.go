package mem

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// example is a log of two collections, each with an index beside a unique one.
func example(t *testing.T) *logged {
	t.Helper()
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	for _, name := range []string{"a", "b"} {
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Create(storage.Namespace{DB: "db", Coll: name}, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("a")})
			for i := 0; i < 5 && err == nil; i++ {
				_, err = c.Insert(docOf(i, i%2), 1)
			}
			return err
		}))
	}
	must(t, e.Close())
	return s
}

// without is the log without some rows.
func (s *logged) without(gone func(r loggedRow) bool) *logged {
	return &logged{log: slices.DeleteFunc(slices.Clone(s.log), gone)}
}

func isCatalog(num uint32) func(loggedRow) bool {
	return func(r loggedRow) bool { return r.Kind == kv.RowCatalog && r.Num == num }
}

// catalogOf is the description of a collection in the log.
func (s *logged) catalogOf(num uint32) []byte {
	return s.log[slices.IndexFunc(s.log, isCatalog(num))].value
}

// second is the number of the second collection.
func (s *logged) second() uint32 {
	nums := map[uint32]bool{}
	for _, r := range s.log {
		nums[r.Num] = true
	}
	return slices.Max(slices.Collect(maps.Keys(nums)))
}

// TestRebuildRefuses: what contradicts itself does not open, and the error says what it is.
func TestRebuildRefuses(t *testing.T) {
	t.Parallel()
	s := example(t)
	num := s.second()
	for name, tt := range map[string]struct {
		log  *logged
		want string
	}{
		"no description":        {s.without(isCatalog(num)), "5 records of a collection"},
		"a damaged description": {&logged{log: append(slices.Clone(s.log), loggedRow{kv.Row{Kind: kv.RowCatalog, Num: num}, []byte("x")})}, "catalog entry"},
		"one name twice":        {&logged{log: append(slices.Clone(s.log), loggedRow{kv.Row{Kind: kv.RowCatalog, Num: num + 10}, s.catalogOf(num)})}, "two collections"},
		"a unique key twice":    {&logged{log: append(slices.Clone(s.log), loggedRow{kv.Row{Kind: kv.RowRecord, Num: num, ID: 9}, s.log[0].value})}, `index "_id" of db.b: duplicate key`},
	} {
		_, err := kv.Open(tt.log.replayed(t), kv.Options{Indexer: storagetest.Indexer{}, Rebuild: &kv.Rebuild{}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// repaired opens what a log has with a repair, and then without one: nothing is left to do.
func repaired(t *testing.T, s *logged, orphans ...storage.IndexSpec) (dump string, r *kv.Repair) {
	t.Helper()
	s = s.replayed(t)
	r = &kv.Repair{OrphanIndexes: orphans}
	e, err := kv.Open(s, kv.Options{Indexer: storagetest.Indexer{}, Rebuild: &kv.Rebuild{Repair: r}})
	must(t, err)
	dump = storagetest.Dump(e)
	must(t, e.Close())
	again := s.replayed(t)
	groups := again.groups
	if got := storagetest.Dump(again.engine(t, storagetest.Indexer{})); got != dump {
		t.Errorf("opened again\n%s\nwant\n%s", got, dump)
	}
	if again.groups != groups {
		t.Error("opening a sound log has written to it")
	}
	return dump, r
}

// TestRepairOrphans: records whose collection is lost come into one of their own, with
// indexes if all of them have an _id.
func TestRepairOrphans(t *testing.T) {
	t.Parallel()
	s := example(t)
	num := s.second()
	lost := s.without(isCatalog(num))
	dump, r := repaired(t, lost, storagetest.UniqueSpec("_id"))
	name := storage.Namespace{DB: "local", Coll: fmt.Sprintf("orphan.%d", num)}
	if r.Adopted[num] != 5 || r.Names[num] != name || len(r.Contradicted) > 0 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(dump, name.String()+" {} count=5") || !strings.Contains(dump, "last=5") || !strings.Contains(dump[strings.Index(dump, "local."):], "index _id") {
		t.Errorf("the state is\n%s", dump)
	}
	lost.log = append(lost.log, loggedRow{kv.Row{Kind: kv.RowRecord, Num: num, ID: 6}, append(make([]byte, 8), value.NewDoc("x", value.Int32(1))...)})
	if dump, r = repaired(t, lost, storagetest.UniqueSpec("_id")); r.Adopted[num] != 6 || strings.Contains(dump[strings.Index(dump, "local."):], "index _id") {
		t.Errorf("%+v: documents without _id: the state is\n%s", r, dump)
	}
}

// TestRepairConflicts: of two records with a key of a unique index the later one stays, and of
// two collections with a name, too.
func TestRepairConflicts(t *testing.T) {
	t.Parallel()
	s := example(t)
	num := s.second()
	s.log = append(s.log, loggedRow{kv.Row{Kind: kv.RowRecord, Num: num, ID: 9}, append(make([]byte, 8), docOf(3, 77)...)})
	dump, r := repaired(t, s)
	if r.Contradicted[num] != 1 || r.Names[num].Coll != "b" || len(r.Adopted) > 0 {
		t.Errorf("%+v", r)
	}
	b := dump[strings.Index(dump, "db.b"):]
	if !strings.Contains(b, "count=5") || !strings.Contains(b, "9 @0") || strings.Contains(b, "  4 @1") || strings.Count(b, "entries=5") != 2 {
		t.Errorf("the state is\n%s", dump)
	}

	s = example(t)
	renamed := bytes.Replace(s.catalogOf(num), []byte("coll\x00\x02\x00\x00\x00b"), []byte("coll\x00\x02\x00\x00\x00a"), 1)
	s.log = append(s.log, loggedRow{kv.Row{Kind: kv.RowCatalog, Num: num}, renamed},
		loggedRow{kv.Row{Kind: kv.RowRecord, Num: num, ID: 6}, append(make([]byte, 8), docOf(6, 6)...)})
	dump, r = repaired(t, s)
	if len(r.Contradicted) != 1 || r.Contradicted[1] != 5 || r.Names[1].Coll != "a" {
		t.Errorf("%+v", r)
	}
	if strings.Count(dump, "db.") != 1 || !strings.Contains(dump, "db.a") || !strings.Contains(dump, "count=6") {
		t.Errorf("the state is\n%s", dump)
	}
}

// TestRepairBoth: a record that two indexes contradict is removed and counted once.
func TestRepairBoth(t *testing.T) {
	t.Parallel()
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"), storagetest.UniqueSpec("a"))
	must(t, inColl(e, func(c storage.Collection) error { _, err := c.Insert(docOf(1, 1), 1); return err }))
	must(t, e.Close())
	s.log = append(s.log, loggedRow{kv.Row{Kind: kv.RowRecord, Num: 1, ID: 2}, append(make([]byte, 8), docOf(1, 2)...)},
		loggedRow{kv.Row{Kind: kv.RowRecord, Num: 1, ID: 3}, append(make([]byte, 8), docOf(2, 1)...)})
	dump, r := repaired(t, s)
	if r.Contradicted[1] != 1 || !strings.Contains(dump, "count=2") {
		t.Errorf("%+v, the state is\n%s", r, dump)
	}
}

// TestLogged: a log has the records, the descriptions, and statistics beside a description.
func TestLogged(t *testing.T) {
	t.Parallel()
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	rows := func(do func(tx storage.Tx) error) (kinds string) {
		t.Helper()
		before := len(s.log)
		must(t, e.Update(ctx, do))
		for _, r := range s.log[before:] {
			if kinds += string(r.Kind); r.value == nil {
				kinds += "-"
			}
		}
		return kinds
	}
	in := func(fn func(c storage.Collection) error) func(tx storage.Tx) error {
		return func(tx storage.Tx) error { return errors.Join(fn(storagetest.Got(tx.Collection(ns)))) }
	}
	for _, step := range []struct {
		name, want string
		do         func(tx storage.Tx) error
	}{
		{"create", "cs", func(tx storage.Tx) error {
			_, err := tx.Create(ns, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
			return err
		}},
		{"insert", "rr", in(func(c storage.Collection) error {
			_, err := c.Insert(docOf(1, 1), 1)
			_, other := c.Insert(docOf(2, 2), 1)
			return errors.Join(err, other)
		})},
		{"update", "r", in(func(c storage.Collection) error { return storagetest.Done(c.Update(1, docOf(1, 3), 2)) })},
		{"delete", "r-", in(func(c storage.Collection) error { return storagetest.Done(c.Delete(2)) })},
		{"insert and delete", "r-", in(func(c storage.Collection) error {
			id, err := c.Insert(docOf(3, 3), 1)
			return errors.Join(err, storagetest.Done(c.Delete(id)))
		})},
		{"create an index", "cs", func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("a")) }},
		{"drop an index", "cs", func(tx storage.Tx) error { return tx.DropIndex(ns, "a") }},
		{"truncate", "c-cs", in(func(c storage.Collection) error { return c.Truncate() })},
		{"drop", "c-", func(tx storage.Tx) error { return tx.Drop(ns) }},
		{"nothing", "", func(storage.Tx) error { return nil }},
	} {
		if got := rows(step.do); got != step.want {
			t.Errorf("%s: rows %q, want %q", step.name, got, step.want)
		}
		if step.name == "insert and delete" {
			if again := s.replayed(t).engine(t, storagetest.Indexer{}); !strings.Contains(storagetest.Dump(again), "last=3") {
				t.Errorf("opened again\n%s", storagetest.Dump(again))
			}
		}
		if step.name == "truncate" {
			if again := s.replayed(t).engine(t, storagetest.Indexer{}); !strings.Contains(storagetest.Dump(again), "count=0 size=0 last=3") {
				t.Errorf("after truncating and opening again\n%s", storagetest.Dump(again))
			}
		}
	}
}

// TestLoader: what is loaded is what was set last, and the last id that there has ever been
// stays known.
func TestLoader(t *testing.T) {
	t.Parallel()
	l := NewLoader()
	row := func(kind kv.RowKind, num uint32, id storage.RecordID) kv.Row {
		return kv.Row{Kind: kind, Num: num, ID: id}
	}
	v := []byte("12345678 a value that is overwritten")
	must(t, l.Set(row(kv.RowRecord, 3, 1), v))
	must(t, l.Set(row(kv.RowCatalog, 3, 0), v))
	clear(v)
	must(t, l.Set(row(kv.RowRecord, 3, 7), []byte("12345678")))
	must(t, l.Delete(row(kv.RowRecord, 3, 7)))
	must(t, l.Delete(row(kv.RowRecord, 3, 8)))
	must(t, l.Set(row(kv.RowStats, 4, 0), []byte{9}))
	must(t, l.Set(row(kv.RowRecord, 4, 2), []byte("12345678")))
	must(t, l.Set(row(kv.RowRecord, 9, 2), []byte("12345678")))
	must(t, l.Set(row(kv.RowStats, 9, 0), []byte{9}))
	must(t, l.Delete(row(kv.RowCatalog, 9, 0)))
	must(t, l.Delete(row(kv.RowStats, 9, 0)))
	if !l.Has(3, 1) || l.Has(3, 7) || l.Has(9, 2) || l.Has(5, 1) || !strings.HasPrefix(string(l.Catalog(3)), "12345678") || l.Catalog(4) != nil || l.Catalog(9) != nil {
		t.Error("the loader has something else")
	}
	for name, err := range map[string]error{
		"a short record": l.Set(row(kv.RowRecord, 3, 2), []byte("1234567")), "a record without id": l.Set(row(kv.RowRecord, 3, 0), []byte("12345678")),
		"an entry": l.Set(row(kv.RowDerived, 3, 2), nil), "a deleted entry": l.Delete(row(kv.RowDerived, 3, 2)),
	} {
		if err == nil {
			t.Errorf("%s is loaded", name)
		}
	}
	s := l.Store()
	n := s.latest.Load()
	if got := string(n.Record(3, 1)); got != "12345678 a value that is overwritten" {
		t.Errorf("the record is %q", got)
	}
	var last []storage.RecordID
	n.colls.All(func(_ uint32, c *collection) { last = append(last, kv.LastIDOf(c.stats)) })
	if !slices.Equal(last, []storage.RecordID{8, 9}) || s.LastNumber() != 9 {
		t.Errorf("last ids %v, last number %d", last, s.LastNumber())
	}
	e, err := kv.Open(s, kv.Options{Indexer: storagetest.Indexer{}, Rebuild: &kv.Rebuild{Repair: &kv.Repair{}}})
	if err == nil {
		t.Error("a description that is no document is opened")
		must(t, e.Close())
	}
}

// TestNumbersGoOn: a collection gets no number that one had that was dropped before the
// engine was opened: a part of the log may be lost.
func TestNumbersGoOn(t *testing.T) {
	t.Parallel()
	s := example(t)
	dropped := s.second()
	e := s.replayed(t)
	drop := e.engine(t, storagetest.Indexer{})
	must(t, drop.Update(ctx, func(tx storage.Tx) error { return tx.Drop(storage.Namespace{DB: "db", Coll: "b"}) }))
	must(t, drop.Close())
	again := e.replayed(t)
	create(t, again.engine(t, storagetest.Indexer{}))
	if num := again.second(); num <= dropped {
		t.Errorf("the number is %d, one that was dropped had %d", num, dropped)
	}
}

// TestRebuildProgress: all steps are reported, none twice.
func TestRebuildProgress(t *testing.T) {
	t.Parallel()
	s := example(t).replayed(t)
	var last, calls, first atomic.Int64
	first.Store(-1)
	_, err := kv.Open(s, kv.Options{Indexer: storagetest.Indexer{}, Rebuild: &kv.Rebuild{Progress: func(done, total int64) {
		if calls.Add(1) == 1 {
			first.Store(done)
		}
		if total != 2*5*2*2 || done > total {
			t.Errorf("%d steps of %d", done, total)
		}
		last.Store(max(last.Load(), done))
	}}})
	must(t, err)
	if last.Load() != 40 || first.Load() != 0 {
		t.Errorf("from %d to %d steps in %d calls", first.Load(), last.Load(), calls.Load())
	}
}

// elsewhere is a store that does not show that its data are in memory.
type elsewhere struct{ *Store }

func (s elsewhere) Snapshot() (kv.Snapshot, error) {
	return struct{ kv.Snapshot }{s.latest.Load()}, nil
}

// TestRebuildNeedsTrees: a store that cannot make indexes cannot be rebuilt.
func TestRebuildNeedsTrees(t *testing.T) {
	t.Parallel()
	if _, err := kv.Open(elsewhere{New()}, kv.Options{Indexer: storagetest.Indexer{}, Rebuild: &kv.Rebuild{}}); err == nil {
		t.Error("rebuilt")
	}
}
