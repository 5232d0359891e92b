package exec_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The entries of an index prove the match of their documents only while the index has no
// arrays that the plan did not know: an array has entries that lie in the range although
// the document does not match.
func TestIndexBecomesMultikeyWhileRead(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, k: 1}, {_id: 2, k: 2}, {_id: 3, k: 3}, {_id: 4, k: 5}, {_id: 5, k: 7}, {_id: 6, k: 8}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k_1"}]}`)
	first := h.OK(`{find: "c", filter: {k: {$ne: 5}}, hint: "k_1", batchSize: 2}`)
	cursor := first.Lookup("cursor").Doc()
	if got := cursor.Lookup("firstBatch").String(); got != `[ { _id: 1, k: 1 }, { _id: 2, k: 2 } ]` {
		t.Fatal(got)
	}
	h.OK(`{update: "c", updates: [{q: {_id: 5}, u: {$set: {k: [5, 7]}}}]}`)
	next := h.OK(fmt.Sprintf(`{getMore: {"$numberLong": "%d"}, collection: "c"}`, cursor.Lookup("id").Int64()))
	if got := next.Lookup("cursor").Doc().Lookup("nextBatch").String(); got != `[ { _id: 3, k: 3 }, { _id: 6, k: 8 } ]` {
		t.Error(got)
	}
}

// A find returns the same documents whether or not an index proves the match.
func TestIndexProvesNoMore(t *testing.T) {
	t.Parallel()
	values := []string{"1", "2.5", "3", `"a"`, `"b"`, "null", "true", "[]", "[1, 3]", `["a", null]`, "[[1], 2]", "{x: 1}", "{x: [1, 2]}", `{"$date": "2026-01-01T00:00:00Z"}`, `{"$minKey": 1}`, `{"$numberDouble": "NaN"}`, `{"$undefined": true}`, `{"$regularExpression": {"pattern": "a", "options": ""}}`}
	conditions := []string{"%s", "{$gt: %s}", "{$gte: %s}", "{$lt: %s}", "{$lte: %s}", "{$ne: %s}", "{$in: [%s, %s]}", "{$nin: [%s, %s]}",
		"{$not: {$gt: %s}}", "{$gte: %s, $lt: %s}", "{$exists: true}", "{$exists: false}", "{$elemMatch: {$gte: %s}}", `{$type: "string"}`, "{$all: [%s, %s]}", "{$size: 2}", "{$mod: [2, 1]}"}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return values[r.IntN(len(values))] }
	for _, arrays := range []bool{false, true} {
		h := harness.New(t)
		for i := range 60 {
			fields := []string{fmt.Sprintf("_id: %d", i)}
			for _, f := range []string{"a", "b"} {
				if v := pick(); r.IntN(8) > 0 && (arrays && f == "a" || !strings.HasPrefix(v, "[")) {
					fields = append(fields, f+": "+v)
				}
			}
			h.OK(`{insert: "c", documents: [{` + strings.Join(fields, ", ") + `}]}`)
		}
		h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {a: -1, b: 1}, name: "ab"}, {key: {"a.x": 1}, name: "ax"}, {key: {b: 1}, name: "sparse", sparse: true}]}`)
		for range 300 {
			condition := func() string {
				c := conditions[r.IntN(len(conditions))]
				for strings.Contains(c, "%s") {
					c = strings.Replace(c, "%s", pick(), 1)
				}
				return c
			}
			filter := "a: " + condition()
			switch r.IntN(4) {
			case 0:
				filter += ", b: " + condition()
			case 1:
				filter = `"a.x": ` + condition()
			}
			command := func(hint string) string {
				return fmt.Sprintf(`{find: "c", filter: {%s}, sort: {_id: 1}, projection: {_id: 1}, hint: %s}`, filter, hint)
			}
			want := h.Run(command("{$natural: 1}"))
			if !want.Lookup("ok").Truthy() {
				continue
			}
			for _, index := range []string{"a", "ab", "ax"} {
				if got := h.OK(command(`"` + index + `"`)); got.Lookup("cursor").String() != want.Lookup("cursor").String() {
					t.Errorf("arrays %v, %s by %s: %v, want %v", arrays, filter, index, got.Lookup("cursor"), want.Lookup("cursor"))
				}
			}
		}
	}
}
