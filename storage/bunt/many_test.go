package bunt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// ReadMany reads records together, large ones a few at a time, and passes them in the
// order of the ids, each once and without those that do not exist. Its function may
// remove them.
func TestReadMany(t *testing.T) {
	for _, c := range []struct {
		bytes, reads int
	}{{10, 1}, {9 << 20, 2}} {
		counter := storagetest.NewCounter(openAt(t, Memory))
		text := value.String(strings.Repeat("x", c.bytes))
		must(t, counter.Update(ctx, func(tx storage.Tx) error {
			coll, err := tx.Create(ns, nil, nil)
			for i := 0; i < 4 && err == nil; i++ {
				_, err = coll.Insert(value.NewDoc("_id", value.Int32(int32(i)), "text", text), 1)
			}
			return err
		}))
		counter.Take()
		var got []storage.RecordID
		must(t, counter.Update(ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			return storage.ReadMany(coll, []storage.RecordID{3, 9, 1, 3, 4}, func(r storage.Record) error {
				got = append(got, r.ID)
				_, err := coll.Delete(r.ID)
				return err
			})
		}))
		if fmt.Sprint(got) != "[3 1 4]" {
			t.Errorf("read %v", got)
		}
		if n := counter.Take()["W.GetMany"]; n != c.reads {
			t.Errorf("documents of %d bytes: %d reads, want %d", c.bytes, n, c.reads)
		}
	}
}
