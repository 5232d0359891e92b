package commands

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// expired makes collections "c" and "d" with a document {_id: 2} that has
// expired and is still stored; the second got its policy by an index on _ts.
func (h *harness) expired(document string) {
	h.Helper()
	h.admin(`{"setParameter": 1, "documentTtlPurgeYieldThreshold": 0}`)
	h.ok(`{"create": "c", "documentTtl": {"default": -1}}`)
	h.ok(`{"createIndexes": "d", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": -1}]}`)
	for _, c := range []string{"c", "d"} {
		h.ok(`{"insert": "` + c + `", "documents": [` + document + `]}`)
	}
	h.clock.Advance(5 * time.Second)
}

// finds compares the documents that a command returns.
func (h *harness) finds(command, want string) {
	h.Helper()
	if got := value.NewArray(docValues(docs(h.ok(command)))...).String(); got != value.MustJSON(`{"d":`+want+`}`).Lookup("d").String() {
		h.Errorf("%s\nfound %s, want %s", command, got, want)
	}
}

func docValues(list []value.Doc) (values []value.Value) {
	for _, d := range list {
		values = append(values, value.Document(d))
	}
	return values
}

func TestMergeDoesNotReviveTheExpired(t *testing.T) {
	merged := func(h *harness, stage string) {
		h.Helper()
		h.ok(`{"aggregate": "src", "pipeline": [` + stage + `], "cursor": {}}`)
	}
	for _, c := range []string{"c", "d"} {
		for _, test := range []struct{ options, want string }{
			{``, `[{"_id":2,"u":102}]`},
			{`, "whenMatched": [{"$set": {"z": 1}}]`, `[{"_id":2,"u":102}]`},
			{`, "whenMatched": "keepExisting"`, `[{"_id":2,"u":102}]`},
			{`, "whenMatched": "replace"`, `[{"_id":2,"u":102}]`},
			{`, "whenMatched": "fail"`, `[{"_id":2,"u":102}]`},
			{`, "whenNotMatched": "discard"`, `[]`},
		} {
			h := newHarness(t)
			h.expired(`{"_id":2,"u":2,"keep":"old","ttl":5}`)
			h.ok(`{"insert": "src", "documents": [{"_id":2,"u":102}]}`)
			merged(h, `{"$merge": {"into": "`+c+`"`+test.options+`}}`)
			h.finds(`{"find": "`+c+`"}`, test.want)
		}
		h := newHarness(t)
		h.expired(`{"_id":2,"u":2,"ttl":5}`)
		h.ok(`{"insert": "src", "documents": [{"_id":2,"u":102}]}`)
		h.fails(13113, `{"aggregate": "src", "pipeline": [{"$merge": {"into": "`+c+`", "whenNotMatched": "fail"}}], "cursor": {}}`)
		// By another unique key.
		h.ok(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u", "unique": true}]}`)
		h.ok(`{"insert": "` + c + `", "documents": [{"_id":7,"u":7,"old":1,"ttl":1}]}`)
		h.clock.Advance(time.Second)
		h.ok(`{"insert": "src2", "documents": [{"_id":9,"u":7}]}`)
		h.ok(`{"aggregate": "src2", "pipeline": [{"$merge": {"into": "` + c + `", "on": "u"}}], "cursor": {}}`)
		h.finds(`{"find": "`+c+`"}`, `[{"_id":9,"u":7}]`)
	}
}

func TestApplyOpsDoesNotReviveTheExpired(t *testing.T) {
	for _, c := range []string{"c", "d"} {
		h := newHarness(t)
		h.expired(`{"_id":2,"keep":"old","ttl":5}`)
		entry := func(op string) string {
			return `{"applyOps": [{"op": "` + op + `", "ns": "test.` + c + `", "o2": {"_id": 2}, "o": {"$v": 2, "diff": {"i": {"z": 1}}}, "b": false}]}`
		}
		if r := h.admin(entry("u")); r.Lookup("code").SafeInt64() != 8 {
			t.Error(r)
		}
		h.finds(`{"find": "`+c+`"}`, `[]`)
		h.admin(`{"applyOps": [{"op": "u", "ns": "test.` + c + `", "o2": {"_id": 2}, "o": {"$v": 2, "diff": {"i": {"z": 1}}}, "b": true}]}`)
		h.finds(`{"find": "`+c+`"}`, `[{"_id":2,"z":1}]`)
	}
}

func TestIndexBuildsPassOverTheExpired(t *testing.T) {
	for _, c := range []string{"c", "d"} {
		h := newHarness(t)
		h.expired(`{"_id":1,"u":1,"a":[1],"b":[1],"ttl":5}`)
		h.ok(`{"insert": "` + c + `", "documents": [{"_id":2,"u":1}]}`)
		h.ok(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u_1", "unique": true}, {"key": {"a": 1, "b": 1}, "name": "ab"}]}`)
		h.finds(`{"find": "`+c+`", "hint": "u_1"}`, `[{"_id":2,"u":1}]`)

		h = newHarness(t)
		h.expired(`{"_id":1,"u":1,"ttl":5},{"_id":2,"u":1}`)
		h.ok(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u_1"}]}`)
		h.ok(`{"insert": "` + c + `", "documents": [{"_id":3,"u":1,"ttl":1}]}`)
		h.clock.Advance(time.Second)
		h.ok(`{"collMod": "` + c + `", "index": {"name": "u_1", "prepareUnique": true}}`)
		h.ok(`{"collMod": "` + c + `", "index": {"name": "u_1", "unique": true}, "dryRun": true}`)
		h.ok(`{"collMod": "` + c + `", "index": {"name": "u_1", "unique": true}}`)
		h.finds(`{"find": "`+c+`"}`, `[{"_id":2,"u":1}]`)
		h.fails(11000, `{"insert": "`+c+`", "documents": [{"_id":4,"u":1}]}`)
	}
}
