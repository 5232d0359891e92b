package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// ids lists the _id of documents.
func ids(docs []value.Doc) string {
	var list []string
	for _, d := range docs {
		list = append(list, d.Lookup("_id").String())
	}
	return strings.Join(list, " ")
}

// more runs a getMore and returns the batch and whether the cursor stays open.
func more(h *harness.Harness, cursor int64, coll, options string) (docs []value.Doc, open bool) {
	h.Helper()
	reply := h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: %q%s}`, cursor, coll, options)).Lookup("cursor").Doc()
	for v := range reply.Lookup("nextBatch").Doc().Values() {
		docs = append(docs, v.Doc())
	}
	return docs, reply.Lookup("id").Int64() != 0
}

// cursorOf returns the id of the cursor in a reply.
func cursorOf(reply value.Doc) int64 { return reply.Lookup("cursor").Doc().Lookup("id").Int64() }

// numbers inserts {_id: i, a: i, b: -i} for i in 0…n-1, with an index on a.
func numbers(h *harness.Harness, n int) {
	h.Helper()
	var docs []string
	for i := range n {
		docs = append(docs, fmt.Sprintf(`{_id: %d, a: %d, b: %d}`, i, i, -i))
	}
	h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {a: 1, b: 1}, name: "ab"}]}`)
}

// How much comes at once: 101 documents without batchSize, as many as it says, or nothing
// yet; and no cursor is left when all has come or more is not wanted.
func TestBatchSizes(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	numbers(h, 150)
	for _, tt := range []struct {
		command string
		first   int
		open    bool
	}{
		{`{find: "c"}`, 101, true},
		{`{find: "c", batchSize: 0}`, 0, true},
		{`{find: "c", batchSize: 120}`, 120, true},
		{`{find: "c", batchSize: 1000}`, 150, false},
		{`{find: "c", batchSize: 7, singleBatch: true}`, 7, false},
		{`{find: "c", limit: 20}`, 20, false},
		{`{find: "c", limit: 20, skip: 140}`, 10, false},
		{`{find: "c", limit: 20, batchSize: 20, projection: {a: 1}}`, 20, false},
		{`{find: "c", limit: 20, batchSize: 20, showRecordId: true}`, 20, false},
		{`{find: "c", limit: 20, batchSize: 20, filter: {a: {$gt: 5}}, returnKey: true}`, 20, false},
		{`{find: "c", limit: 20, batchSize: 5, sort: {b: 1}, hint: "a"}`, 5, true},
		{`{aggregate: "c", pipeline: [], cursor: {}}`, 101, true},
		{`{aggregate: "c", pipeline: [{$limit: 3}], cursor: {batchSize: 0}}`, 0, true},
	} {
		reply := h.OK(tt.command)
		if n := len(harness.Docs(reply)); n != tt.first || (cursorOf(reply) != 0) != tt.open {
			t.Errorf("%s: %d documents, cursor %d; want %d, open: %v", tt.command, n, cursorOf(reply), tt.first, tt.open)
		}
	}
	// A reply holds up to 16 MiB.
	text := value.String(strings.Repeat("x", 6<<20))
	for i := range 3 {
		d := value.NewDoc("_id", value.Int32(int32(i)), "text", text)
		h.RunOn("test", value.NewDoc("insert", value.String("large"), "documents", value.NewArray(value.Document(d))))
	}
	reply := h.OK(`{find: "large"}`)
	docs, open := more(h, cursorOf(reply), "large", "")
	if got := ids(harness.Docs(reply)) + ", " + ids(docs); got != "0 1, 2" || open {
		t.Errorf("large documents came as %s", got)
	}
	// What no message can hold is refused, with the command that met it.
	for what, command := range map[string]string{
		"Executor error during aggregate command on namespace: test.large": `{aggregate: "large", pipeline: [{$limit: 1}, {$lookup: {from: "large", pipeline: [], as: "all"}}], cursor: {}}`,
		"Executor error during find command: test.large":                   `{find: "large", filter: {_id: {$gte: 0}}, projection: {a: "$text", b: "$text", c: "$text"}}`,
	} {
		if text := h.Fails(10334, command); !strings.HasPrefix(text, what+" :: caused by :: BSONObj size: ") || !strings.Contains(text, "Size must be between 0 and 16793600(16MB)") {
			t.Errorf("%s said %.200s", command, text)
		}
	}
}

// A cursor that goes on sees the collection as it is then, whichever way it reads: what
// was read ahead is read again.
func TestCursorsSeeLaterWrites(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`{find: "c", batchSize: 2}`:                                                                "0 1, 3 5 6 9",
		`{find: "c", filter: {a: {$gte: 0}}, batchSize: 2}`:                                        "0 1, 3 5 6 9",
		`{find: "c", filter: {a: {$lte: 5}}, sort: {a: -1}, batchSize: 2}`:                         "5 4, 3 1 0",
		`{find: "c", filter: {a: {$in: [5, 3, 1, 4, 2]}}, hint: "a", sort: {a: 1}, batchSize: 2}`:  "1 2, 3 5",
		`{find: "c", filter: {a: {$in: [0, 1, 2, 3, 5]}}, sort: {b: 1}, hint: "ab", batchSize: 2}`: "5 3, 1 0",
		`{find: "c", filter: {$or: [{a: {$lt: 4}}, {a: {$gt: 1}}]}, hint: "a", batchSize: 2}`:      "0 1, 3 5 6 9",
	} {
		h := harness.New(t)
		numbers(h, 7)
		reply := h.OK(command)
		h.OK(`{delete: "c", deletes: [{q: {_id: {$in: [2, 4]}}, limit: 0}]}`)
		h.OK(`{insert: "c", documents: [{_id: 9, a: 9, b: 9}]}`)
		docs, open := more(h, cursorOf(reply), "c", "")
		if got := ids(harness.Docs(reply)) + ", " + ids(docs); got != want || open {
			t.Errorf("%s gave %s, want %s", command, got, want)
		}
	}
}

