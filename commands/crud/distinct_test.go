package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
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

// Long values are as distinct as short ones.
func TestDistinctOfLongValues(t *testing.T) {
	h := harness.New(t)
	long := strings.Repeat("x", 300)
	h.OK(fmt.Sprintf(`{insert: "c", documents: [{s: "%[1]sb"}, {s: "%[1]sa"}, {s: ["%[1]sb", "%[1]sB", "x"]}, {s: "x"}, {s: {y: "%[1]s"}}, {s: {y: "%[1]s"}}, {s: "%[2]s"}]}`, long, strings.Repeat(long, 400)))
	for options, want := range map[string]int{``: 6, `, collation: {locale: "en", strength: 2}`: 5} {
		if got := h.OK(`{distinct: "c", key: "s"` + options + `}`).Lookup("values").Doc(); got.Len() != want {
			t.Errorf("%s: %d values, want %d: %.2000s", options, got.Len(), want, got)
		}
	}
}

// As in mongod, distinct reads no further once its values are larger than a document may
// be ("distinct too big, 16mb cap").
func TestDistinctTooBig(t *testing.T) {
	h := harness.New(t)
	text := strings.Repeat("x", 2_000_000)
	for i := range 20 {
		d := value.NewDoc("_id", value.Int32(int32(i)), "s", value.String(fmt.Sprint(i, text)))
		h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d))))
	}
	h.OK(`{create: "view", viewOn: "c", pipeline: []}`)
	examined := func() int64 {
		return h.Admin(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("queryExecutor").Doc().Lookup("scannedObjects").SafeInt64()
	}
	for _, coll := range []string{"c", "view"} {
		before := examined()
		if message := h.Fails(17217, `{distinct: "`+coll+`", key: "s"}`); message != "distinct too big, 16mb cap" {
			t.Error(message)
		}
		if n := examined() - before; n < 8 || n > 12 {
			t.Errorf("%s: %d documents were examined, of which 9 are too large for a reply", coll, n)
		}
	}
	if got := h.OK(`{distinct: "c", key: "s", query: {_id: {$lt: 8}}}`).Lookup("values").Doc(); got.Len() != 8 {
		t.Errorf("%d values", got.Len())
	}
}
