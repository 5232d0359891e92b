package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// openStream opens a change stream on test.c and returns the getMore for it.
func openStream(h *harness.Harness) string {
	reply := h.OK(`{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
	return fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "maxTimeMS": 1}`,
		reply.Lookup("cursor").Doc().Lookup("id").Int64())
}

// TestStreamOverGaps: ids of entries that were never used are no lost entries.
func TestStreamOverGaps(t *testing.T) {
	h := harness.NewHostile(t, storagetest.Hostility{Seed: 3, Gaps: true})
	more := openStream(h)
	for i := range 20 {
		h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}]}`, i))
		got := h.OK(more).Lookup("cursor").Doc().Lookup("nextBatch").Doc()
		if got.Len() != 1 || got.Index(0).Doc().Lookup("documentKey").Doc().Lookup("_id").Int32() != int32(i) {
			t.Fatalf("after insert %d the stream has %s", i, got)
		}
	}
}

// TestStreamBehindTrimmedLog: a stream whose next entries were removed from the
// log ends with ChangeStreamHistoryLost; one that has read them goes on. So it is
// with and without gaps between ids.
func TestStreamBehindTrimmedLog(t *testing.T) {
	for _, gaps := range []bool{false, true} {
		t.Run(fmt.Sprintf("gaps %v", gaps), func(t *testing.T) {
			h := harness.NewHostile(t, storagetest.Hostility{Seed: 3, Gaps: gaps})
			behind, along := openStream(h), openStream(h)
			h.Svc.Oplog.Limit.Store(16 << 10)
			for i := range 100 {
				h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d, "t": "%s"}]}`, i, strings.Repeat("x", 1000)))
				h.OK(along)
			}
			if err := h.Svc.Oplog.Trim(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.OK(`{"insert": "c", "documents": [{"_id": "last"}]}`)
			if n := h.OK(along).Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len(); n != 1 {
				t.Errorf("the stream that was up to date has %d events", n)
			}
			h.Fails(286, behind)
		})
	}
}
