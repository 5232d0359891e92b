package bunt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// damaged runs commits on a new directory, flips a bit in the one that is to be lost, and
// returns the log.
func damaged(t *testing.T, before, lost, after func(*Engine)) []byte {
	t.Helper()
	dir := t.TempDir()
	e := openAt(t, dir)
	e.maintenance.Lock()
	before(e)
	from := len(readLog(t, dir))
	lost(e)
	to := len(readLog(t, dir))
	after(e)
	e.maintenance.Unlock()
	must(t, e.Close())
	log := readLog(t, dir)
	group := log[from+len(groupCommand) : to]
	group[bytes.IndexByte(group, '\n')+1+20] ^= 1 // in the checksum
	return log
}

// TestRepairSaysWhatIsLost: the report counts losses by collection and by kind.
func TestRepairSaysWhatIsLost(t *testing.T) {
	nothing := func(*Engine) {}
	some := func(e *Engine) {
		create(t, e, storagetest.UniqueSpec("_id"))
		for i := range int32(3) {
			must(t, put(e, i))
		}
	}
	write := func(fn func(storage.Collection) error) func(*Engine) {
		return func(e *Engine) { must(t, inColl(e, ns, fn)) }
	}
	change := func(fn func(storage.Tx) error) func(*Engine) {
		return func(e *Engine) { must(t, e.Update(ctx, fn)) }
	}
	for name, tt := range map[string]struct {
		before, lost, after func(*Engine)
		want                string
	}{
		"insert": {some, write(func(c storage.Collection) error {
			_, err := c.Insert(value.NewDoc("_id", value.Int32(7)), 1)
			return err
		}), nothing, "1 documents are missing"},
		"update": {some, write(func(c storage.Collection) error {
			return storagetest.Done(c.Update(1, value.NewDoc("_id", value.Int32(0), "a", value.Int32(1)), 1))
		}), nothing, "1 documents have an earlier content"},
		"update, and again": {some, write(func(c storage.Collection) error {
			return storagetest.Done(c.Update(1, value.NewDoc("_id", value.Int32(0), "a", value.Int32(1)), 1))
		}), write(func(c storage.Collection) error {
			return storagetest.Done(c.Update(1, value.NewDoc("_id", value.Int32(0), "a", value.Int32(2)), 1))
		}), ""},
		"delete":        {some, write(func(c storage.Collection) error { return storagetest.Done(c.Delete(2)) }), nothing, "1 deleted documents are back"},
		"index":         {some, change(func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("k")) }), nothing, "lost index k: "},
		"index dropped": {some, change(func(tx storage.Tx) error { return tx.DropIndex(ns, "_id") }), nothing, "index _id was dropped, and is back"},
		"options": {some, change(func(tx storage.Tx) error {
			return tx.SetOptions(ns, value.NewDoc("validator", value.Document(value.NewDoc("a", value.Int32(1)))))
		}), nothing, "lost option validator: { a: 1 }"},
		"drop": {some, change(func(tx storage.Tx) error { return tx.Drop(ns) }), nothing, "it was dropped, and is back"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := openRepaired(t, damaged(t, tt.before, tt.lost, tt.after))
			defer e.Close()
			text := strings.Join(e.Repaired().Details(), "\n")
			if tt.want == "" && text != "" || !strings.Contains(text, tt.want) || tt.want != "" && !strings.HasPrefix(text, ns.String()+": ") {
				t.Errorf("%+v\n%s", e.Repaired(), text)
			}
		})
	}
}

// TestRepairAdoptsOrphans: documents whose collection is lost are kept as one
// of local.orphan, with the index on _id, and the report counts them. The
// collection is there after a restart, too.
func TestRepairAdoptsOrphans(t *testing.T) {
	log := damaged(t, func(*Engine) {}, func(e *Engine) { create(t, e, storagetest.UniqueSpec("_id")) }, func(e *Engine) {
		for i := range int32(3) {
			must(t, put(e, i))
		}
	})
	e, dir := openRepairedWith(t, log, storagetest.UniqueSpec("_id"))
	loss := e.Repaired().Losses
	if len(loss) != 1 || loss[0].Adopted != 3 || loss[0].Namespace.String() != "local.orphan.1" {
		t.Errorf("%+v", loss)
	}
	must(t, e.Close())
	again := openAt(t, dir)
	must(t, inColl(again, loss[0].Namespace, func(c storage.Collection) error {
		stats, err := c.IndexStats("_id")
		if storagetest.Got(c.Count()) != 3 || stats.Entries != 3 {
			t.Errorf("%d documents, %d entries", storagetest.Got(c.Count()), stats.Entries)
		}
		return err
	}))
}

// TestCompactedLogKeepsNames flips a bit in each group of a compacted log in
// turn: the collection stays, with its indexes, and loses what is in the group.
func TestCompactedLogKeepsNames(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	const n = 5000
	fill(t, e, n)
	must(t, e.Compact(ctx))
	must(t, e.Close())
	log := readLog(t, dir)
	groups := 0
	for at := bytes.Index(log[200:], groupCommand) + 200; at >= 200; groups++ {
		next := bytes.Index(log[at+1:], groupCommand)
		if next < 0 {
			break // the closing marker
		}
		bad := bytes.Clone(log)
		bad[at+100] ^= 1
		e, _ := openRepaired(t, bad)
		must(t, inColl(e, ns, func(c storage.Collection) error {
			stats, err := c.IndexStats("_id")
			if storagetest.Got(c.Count()) < n-compactStep || stats.Entries != storagetest.Got(c.Count()) {
				t.Errorf("group %d: %d documents, %d entries", groups, storagetest.Got(c.Count()), stats.Entries)
			}
			return err
		}))
		must(t, e.Close())
		at += 1 + next
	}
	if groups < n/compactStep {
		t.Errorf("%d groups", groups)
	}
}

// TestNamesAreRepeated: also without a compaction a damaged commit does not
// cost a collection that has grown since.
func TestNamesAreRepeated(t *testing.T) {
	e, _ := openRepaired(t, damaged(t, func(*Engine) {}, func(e *Engine) { create(t, e, storagetest.UniqueSpec("_id")) }, func(e *Engine) {
		for i := range int32(1000) {
			must(t, put(e, i))
		}
	}))
	defer e.Close()
	must(t, inColl(e, ns, func(c storage.Collection) error {
		if storagetest.Got(c.Count()) != 1000 || len(c.Info().Indexes) != 1 {
			t.Errorf("%d documents", storagetest.Got(c.Count()))
		}
		return nil
	}))
}
