package write_test

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// expired creates the collections "c" and "d" with a document {_id: 2} that has expired
// and is still stored; the policy of "d" is an index on _ts.
func expired(h *harness.Harness, document string) {
	h.Helper()
	h.Admin(`{"setParameter": 1, "documentTtlPurgeYieldThreshold": 0}`)
	h.OK(`{"create": "c", "documentTtl": {"default": -1}}`)
	h.OK(`{"createIndexes": "d", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": -1}]}`)
	for _, c := range []string{"c", "d"} {
		h.OK(`{"insert": "` + c + `", "documents": [` + document + `]}`)
	}
	h.Clock.Advance(5 * time.Second)
}

func TestMergeDoesNotReviveTheExpired(t *testing.T) {
	merged := func(h *harness.Harness, stage string) {
		h.Helper()
		h.OK(`{"aggregate": "src", "pipeline": [` + stage + `], "cursor": {}}`)
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
			h := harness.New(t)
			expired(h, `{"_id":2,"u":2,"keep":"old","ttl":5}`)
			h.OK(`{"insert": "src", "documents": [{"_id":2,"u":102}]}`)
			merged(h, `{"$merge": {"into": "`+c+`"`+test.options+`}}`)
			h.Finds(`{"find": "`+c+`"}`, test.want)
		}
		h := harness.New(t)
		expired(h, `{"_id":2,"u":2,"ttl":5}`)
		h.OK(`{"insert": "src", "documents": [{"_id":2,"u":102}]}`)
		h.Fails(13113, `{"aggregate": "src", "pipeline": [{"$merge": {"into": "`+c+`", "whenNotMatched": "fail"}}], "cursor": {}}`)
		// By another unique key.
		h.OK(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u", "unique": true}]}`)
		h.OK(`{"insert": "` + c + `", "documents": [{"_id":7,"u":7,"old":1,"ttl":1}]}`)
		h.Clock.Advance(time.Second)
		h.OK(`{"insert": "src2", "documents": [{"_id":9,"u":7}]}`)
		h.OK(`{"aggregate": "src2", "pipeline": [{"$merge": {"into": "` + c + `", "on": "u"}}], "cursor": {}}`)
		h.Finds(`{"find": "`+c+`"}`, `[{"_id":9,"u":7}]`)
	}
}

func TestApplyOpsDoesNotReviveTheExpired(t *testing.T) {
	for _, c := range []string{"c", "d"} {
		h := harness.New(t)
		expired(h, `{"_id":2,"keep":"old","ttl":5}`)
		entry := func(op string) string {
			return `{"applyOps": [{"op": "` + op + `", "ns": "test.` + c + `", "o2": {"_id": 2}, "o": {"$v": 2, "diff": {"i": {"z": 1}}}, "b": false}]}`
		}
		if r := h.Admin(entry("u")); r.Lookup("code").SafeInt64() != 8 {
			t.Error(r)
		}
		h.Finds(`{"find": "`+c+`"}`, `[]`)
		h.Admin(`{"applyOps": [{"op": "u", "ns": "test.` + c + `", "o2": {"_id": 2}, "o": {"$v": 2, "diff": {"i": {"z": 1}}}, "b": true}]}`)
		h.Finds(`{"find": "`+c+`"}`, `[{"_id":2,"z":1}]`)
	}
}

func TestIndexBuildsPassOverTheExpired(t *testing.T) {
	for _, c := range []string{"c", "d"} {
		h := harness.New(t)
		expired(h, `{"_id":1,"u":1,"a":[1],"b":[1],"ttl":5}`)
		h.OK(`{"insert": "` + c + `", "documents": [{"_id":2,"u":1}]}`)
		h.OK(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u_1", "unique": true}, {"key": {"a": 1, "b": 1}, "name": "ab"}]}`)
		h.Finds(`{"find": "`+c+`", "hint": "u_1"}`, `[{"_id":2,"u":1}]`)

		h = harness.New(t)
		expired(h, `{"_id":1,"u":1,"ttl":5},{"_id":2,"u":1}`)
		h.OK(`{"createIndexes": "` + c + `", "indexes": [{"key": {"u": 1}, "name": "u_1"}]}`)
		h.OK(`{"insert": "` + c + `", "documents": [{"_id":3,"u":1,"ttl":1}]}`)
		h.Clock.Advance(time.Second)
		h.OK(`{"collMod": "` + c + `", "index": {"name": "u_1", "prepareUnique": true}}`)
		h.OK(`{"collMod": "` + c + `", "index": {"name": "u_1", "unique": true}, "dryRun": true}`)
		h.OK(`{"collMod": "` + c + `", "index": {"name": "u_1", "unique": true}}`)
		h.Finds(`{"find": "`+c+`"}`, `[{"_id":2,"u":1}]`)
		h.Fails(11000, `{"insert": "`+c+`", "documents": [{"_id":4,"u":1}]}`)
	}
}
