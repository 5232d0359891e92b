package commands

import (
	"testing"
)

// The values come in ascending order, whatever the order of the documents, as
// mongod's come out of a set: the tests of Beanie count on it.
func TestDistinctIsSorted(t *testing.T) {
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{_id: 1, s: "uno", m: [3, "a"]}, {_id: 2, s: "dos", m: 2.5}, {_id: 3, s: "cuatro", m: null}, {_id: 4, s: "Uno", m: [{x: 1}, true]}]}`)
	h.ok(`{create: "view", viewOn: "c", pipeline: []}`)
	for command, want := range map[string]string{
		`{distinct: "c", key: "s"}`:                                         `{v: ["Uno", "cuatro", "dos", "uno"]}`,
		`{distinct: "c", key: "s", query: {_id: {$lt: 3}}}`:                 `{v: ["dos", "uno"]}`,
		`{distinct: "c", key: "s", collation: {locale: "en", strength: 2}}`: `{v: ["cuatro", "dos", "uno"]}`,
		`{distinct: "c", key: "m"}`:                                         `{v: [null, 2.5, 3, "a", {x: 1}, true]}`,
		`{distinct: "view", key: "s"}`:                                      `{v: ["Uno", "cuatro", "dos", "uno"]}`,
	} {
		if got, want := h.ok(command).Lookup("values"), relaxed(want).Lookup("v"); got.String() != want.String() {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
