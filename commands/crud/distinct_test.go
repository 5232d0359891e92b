package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// distinct returns its values in ascending order, whatever the order of the documents, as
// mongod does; the tests of Beanie depend on it.
func TestDistinctIsSorted(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, s: "uno", m: [3, "a"]}, {_id: 2, s: "dos", m: 2.5}, {_id: 3, s: "cuatro", m: null}, {_id: 4, s: "Uno", m: [{x: 1}, true]}]}`)
	h.OK(`{create: "view", viewOn: "c", pipeline: []}`)
	for command, want := range map[string]string{
		`{distinct: "c", key: "s"}`:                                         `{v: ["Uno", "cuatro", "dos", "uno"]}`,
		`{distinct: "c", key: "s", query: {_id: {$lt: 3}}}`:                 `{v: ["dos", "uno"]}`,
		`{distinct: "c", key: "s", collation: {locale: "en", strength: 2}}`: `{v: ["cuatro", "dos", "uno"]}`,
		`{distinct: "c", key: "m"}`:                                         `{v: [null, 2.5, 3, "a", {x: 1}, true]}`,
		`{distinct: "view", key: "s"}`:                                      `{v: ["Uno", "cuatro", "dos", "uno"]}`,
	} {
		if got, want := h.OK(command).Lookup("values"), harness.Relaxed(want).Lookup("v"); got.String() != want.String() {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
