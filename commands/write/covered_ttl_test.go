package write_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// If an index does not have a value, the record is fetched and matched with the whole
// filter.
func TestCoveredJudgesWhatItFetches(t *testing.T) {
	for _, odd := range []string{`{"$code": "x", "$scope": {"a": 1}}`, `{"$numberDecimal": "1.10"}`, `{"d": {"$symbol": "x"}}`} {
		h := harness.New(t)
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1, "b": 1, "c": 1}, "name": "abc"}]}`)
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1, "b": "no", "c": ` + odd + `}, {"_id": 2, "a": 1, "b": "yes", "c": ` + odd + `}]}`)
		got := harness.Docs(h.OK(`{"find": "c", "filter": {"a": {"$gte": 0}, "b": {"$regex": "e"}}, "projection": {"_id": 0, "b": 1, "c": 1}, "hint": "abc"}`))
		if len(got) != 1 || got[0].Lookup("b").Str() != "yes" {
			t.Errorf("%s: %v", odd, got)
		}
	}
}

// examined runs a covered find and returns the number of documents that it examined.
func examined(h *harness.Harness) (n int64, found int) {
	h.Helper()
	const find = `{"find": "c", "filter": {"a": {"$gte": 0}}, "projection": {"_id": 0, "a": 1}}`
	n = h.OK(`{"explain": ` + find + `}`).Lookup("executionStats").Doc().Lookup("totalDocsExamined").Int64()
	return n, len(harness.Docs(h.OK(find)))
}

// With document TTL, an index covers a query unless an expired document is still stored;
// then the documents are read to check whether they are visible.
func TestCoveredWithDocumentTTL(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`)
	h.OK(`{"insert": "c", "documents": [{"a": 1}, {"a": 2, "ttl": 5}, {"a": 3, "ttl": -1}]}`)
	for _, step := range []struct {
		seconds  time.Duration
		pass     bool
		examined int64
		found    int
	}{{4, false, 0, 3}, {1, false, 2, 2}, {0, true, 0, 2}, {5, false, 1, 1}, {0, true, 0, 1}} {
		if err := h.Clock.Advance(step.seconds * time.Second); err != nil {
			t.Fatal(err)
		}
		if step.pass {
			h.Pass(0)
		}
		if n, found := examined(h); n != step.examined || found != step.found {
			t.Errorf("at %s: %d documents looked at, %d found; want %d and %d", h.Clock.Now().Format(time.TimeOnly), n, found, step.examined, step.found)
		}
	}
}

// A document that was read ahead from an index expires before a later getMore returns it.
func TestCoveredCursorOverExpiry(t *testing.T) {
	for _, open := range []string{
		`{"find": "c", "filter": {"a": {"$gte": 0}}, "projection": {"_id": 0, "a": 1}, "batchSize": 1}`,
		`{"aggregate": "c", "pipeline": [{"$match": {"a": {"$gte": 0}}}, {"$project": {"_id": 0, "a": 1}}], "cursor": {"batchSize": 1}}`,
		`{"aggregate": "one", "pipeline": [{"$unionWith": {"coll": "c", "pipeline": [{"$match": {"a": {"$gt": 0}}}, {"$project": {"_id": 0, "a": 1}}]}}], "cursor": {"batchSize": 2}}`,
	} {
		h := harness.New(t)
		h.OK(`{"create": "c", "documentTtl": {"default": 100}}`)
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`)
		h.OK(`{"insert": "one", "documents": [{"_id": 0}]}`)
		h.OK(`{"insert": "c", "documents": [{"a": 1}, {"a": 2, "ttl": 5}, {"a": 3}, {"a": 4, "ttl": 5}, {"a": 5, "ttl": -1}]}`)
		id := h.OK(open).Lookup("cursor").Doc().Lookup("id").Int64()
		if err := h.Clock.Advance(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		coll := value.MustJSON(open).Lookup("find")
		if coll.IsMissing() {
			coll = value.MustJSON(open).Lookup("aggregate")
		}
		var rest []int64
		more := h.OK(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": %q}`, id, coll.Str()))
		for d := range more.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Values() {
			rest = append(rest, d.Doc().Lookup("a").SafeInt64())
		}
		if fmt.Sprint(rest) != "[3 5]" {
			t.Errorf("%s goes on with %v, want 3 and 5", open, rest)
		}
	}
}

// Covered queries, counts and distinct values agree with the documents, whichever
// documents have expired or were purged.
func TestCoveredWithDocumentTTLProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := harness.New(t)
		h.OK(`{"create": "c", "documentTtl": {"default": 20}}`)
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1, "b": 1}, "name": "ab"}]}`)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			for range rapid.IntRange(0, 5).Draw(rt, "inserts") {
				h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"a": %d, "b": %d, "ttl": %d}]}`,
					rapid.IntRange(0, 3).Draw(rt, "a"), rapid.IntRange(0, 3).Draw(rt, "b"), rapid.SampledFrom([]int{-1, 5, 10, 40}).Draw(rt, "ttl")))
			}
			if err := h.Clock.Advance(time.Duration(rapid.IntRange(0, 12).Draw(rt, "seconds")) * time.Second); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "pass") {
				h.Pass(0)
			}
			for _, q := range []string{
				`"find": "c", "filter": {"a": {"$gt": 0}, "b": {"$mod": [2, 1]}}, "projection": {"_id": 0, "a": 1, "b": 1}, "sort": {"a": 1, "b": 1}`,
				`"aggregate": "c", "cursor": {}, "pipeline": [{"$match": {"a": {"$gte": 0}}}, {"$group": {"_id": "$a"}}, {"$sort": {"_id": 1}}]`,
				`"aggregate": "c", "cursor": {}, "pipeline": [{"$sort": {"a": 1, "b": 1}}, {"$group": {"_id": "$a", "b": {"$first": "$b"}}}, {"$sort": {"_id": 1}}]`,
				`"count": "c", "query": {"a": {"$gt": 0}, "b": {"$mod": [2, 1]}}`,
			} {
				with, without := h.OK(`{`+q+`, "hint": "ab"}`), h.OK(`{`+q+`, "hint": {"$natural": 1}}`)
				if with.String() != without.String() {
					rt.Fatalf("%s: %s with the index, %s without", q, with, without)
				}
			}
		}
	})
}