// A cursor ends with an error where what it reads is gone.
func TestCursorsOverWhatIsDropped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ find, drop, text string }{
		{`{find: "c", batchSize: 2}`, `{drop: "c"}`, "collection dropped"},
		{`{find: "c", filter: {a: {$gte: 1}}, batchSize: 2}`, `{drop: "c"}`, "collection dropped"},
		{`{find: "c", filter: {a: {$gte: 1}}, hint: "a", batchSize: 2}`, `{dropIndexes: "c", index: "a"}`, "index 'a' dropped"},
	} {
		h := harness.New(t)
		numbers(h, 7)
		id := cursorOf(h.OK(tt.find))
		h.OK(tt.drop)
		text := h.Fails(175, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id))
		if !strings.HasPrefix(text, "Executor error during getMore :: caused by :: ") || !strings.Contains(text, tt.text) {
			t.Errorf("%s, then %s: said %q", tt.find, tt.drop, text)
		}
	}
}

// A tailable cursor stays open at the end of its capped collection and goes on with what
// comes, until its place has been overwritten; of an empty collection it ends at once.
func TestTailableCursors(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096, max: 3}`)
	if reply := h.OK(`{find: "c", tailable: true}`); cursorOf(reply) != 0 {
		t.Errorf("the cursor of an empty collection is open: %s", reply)
	}
	h.OK(`{insert: "c", documents: [{_id: 1, k: 1}, {_id: 2, k: 0}]}`)
	for _, options := range []string{`tailable: true`, `tailable: true, awaitData: true`, `tailable: true, filter: {k: 1}`, `tailable: true, projection: {k: 1}`} {
		reply := h.OK(`{find: "c", ` + options + `}`)
		id := cursorOf(reply)
		want := "1 2"
		if strings.Contains(options, "filter") {
			want = "1"
		}
		if got := ids(harness.Docs(reply)); got != want || id == 0 {
			t.Fatalf("%s: first batch %s, cursor %d", options, got, id)
		}
		wait := ``
		if strings.Contains(options, "awaitData") {
			wait = `, maxTimeMS: 1`
		}
		if docs, open := more(h, id, "c", wait); len(docs) != 0 || !open {
			t.Errorf("%s: %v, open: %v, at the end", options, docs, open)
		}
		h.OK(`{insert: "c", documents: [{_id: 3, k: 1}]}`)
		if docs, open := more(h, id, "c", wait); ids(docs) != "3" || !open {
			t.Errorf("%s: %v, open: %v, after an insert", options, docs, open)
		}
		h.OK(`{insert: "c", documents: [{_id: 4}, {_id: 5}, {_id: 6}]}`)
		text := h.Fails(136, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"%s}`, id, wait))
		if !strings.Contains(text, "CollectionScan died due to position in capped collection being deleted. Last seen record id: RecordId(") {
			t.Errorf("%s: said %q", options, text)
		}
		h.OK(`{drop: "c"}`)
		h.OK(`{create: "c", capped: true, size: 4096, max: 3}`)
		h.OK(`{insert: "c", documents: [{_id: 1, k: 1}, {_id: 2, k: 0}]}`)
	}
	id := cursorOf(h.OK(`{find: "c", tailable: true}`))
	h.OK(`{drop: "c"}`)
	h.Fails(175, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id))
}

// The cursors of a transaction read what it has written, and end with it.
func TestCursorsWithinTransactions(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	numbers(h, 5)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 7}]}`, 1, true))
	reply := h.OK(harness.InTxnArgs(`{"find": "c", "batchSize": 4}`, 1, false))
	next := h.OK(harness.InTxnArgs(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1}`, cursorOf(reply)), 1, false))
	if got := next.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Index(0).Doc().Lookup("_id").String(); got != "4" {
		t.Errorf("goes on with %s", next)
	}
	h.EndTxn("abortTransaction", 1)
	h.Fails(43, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, cursorOf(reply)))
}

// A document that expires is passed over by a scan that is under way, by every way to it.
func TestScansPassOverTheExpired(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`{find: "c", batchSize: 1}`, `{find: "c", filter: {a: {$gte: 0}}, batchSize: 1}`, `{find: "c", filter: {a: {$in: [0, 1, 2, 3]}}, sort: {b: 1}, batchSize: 1}`,
		`{find: "c", filter: {a: {$gte: 0}}, projection: {_id: 0, a: 1}, batchSize: 1}`,
	} {
		h := harness.New(t)
		h.OK(`{create: "c", documentTtl: {default: -1}}`)
		h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {a: 1, b: 1}, name: "ab"}]}`)
		h.OK(`{insert: "c", documents: [{a: 0, b: 0}, {a: 1, b: 1, ttl: 5}, {a: 2, b: 2, ttl: 9}, {a: 3, b: 3}]}`)
		reply := h.OK(command)
		h.Advance(5)
		docs, _ := more(h, cursorOf(reply), "c", `, batchSize: 1`)
		h.Advance(4)
		rest, _ := more(h, cursorOf(reply), "c", ``)
		got := ""
		for _, d := range append(docs, rest...) {
			got += d.Lookup("a").String() + " "
		}
		if got != "2 3 " {
			t.Errorf("%s goes on with %s", command, got)
		}
		fresh := harness.Docs(h.OK(strings.Replace(command, "batchSize: 1", "batchSize: 9", 1)))
		if len(fresh) != 2 {
			t.Errorf("%s gives %v", command, fresh)
		}
	}
}
