package kernel_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Expired documents are stored until a pass removes them, but no read returns them from
// the instant they expire (semantics.md §7.4).
func TestExpiredDocumentsAreNotMet(t *testing.T) {
	harness.SkipHostile(t, "it checks what each read of one View returns")
	t.Parallel()
	h := harness.New(t)
	h.Admin(`{setParameter: 1, ttlMonitorEnabled: false}`)
	h.OK(`{create: "c", documentTtl: {default: -1}}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2, ttl: 10}, {_id: 3, a: 3, ttl: 100}]}`)
	look := func(fn func(s kernel.Visible)) {
		t.Helper()
		c := &kernel.Call{Svc: h.Svc, Ctx: t.Context(), Now: h.Clock.NowMillis()}
		if err := c.View(func(tx storage.Tx) error {
			coll, err := tx.Collection(storage.Namespace{DB: "test", Coll: "c"})
			if err == nil {
				fn(c.Visible(coll))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	ids := map[int32]storage.RecordID{}
	for _, step := range []struct {
		seconds int64
		want    string
		all     bool
	}{{0, "1 2 3", true}, {9, "1 2 3", true}, {1, "1 3", false}, {90, "1", false}} {
		h.Advance(step.seconds)
		look(func(s kernel.Visible) {
			var scanned, entries, byID, got []string
			if err := s.Scan(storage.Range{}, func(r storage.Record) bool {
				ids[r.Doc.Lookup("_id").Int32()] = r.ID
				scanned = append(scanned, r.Doc.Lookup("_id").String())
				return true
			}); err != nil {
				t.Error(err)
			}
			if err := s.Entries("a_1", storage.KeyRange{}, func(_ []byte, r storage.Record) bool {
				entries = append(entries, r.Doc.Lookup("_id").String())
				return true
			}); err != nil {
				t.Error(err)
			}
			for i := range int32(4) {
				if r, ok, err := s.ByID(value.Int32(i)); err != nil {
					t.Error(err)
				} else if ok {
					byID = append(byID, r.Doc.Lookup("_id").String())
				}
				if r, ok, err := s.Get(ids[i]); err != nil {
					t.Error(err)
				} else if ok {
					got = append(got, r.Doc.Lookup("_id").String())
				}
			}
			for way, list := range map[string][]string{"scanned": scanned, "in the index": entries, "by _id": byID, "by the record": got} {
				if strings.Join(list, " ") != step.want {
					t.Errorf("after %d seconds %s: %v, want %s", step.seconds, way, list, step.want)
				}
			}
			if n, err := s.Count(); err != nil || int(n) != len(strings.Fields(step.want)) || s.AllVisible() != step.all {
				t.Errorf("after %d seconds %d are counted, all visible: %t, %v", step.seconds, n, s.AllVisible(), err)
			}
			seen := 0
			if err := s.Scan(storage.Range{}, func(storage.Record) bool { seen++; return false }); err != nil || seen != 1 {
				t.Errorf("a scan that ends at once met %d, %v", seen, err)
			}
			if _, _, err := s.Find("none", nil); err == nil {
				t.Error("an index that is not there is found")
			}
		})
	}
}
