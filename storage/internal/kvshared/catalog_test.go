package kvshared

import (
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestCatalogOfOthers: what one server does to the catalog another one sees with its next
// read, whether or not it was told.
func TestCatalogOfOthers(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		d := newDatabase()
		a, s := d.open(t, "a")
		b, _ := d.open(t, "b")
		s.set(func() { s.deaf, s.away = deaf, deaf })
		prepared(t, b)
		names := func() string {
			t.Helper()
			var list []string
			must(t, a.View(a.life, func(tx storage.Tx) error {
				list = nil
				infos, err := tx.Collections("")
				for _, info := range infos {
					text := info.Namespace.Coll
					for _, x := range info.Indexes {
						text += "/" + x.Name
					}
					list = append(list, text)
				}
				return err
			}))
			return strings.Join(list, " ")
		}
		other := storage.Namespace{DB: "db", Coll: "other"}
		steps := []struct {
			fn   func(tx storage.Tx) error
			want string
		}{
			{func(tx storage.Tx) error { return nil }, "coll/_id/a"},
			{func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("b")) }, "coll/_id/a/b"},
			{func(tx storage.Tx) error { return tx.DropIndex(ns, "a") }, "coll/_id/b"},
			{func(tx storage.Tx) error { return tx.Rename(ns, other) }, "other/_id/b"},
			{func(tx storage.Tx) error { _, err := tx.Create(ns, nil, nil); return err }, "coll other/_id/b"},
			{func(tx storage.Tx) error { return tx.Drop(other) }, "coll"},
		}
		for _, step := range steps {
			must(t, b.Update(b.life, step.fn))
			before := a.counts.reruns.Load()
			if got := names(); got != step.want {
				t.Errorf("deaf %v: %s, want %s", deaf, got, step.want)
			}
			if reruns := a.counts.reruns.Load() - before; reruns > 1 || !deaf && reruns > 0 {
				t.Errorf("deaf %v, %s: %d reruns", deaf, step.want, reruns)
			}
		}
	}
}

// TestUnchangedDescription: a server that reads the catalog again keeps the description of
// what has not changed, so that those who have compiled something for it need not do so
// again; statistics and arrays found in more fields change nothing of it.
func TestUnchangedDescription(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, _ := d.open(t, "a")
	b, _ := d.open(t, "b")
	prepared(t, b)
	info := func() (info *storage.Info) {
		must(t, a.look(func(c storage.Collection) error { info = c.Info(); return nil }))
		return info
	}
	before := info()
	must(t, b.change(insertDoc(99, 1)))
	must(t, b.Update(b.life, func(tx storage.Tx) error {
		_, err := tx.Create(storage.Namespace{DB: "db", Coll: "other"}, nil, nil)
		return err
	}))
	if info() != before {
		t.Error("another collection has changed the description")
	}
	must(t, b.Update(b.life, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("b")) }))
	if after := info(); after == before || after.Version == before.Version || len(after.Indexes) != 3 {
		t.Errorf("a new index: %+v", after)
	}
}

// TestStatisticsOfOthers: counts are exact for those who read them, and estimates in memory
// follow when a server is told.
func TestStatisticsOfOthers(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, s := d.open(t, "a")
	b, _ := d.open(t, "b")
	prepared(t, b)
	s.set(func() { s.deaf = true })
	for id := range int32(5) {
		must(t, b.change(insertDoc(100+id, 7)))
	}
	check := func(what string, want int64, estimate int64) {
		t.Helper()
		must(t, a.look(func(c storage.Collection) error {
			n, err := c.Count()
			last, lerr := c.LastID()
			if n != want || int64(last) != want {
				t.Errorf("%s: %d records, the last is %d, want %d", what, n, last, want)
			}
			st, serr := c.IndexStats("a")
			if st.Entries != estimate || !st.Estimate {
				t.Errorf("%s: %+v, want %d entries", what, st, estimate)
			}
			return errors.Join(err, lerr, serr)
		}))
	}
	check("unheard", 9, 4)
	select {
	case <-a.Changes():
	default:
	}
	s.set(func() { s.deaf = false })
	d.tell(nil)
	check("heard", 9, 9)
	select {
	case <-a.Changes():
	default:
		t.Error("nobody is told of the changes")
	}
	st := &storage.ClusterStats{}
	if b.Counts(st); st.Updates != 12 || st.Conflicts != 0 { // one has created it
		t.Errorf("%+v", st)
	}
}

