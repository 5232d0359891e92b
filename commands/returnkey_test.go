package commands

import (
	"testing"
)

// With returnKey there is no record to show the id of.
func TestReturnKeyWithoutRecordID(t *testing.T) {
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{_id: 1, a: 2}]}`)
	for command, want := range map[string]string{
		`{find: "c", sort: {_id: 1}, returnKey: true, showRecordId: true}`: `{ _id: 1 }`,
		`{find: "c", showRecordId: true}`:                                  `{ _id: 1, a: 2, $recordId: 1 }`,
	} {
		if got := docs(h.ok(command))[0].String(); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
