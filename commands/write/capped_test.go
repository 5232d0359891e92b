package write_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A capped collection deletes its oldest documents for a new one, by number and by bytes.
// The new one stays even if it is larger than the limit.
func TestCappedCollectionsMakeRoom(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "few", "capped": true, "size": 4096, "max": 2}`)
	h.OK(`{"insert": "few", "documents": [{"_id": 3}, {"_id": 2}, {"_id": 1}]}`)
	h.Finds(`{"find": "few"}`, `[{"_id":2},{"_id":1}]`)

	h.OK(`{"create": "small", "capped": true, "size": 4096}`)
	kilobyte := strings.Repeat("x", 1000)
	for i := range 6 {
		h.OK(fmt.Sprintf(`{"insert": "small", "documents": [{"_id": %d, "x": %q}]}`, i, kilobyte))
	}
	h.Finds(`{"find": "small", "projection": {"_id": 1}}`, `[{"_id":2},{"_id":3},{"_id":4},{"_id":5}]`)
	h.OK(`{"insert": "small", "documents": [{"_id": 6, "x": "` + strings.Repeat(kilobyte, 3) + `"}]}`)
	h.Finds(`{"find": "small", "projection": {"_id": 1}}`, `[{"_id":5},{"_id":6}]`)
	h.OK(`{"insert": "small", "documents": [{"_id": 7, "x": "` + strings.Repeat(kilobyte, 5) + `"}]}`)
	h.Finds(`{"find": "small", "projection": {"_id": 1}}`, `[{"_id":7}]`)
}

// The first entry creates system.profile as a capped collection. While fsync has locked
// the server, no entries are written.
func TestWriteProfile(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	c := &kernel.Call{Ctx: t.Context(), Svc: h.Svc, Now: h.Clock.NowMillis(), Request: kernel.Request{DB: "test"}}
	entry := func(n int, length int) value.Doc {
		return value.NewDoc("n", value.Int(int64(n)), "text", value.String(strings.Repeat("x", length)))
	}
	for n := range 3 {
		if err := write.WriteProfile(h.Svc, c, entry(n, observe.ProfileBytes/2-100)); err != nil {
			t.Fatal(err)
		}
	}
	const find = `{"find": "system.profile", "projection": {"n": 1}}`
	h.Finds(find, `[{"n":1},{"n":2}]`) // without _id; the oldest made room
	if info := harness.Docs(h.OK(`{"listCollections": 1}`))[0]; !info.Lookup("options").Doc().Lookup("capped").Bool() {
		t.Errorf("the profile is %s", info)
	}
	h.Admin(`{"fsync": 1, "lock": true}`)
	err := write.WriteProfile(h.Svc, c, entry(3, 1))
	h.Admin(`{"fsyncUnlock": 1}`)
	if err != nil {
		t.Error(err)
	}
	h.Finds(find, `[{"n":1},{"n":2}]`)
	// The collection may have been made otherwise by hand: not as a view.
	if err := h.Svc.Engine.Update(t.Context(), func(tx storage.Tx) error {
		return tx.Drop(storage.Namespace{DB: "test", Coll: "system.profile"})
	}); err != nil {
		t.Fatal(err)
	}
	if err := write.WriteProfile(h.Svc, c, entry(4, 1)); err != nil {
		t.Fatal(err)
	}
	h.Finds(find, `[{"n":4}]`)
}