// TestStaleNews: news that are newer than the head they came with are left for later, and
// older ones change nothing.
func TestStaleNews(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, s := d.open(t, "a")
	prepared(t, a)
	b, _ := d.open(t, "b")
	s.set(func() { s.deaf = true })
	must(t, b.change(insertDoc(200, 1)))
	var num uint32
	for num = range d.now.stats {
	}
	entries := func() (n int64) {
		must(t, a.look(func(c storage.Collection) error {
			st, err := c.IndexStats("a")
			n = st.Entries
			return err
		}))
		return n
	}
	row, head := d.now.stats[num], d.now.head
	older := head
	older.Version--
	if news, err := a.follow(older, []StatsRow{row}); news || err != nil || entries() != 4 {
		t.Errorf("rows behind the head: %v, %v, %d entries", news, err, entries())
	}
	if news, err := a.follow(head, []StatsRow{row}); !news || err != nil || entries() != 5 {
		t.Errorf("news: %v, %v, %d entries", news, err, entries())
	}
	if news, err := a.follow(head, []StatsRow{row}); news || err != nil {
		t.Errorf("the same again: %v, %v", news, err)
	}
	bad := StatsRow{Num: num, Version: head.Version + 1, Row: []byte{1}}
	head.Version++
	if _, err := a.follow(head, []StatsRow{bad}); err == nil {
		t.Error("damaged statistics are taken")
	}
}

// TestStamp: the stamp of a collection changes if it may have changed.
func TestStamp(t *testing.T) {
	t.Parallel()
	kept := storage.Namespace{DB: "db", Coll: "kept"}
	watch := func(o *kv.Options) { o.Watched = func(ns storage.Namespace) bool { return ns == kept } }
	d := newDatabase()
	a, s := d.open(t, "a", watch)
	prepared(t, a)
	stamp := func(ns storage.Namespace) uint64 {
		t.Helper()
		n, err := a.Stamp(ns)
		must(t, err)
		return n
	}
	if n := stamp(ns); n != stamp(ns) {
		t.Error("the stamp of a collection changes by itself while the server is alone")
	}
	if stamp(kept) != 0 {
		t.Error("a collection that does not exist has a stamp")
	}
	b, _ := d.open(t, "b", watch)
	if n := stamp(ns); n == stamp(ns) {
		t.Error("the stamp of a collection that others may change stays")
	}
	must(t, b.Update(b.life, func(tx storage.Tx) error { _, err := tx.Create(kept, nil, nil); return err }))
	before := stamp(kept)
	if before == 0 || before != stamp(kept) {
		t.Error("the stamp of a collection that the server keeps changes by itself")
	}
	must(t, b.UpdateShared(b.life, func(tx storage.Tx) error {
		c, err := tx.Collection(kept)
		if err == nil {
			_, err = c.Insert(document(1, 1), 1)
		}
		return err
	}))
	if stamp(kept) == before {
		t.Error("a change of another server leaves the stamp")
	}
	s.set(func() { s.away = true })
	if n := stamp(kept); n == stamp(kept) {
		t.Error("the stamp stays while the server does not hear of the others")
	}
	if stamp(storage.Namespace{DB: "db", Coll: "none"}) == 0 {
		t.Error("a collection is certainly not there, says a server that does not hear of the others")
	}
	if a.CommitStamp() != 0 {
		t.Errorf("the commit stamp is %d", a.CommitStamp())
	}
}

// TestCommitStamps: stamps grow in the order of commits, on all servers.
func TestCommitStamps(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, _ := d.open(t, "a")
	b, s := d.open(t, "b")
	s.set(func() { s.deaf = true })
	prepared(t, a)
	last := uint64(0)
	for i := range 6 {
		e := []*Engine{a, b}[i%2]
		var given uint64
		must(t, e.UpdateShared(e.life, func(tx storage.Tx) (err error) {
			for range 2 {
				if given, err = tx.CommitStamp(uint64(i)); err != nil {
					return err
				}
			}
			return in(tx, insertDoc(int32(300+i), 1))
		}))
		if given <= last+1 || e.CommitStamp() != given {
			t.Errorf("commit %d has the stamp %d after %d, and %d is known", i, given, last, e.CommitStamp())
		}
		last = given
	}
	txn := a.begin(t)
	if _, err := txn.CommitStamp(1); !errors.Is(err, storage.ErrReadOnly) {
		t.Errorf("a snapshot transaction has a stamp: %v", err)
	}
}
