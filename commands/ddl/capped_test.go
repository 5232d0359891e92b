package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// convertToCapped keeps the newest documents that fit, in their order, and only the index
// on _id (the manual's page on convertToCapped).
func TestConvertToCapped(t *testing.T) {
	h := harness.New(t)
	for i := range 40 {
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d, pad: "%s"}]}`, i, strings.Repeat("x", 100)))
	}
	h.OK(`{createIndexes: "c", indexes: [{key: {pad: 1}, name: "pad_1"}]}`)
	cursor := h.OK(`{find: "c", batchSize: 1}`).Lookup("cursor").Doc().Lookup("id")
	h.OK(`{convertToCapped: "c", size: 1024}`)
	if got, want := optionsOf(h, "c").String(), harness.Relaxed(`{capped: true, size: 1024}`).String(); got != want {
		t.Errorf("options %s, want %s", got, want)
	}
	h.Fails(43, `{getMore: `+harness.JSONOf(cursor)+`, collection: "c"}`) // it read what is gone
	kept := harness.Docs(h.OK(`{find: "c"}`))
	if len(kept) == 0 || len(kept) > 10 || kept[len(kept)-1].Lookup("_id").Int32() != 39 || kept[0].Lookup("_id").Int32() != int32(40-len(kept)) {
		t.Errorf("kept %d documents: %v", len(kept), kept)
	}
	if names := h.IndexNames("c"); names != "_id_ " {
		t.Errorf("indexes %s", names)
	}
	h.OK(`{insert: "c", documents: [{_id: 40}]}`)
	if first := harness.Docs(h.OK(`{find: "c", sort: {$natural: -1}, limit: 1}`))[0]; first.Lookup("_id").Int32() != 40 {
		t.Errorf("the newest is %s", first)
	}
	for _, d := range harness.Docs(h.OK(`{listCollections: 1}`)) {
		if name := d.Lookup("name").Str(); name != "c" {
			t.Errorf("%s is left", name)
		}
	}
}

func TestCloneCollectionAsCapped(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", validator: {_id: {$gt: 0}}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{cloneCollectionAsCapped: "c", toCollection: "d", size: 4096}`)
	h.Holds("c", `{_id: 1} {_id: 2}`)
	h.Holds("d", `{_id: 1} {_id: 2}`)
	if names := h.IndexNames("c") + h.IndexNames("d"); names != "_id_ a_1 _id_ " {
		t.Errorf("indexes %s", names)
	}
}

// The messages are those of capped_utils.cpp and the commands over it.
func TestCappedRefusals(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "d"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "s", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "ttl", documentTtl: {default: 5}}`)
	name := strings.Repeat("n", 240)
	h.OK(`{create: "` + name + `"}`)
	const missing = "Capped collection size must be greater than zero"
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "d", size: 4096}`, Code: 48, Text: "cloneCollectionAsCapped failed - destination collection test.d already exists. source collection: test.c"},
		{DB: "test", Command: `{cloneCollectionAsCapped: "none", toCollection: "e", size: 4096}`, Code: 26, Text: "source collection test.none does not exist"},
		{DB: "test", Command: `{cloneCollectionAsCapped: "v", toCollection: "e", size: 4096}`, Code: 166, Text: "cloneCollectionAsCapped not supported for views: test.v"},
		{DB: "test", Command: `{cloneCollectionAsCapped: "s", toCollection: "e", size: 4096}`, Code: 166},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "v", size: 4096}`, Code: 166, Text: "cloneCollectionAsCapped not supported for views: test.v"},
		{DB: "test", Command: `{cloneCollectionAsCapped: 1, toCollection: "e", size: 4096}`, Code: 14},
		{DB: "test", Command: `{cloneCollectionAsCapped: "a$b", toCollection: "e", size: 4096}`, Code: 73, Text: "Invalid source namespace: test.a$b"},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e$f", size: 4096}`, Code: 73},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e", size: -1}`, Code: 72, Text: missing},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e", size: 0}`, Code: 72, Text: missing},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e", size: "4096"}`, Code: 72, Text: missing},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e"}`, Code: 72, Text: missing},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "e", size: {"$numberLong": "1125899906842625"}}`, Code: 2, Text: "size cannot exceed 1 PB"},
		{DB: "test", Command: `{cloneCollectionAsCapped: "q", toCollection: "e", size: 4096}`, Code: 72},
		{DB: "test", Command: `{cloneCollectionAsCapped: "ttl", toCollection: "e", size: 4096}`, Code: 72},
		{DB: "test", Command: `{convertToCapped: "none", size: 4096}`, Code: 26},
		{DB: "test", Command: `{convertToCapped: "v", size: 4096}`, Code: 166},
		{DB: "test", Command: `{convertToCapped: "c", size: 0}`, Code: 72, Text: missing},
		{DB: "test", Command: `{convertToCapped: "c"}`, Code: 72, Text: missing},
		{DB: "test", Command: `{convertToCapped: "", size: 1}`, Code: 73},
		{DB: "test", Command: `{convertToCapped: 1, size: 1}`, Code: 73, Text: "collection name has invalid type int"},
		{DB: "test", Command: `{convertToCapped: "system.views", size: 4096}`, Code: 2},
		{DB: "test", Command: `{convertToCapped: "system.profile", size: 4096}`, Code: 73, Text: "cannot write to test.system.profile"},
		{DB: "local", Command: `{convertToCapped: "oplog.rs", size: 4096}`, Code: 73},
		{DB: "test", Command: `{convertToCapped: "` + name + `", size: 4096}`, Code: 73, Text: "Fully qualified namespace is too long. Namespace: test.tmp*"},
	})
	if h.Run(`{listCollections: 1, filter: {name: "e"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Len() != 0 {
		t.Error("a refused command has made a collection")
	}
}
