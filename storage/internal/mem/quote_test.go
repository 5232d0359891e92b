package mem

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestQuotes: a write set says which documents a record has that are in it anyway, also if the
// record comes before them; not those that have changed since, that are not there, or that
// are small.
func TestQuotes(t *testing.T) {
	t.Parallel()
	const docs = 40
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	log, data := storage.Namespace{DB: "db", Coll: "log"}, storage.Namespace{DB: "db", Coll: "data"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(log, nil, nil)
		must(t, err)
		_, err = tx.Create(data, nil, nil)
		return err
	}))
	if s.quotes != nil {
		t.Errorf("quotes %v of nothing", s.quotes)
	}
	var entry value.Doc
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		l := storagetest.Got(tx.Collection(log))
		storagetest.Got(l.Insert(value.NewDoc("before", value.Int32(1)), 1))
		c := storagetest.Got(tx.Collection(data))
		b := value.NewBuilder()
		var quotes []storage.Quote
		b.StartArray("ops")
		for i := range docs {
			d := value.NewDoc("_id", value.Int(int64(i)), "s", value.String(strings.Repeat("quoted ", 40)))
			if i == 7 {
				d = value.NewDoc("a", value.Int32(1)) // small
			}
			id := storagetest.Got(c.Insert(d, 5))
			quotes = append(quotes, storage.Quote{At: b.Document("", d).Len() - len(d), Namespace: data, ID: id})
		}
		quotes = append(quotes, storage.Quote{At: -20, Namespace: data, ID: 1}, storage.Quote{At: 3, Namespace: data, ID: 1}, storage.Quote{At: 1 << 20, Namespace: data, ID: 1},
			storage.Quote{Namespace: data, ID: 99}, storage.Quote{Namespace: storage.Namespace{DB: "db", Coll: "none"}, ID: 1})
		entry = b.End().Doc()
		storagetest.Got(storage.InsertQuoting(l, entry, 6, quotes))
		return storagetest.Done(c.Update(2, value.NewDoc("_id", value.Int(1), "s", value.String(strings.Repeat("altered ", 40))), 7))
	}))
	var of []storage.RecordID
	end := 0
	for _, q := range s.quotes {
		by, quoted := kv.ParseRow(s.last[q.By].Key), kv.ParseRow(s.last[q.Of].Key)
		doc := s.last[q.Of].Value[8:]
		if by.ID != 2 || string(s.last[q.By].Value[8:]) != string(entry) || string(s.last[q.By].Value[q.At:q.At+len(doc)]) != string(doc) || q.At < end {
			t.Errorf("%+v is not true, or overlaps", q)
		}
		end = q.At + len(doc)
		of = append(of, quoted.ID)
	}
	var want []storage.RecordID
	for id := range storage.RecordID(docs) {
		if id != 1 && id != 7 {
			want = append(want, id+1)
		}
	}
	if !slices.Equal(of, want) {
		t.Errorf("quoted %v, want %v", of, want)
	}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := storagetest.Got(tx.Collection(data)).Insert(docOf(1, 1), 1)
		return err
	}))
	if len(s.quotes) != 0 {
		t.Errorf("quotes %v of an earlier commit", s.quotes)
	}
	txn := storagetest.Got(e.Begin(ctx))
	_, err := storage.InsertQuoting(storagetest.Got(txn.Collection(log)), entry, 6, []storage.Quote{{At: 30, Namespace: data, ID: 1}})
	must(t, err)
	must(t, txn.Commit(ctx))
	if len(s.quotes) != 0 {
		t.Errorf("quotes %v of a snapshot transaction", s.quotes)
	}
}
