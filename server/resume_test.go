package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestResumeAfterRestart: a follower that was disconnected during a restart, and during
// the writes of several megabytes after it, continues where it was.
func TestResumeAfterRestart(t *testing.T) {
	cfg := Config{DBPath: t.TempDir()}
	s := serveConfig(t, cfg)
	c := dial(t, s)
	insert := func(id int, text string) {
		c.ok(t, value.MustJSON(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d, "s": %q}], "$db": "test"}`, id, text)))
	}
	watch := func(options string) value.Doc {
		return c.ok(t, value.MustJSON(`{"aggregate": "c", "pipeline": [{"$changeStream": `+options+`}], "cursor": {"batchSize": 1}, "$db": "test"}`)).Lookup("cursor").Doc()
	}
	insert(0, "")
	token := watch("{}").Lookup("postBatchResumeToken").Doc().JSON()
	insert(1, "")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = serveConfig(t, cfg)
	c = dial(t, s)
	megabyte := strings.Repeat("x", 1<<20)
	for i := range 9 {
		insert(i+2, megabyte)
	}
	first := watch(`{"resumeAfter": ` + token + `}`).Lookup("firstBatch").Doc().Index(0).Doc()
	if id := first.Lookup("documentKey").Doc().Lookup("_id").Int32(); id != 1 {
		t.Errorf("the first event is %s", first)
	}
}
