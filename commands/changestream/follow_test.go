package changestream_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// follower rebuilds a collection from its change stream.
type follower struct {
	docs  map[string]string // _id -> document
	token string
}

func (f *follower) apply(t *testing.T, d value.Doc) {
	id := d.Lookup("documentKey").Doc().Lookup("_id").JSON()
	switch kind := d.Lookup("operationType").Str(); kind {
	case "insert", "replace":
		f.docs[id] = d.Lookup("fullDocument").Doc().JSON()
	case "update":
		if after := d.Lookup("fullDocument"); after.Kind() == value.KindDocument {
			f.docs[id] = after.Doc().JSON()
		} else {
			t.Fatalf("no post-image in %s", d)
		}
	case "delete":
		delete(f.docs, id)
	default:
		t.Fatalf("unexpected %s", kind)
	}
	f.token = d.Lookup("_id").Doc().JSON()
}

// workload is a random write as extended JSON.
func workload(r *rand.Rand) string {
	id, n := r.IntN(30), r.IntN(100)
	q := fmt.Sprintf(`{"_id": %d}`, id)
	update := func(u string) string {
		return fmt.Sprintf(`{"update": "c", "updates": [{"q": %s, "u": %s, "upsert": %v}]}`, q, u, r.IntN(2) == 0)
	}
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf(`{"insert": "c", "ordered": false, "documents": [{"_id": %d, "n": %d}, {"_id": %d, "l": [1, {"a": 1}]}]}`, id, n, r.IntN(30))
	case 1:
		return update(fmt.Sprintf(`{"$set": {"n": %d, "s.a": %d, "s.b": "text"}}`, n, n))
	case 2:
		return update(`{"$push": {"l": {"a": 7}}, "$inc": {"i": 1}}`)
	case 3:
		return update(`{"$pop": {"l": -1}, "$unset": {"n": 1}}`)
	case 4:
		return update(`{"$rename": {"s.a": "s.c"}, "$set": {"x": [3, 2, 1]}}`)
	case 5:
		return update(fmt.Sprintf(`{"replaced": %d}`, n))
	case 6:
		return update(fmt.Sprintf(`[{"$set": {"x": [1, %d], "s": {"b": "text", "z": 1}}}, {"$unset": "i"}]`, n))
	case 7:
		return fmt.Sprintf(`{"delete": "c", "deletes": [{"q": {"_id": {"$gte": %d, "$lt": %d}}, "limit": 0}]}`, id, id+3)
	}
	return fmt.Sprintf(`{"findAndModify": "c", "query": %s, "update": {"$set": {"l": [%d, 2, 3], "d.e.f": 1}}}`, q, n)
}

// TestFollower: through a random workload, with transactions and restarts,
// a follower that resumes after each ends with the same documents.
func TestFollower(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	f := &follower{docs: map[string]string{}}
	for life := range 4 {
		manual := clock.NewManual(harness.TestStart)
		engine, err := bunt.Open(bunt.Options{Path: dir, Clock: manual, Indexer: catalog.NewIndexer()})
		if err != nil {
			t.Fatal(err)
		}
		svc, err := harness.NewService(kernel.Options{Engine: engine, Clock: manual, Log: zerolog.Nop(), TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		h := &harness.Harness{TB: t, Svc: svc, Clock: manual, Conn: svc.NewConn("", "")}
		if life == 0 {
			h.OK(`{"create": "c", "changeStreamPreAndPostImages": {"enabled": true}}`)
		}
		options := `{"fullDocument": "required"}`
		if f.token != "" {
			options = `{"fullDocument": "required", "resumeAfter": ` + f.token + `}`
		}
		s := h.Watch("c", options, "")
		for i := range 150 {
			if r.IntN(5) == 0 {
				n := life*1000 + i
				h.Run(harness.InTxnArgs(workload(r), n, true))
				h.Run(harness.InTxnArgs(workload(r), n, false))
				h.EndTxn([]string{"commitTransaction", "abortTransaction"}[r.IntN(2)], n)
			} else {
				h.Run(workload(r))
			}
			if i < 120 && r.IntN(10) == 0 {
				for _, d := range s.Events() {
					f.apply(t, d)
				}
			}
		}
		if life == 3 {
			for _, d := range s.Events() {
				f.apply(t, d)
			}
			f.compare(t, h)
		}
		housekeeping.Close(svc)
		_ = engine.Close()
	}
}

func (f *follower) compare(t *testing.T, h *harness.Harness) {
	t.Helper()
	n := 0
	for _, d := range harness.Docs(h.OK(`{"find": "c", "batchSize": 1000}`)) {
		n++
		if got := f.docs[d.Lookup("_id").JSON()]; got != d.JSON() {
			t.Errorf("the follower has %s, the collection %s", got, d.JSON())
		}
	}
	if n != len(f.docs) || n == 0 {
		t.Errorf("the follower has %d documents, the collection %d", len(f.docs), n)
	}
}
