package bunt

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestQuotingOps: operations with quotes are read as they were written, whatever they
// quote, and not if the group is cut short.
func TestQuotingOps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(genOp, 1, 8).Draw(t, "ops")
		o := op{kind: opRecord, num: 9, id: storage.RecordID(rapid.Int64Range(1, math.MaxInt64).Draw(t, "id")), value: "12345678"}
		for range rapid.IntRange(1, 5).Draw(t, "quotes") {
			o.value += rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a common end", "another common end"})).Draw(t, "own")
			if of := rapid.IntRange(0, len(ops)-1).Draw(t, "of"); len(ops[of].value) > 8 {
				o.quotes = append(o.quotes, quote{at: len(o.value), of: of})
				o.value += ops[of].value[8:]
			}
		}
		o.value += rapid.String().Draw(t, "end")
		var b []byte
		for i := range ops {
			b = ops[i].encode(b)
		}
		b = o.encodeQuoting(b, ops)
		ops = append(ops, o)
		room := []byte("earlier")
		got, err := decodeOps(nil, b, uint32(len(ops)), &room)
		if err != nil || !slices.EqualFunc(got, ops, sameOp) {
			t.Fatalf("got %v, %v; want %v", got, err, ops)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := decodeOps(nil, b[:cut], uint32(len(ops)), new([]byte)); err == nil {
			t.Fatal("accepted a group that is cut short")
		}
	})
}

// quotingLog is a log with documents of a collection and a record that quotes them. It
// returns the directory, closed, and the quoting document.
func quotingLog(t *testing.T, docs int) (dir string, entry value.Doc) {
	t.Helper()
	dir = t.TempDir()
	e := openAt(t, dir)
	data, log := storage.Namespace{DB: "db", Coll: "data"}, storage.Namespace{DB: "db", Coll: "log"}
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		_, err := tx.Create(data, nil, nil)
		must(t, err)
		_, err = tx.Create(log, nil, nil)
		return err
	}))
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		// The log is opened first, as by another update of the same group.
		l, err := tx.Collection(log)
		must(t, err)
		_, err = l.Insert(value.NewDoc("before", value.Int32(1)), 1)
		must(t, err)
		c, err := tx.Collection(data)
		must(t, err)
		b := value.NewBuilder()
		var quotes []storage.Quote
		b.StartArray("ops")
		for i := range docs {
			d := value.NewDoc("_id", value.Int(int64(i)), "s", value.String(strings.Repeat("quoted ", 40)))
			id, err := c.Insert(d, 5)
			must(t, err)
			quotes = append(quotes, storage.Quote{At: b.Document("", d).Len() - len(d), Namespace: data, ID: id})
		}
		quotes = append(quotes, storage.Quote{At: 3, Namespace: data, ID: 1}, storage.Quote{At: 1 << 20, Namespace: data, ID: 1}, storage.Quote{Namespace: data, ID: 99})
		entry = b.End().Doc()
		if _, err := storage.InsertQuoting(l, entry, 6, quotes); err != nil {
			return err
		}
		// What changes after it was quoted is no longer the same.
		if docs > 1 {
			_, err = c.Update(2, value.NewDoc("_id", value.Int(1), "s", value.String(strings.Repeat("altered ", 40))), 7)
		}
		return err
	}))
	must(t, e.Close())
	return dir, entry
}

// TestQuotesAreStoredOnce: the log has the quoted documents once, and everything is read
// as it was: on open, by a check, by a repair and after a compaction.
func TestQuotesAreStoredOnce(t *testing.T) {
	const docs = 20
	dir, entry := quotingLog(t, docs)
	log := readLog(t, dir)
	if n := strings.Count(string(log), strings.Repeat("quoted ", 40)); n != docs {
		t.Errorf("%d documents in the log, want %d: one of the %d was changed and is only in the entry", n, docs, docs)
	}
	report, err := Check(dir, storagetest.Indexer{})
	if err != nil || len(report.Problems) > 0 {
		t.Fatal(report, err)
	}
	e := openAt(t, dir)
	before := storagetest.Dump(e)
	must(t, e.View(t.Context(), func(tx storage.Tx) error {
		c, err := tx.Collection(storage.Namespace{DB: "db", Coll: "log"})
		must(t, err)
		r, ok, err := c.Get(2)
		if !ok || string(r.Doc) != string(entry) {
			t.Error("the entry has changed")
		}
		return err
	}))
	must(t, e.Compact(t.Context()))
	if got := storagetest.Dump(e); got != before {
		t.Error("changed by a compaction")
	}
	must(t, e.Close())
	e = openAt(t, dir)
	if got := storagetest.Dump(e); got != before {
		t.Error("changed by a compaction")
	}
	must(t, e.Close())

	damaged := append(log[:len(log):len(log)], "\x00garbage"...)
	salvaged := t.TempDir()
	must(t, os.WriteFile(filepath.Join(salvaged, logName), damaged, 0o600))
	e, err = Open(Options{Path: salvaged, Indexer: storagetest.Indexer{}, Repair: true})
	must(t, err)
	defer e.Close()
	if got := storagetest.Dump(e); got != before {
		t.Error("changed by a repair")
	}
}
