package diagnostics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// serverStatus().metrics.queryExecutor has the index entries, the documents and the scans of
// collections since the start (manual, serverStatus).
func TestQueryExecutorCounts(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	var docs []string
	for i := range 300 {
		docs = append(docs, fmt.Sprintf(`{_id: %d, a: %d}`, i, i%10))
	}
	h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	read := func() (n [3]int64) {
		q := h.Admin(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("queryExecutor").Doc()
		return [3]int64{q.Lookup("scanned").SafeInt64(), q.Lookup("scannedObjects").SafeInt64(), q.Lookup("collectionScans").Doc().Lookup("total").SafeInt64()}
	}
	for _, tt := range []struct {
		command string
		want    [3]int64 // index entries, documents, scans
	}{
		{`{find: "c", filter: {b: 1}}`, [3]int64{0, 300, 1}},
		{`{find: "c", filter: {a: 3}}`, [3]int64{30, 30, 0}},
		{`{find: "c", filter: {_id: 7}}`, [3]int64{1, 1, 0}},
		{`{find: "c", filter: {_id: 7000}}`, [3]int64{0, 0, 0}},
		{`{count: "c", query: {b: 1}}`, [3]int64{0, 300, 1}},
		{`{aggregate: "c", pipeline: [{$group: {_id: "$a", n: {$sum: 1}}}, {$match: {_id: 99}}], cursor: {}}`, [3]int64{0, 300, 1}},
		{`{update: "c", updates: [{q: {b: 1}, u: {$set: {c: 1}}, multi: true}]}`, [3]int64{0, 300, 1}},
		{`{update: "c", updates: [{q: {_id: 1}, u: {$set: {d: 1}}}, {q: {_id: 2}, u: {$set: {d: 1}}}]}`, [3]int64{2, 2, 0}},
		{`{ping: 1}`, [3]int64{}},
	} {
		before := read()
		h.OK(tt.command)
		after := read()
		for i := range after {
			after[i] -= before[i]
		}
		if after != tt.want {
			t.Errorf("%s: %v, want %v", tt.command, after, tt.want)
		}
	}
	before := read()
	h.OK(`{find: "c", batchSize: 0}`)
	if after := read(); after[2] != before[2]+1 {
		t.Errorf("a cursor counts %d scans, want 1", after[2]-before[2])
	}
}
