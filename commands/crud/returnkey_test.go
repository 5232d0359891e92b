package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// With returnKey, showRecordId has no effect.
func TestReturnKeyWithoutRecordID(t *testing.T) {
	harness.SkipHostile(t, "names ids of records")
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 2}]}`)
	for command, want := range map[string]string{
		`{find: "c", sort: {_id: 1}, returnKey: true, showRecordId: true}`: `{ _id: 1 }`,
		`{find: "c", showRecordId: true}`:                                  `{ _id: 1, a: 2, $recordId: 1 }`,
	} {
		if got := harness.Docs(h.OK(command))[0].String(); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
