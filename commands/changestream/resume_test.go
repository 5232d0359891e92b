package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// resume opens a stream of a collection after a token, and returns the first batch.
func resume(h *harness.Harness, coll, option string, token value.Doc, stages string) value.Doc {
	h.Helper()
	return h.Run(fmt.Sprintf(`{"aggregate": "%s", "pipeline": [{"$changeStream": {"%s": %s}}%s], "cursor": {}}`, coll, option, token.JSON(), stages))
}

// A stream does not find a token whose event its pipeline filters out
// (jstests/change_streams/filter_excludes_resume_point.js), nor a token of another
// collection, or of a stream with more events.
func TestStreamDoesNotFindItsToken(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "other"}`)
	s, other, expanded := h.Watch("c", `{}`, ""), h.Watch("other", `{}`, ""), h.Watch("c", `{"showExpandedEvents": true}`, "")
	h.OK(`{insert: "other", documents: [{_id: 1}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	insert := s.Events()[0].Lookup("_id").Doc()
	const later = `, {"$match": {"fullDocument._id": {"$gt": 1}}}`
	if r := resume(h, "c", "resumeAfter", insert, later); !r.Lookup("ok").Truthy() { // nothing is behind it: it may still come
		t.Error(r)
	}
	for name, tt := range map[string]struct {
		token  value.Doc
		stages string
	}{
		"left out by $match":             {insert, later},
		"left out by its kind":           {insert, `, {"$match": {"operationType": {"$ne": "insert"}}}`},
		"left out by $redact":            {insert, `, {"$redact": {"$cond": [{"$eq": ["$documentKey._id", 1]}, "$$PRUNE", "$$KEEP"]}}`},
		"left out, without an _id":       {insert, later + `, {"$project": {"fullDocument": 1, "_id": 0}}`},
		"of another collection":          {other.Events()[0].Lookup("_id").Doc(), ""},
		"of what is shown only expanded": {expanded.Events()[0].Lookup("_id").Doc(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			h.OK(fmt.Sprintf(`{update: "c", updates: [{q: {_id: 2}, u: {z: %d}, upsert: true}]}`, len(name)))
			h.OK(fmt.Sprintf(`{update: "c", updates: [{q: {_id: 2}, u: {y: %d}}]}`, len(name)))
			r := resume(h, "c", "resumeAfter", tt.token, tt.stages)
			if r.Lookup("code").Int32() != 280 || r.Lookup("errorLabels").Doc().Index(0).Str() != "NonResumableChangeStreamError" {
				t.Fatal(r)
			}
			const text = `Executor error during aggregate command on namespace: test.c :: caused by :: cannot resume stream; the resume token was not found. {_data: "`
			if got := r.Lookup("errmsg").Str(); !strings.HasPrefix(got, text) || !strings.HasSuffix(got, `"}`) {
				t.Error(got)
			}
		})
	}
	for _, option := range []string{"resumeAfter", "startAfter"} {
		again := h.Watch("c", `{"`+option+`": `+insert.JSON()+`}`, `, {"$match": {"fullDocument._id": {"$gt": 1}}}, {"$project": {"fullDocument": 1, "_id": 0}}`)
		r := h.Run(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, again.ID))
		if text := r.Lookup("errmsg").Str(); r.Lookup("code").Int32() != 280 || !strings.HasPrefix(text, `Executor error during getMore :: caused by :: cannot resume stream; the resume token was not found. {_data: "82`) {
			t.Error(r)
		}
	}
}

// The case of the letters in a token does not matter. The first token of a resumed stream
// is the one that it was resumed with.
func TestStreamGoesOn(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	token := s.Events()[0].Lookup("_id").Doc()
	second := `{"operationType": "insert", "fullDocument": {"_id": 2}, ` + nsC + `, "documentKey": {"_id": 2}}`
	small := h.Watch("c", `{"resumeAfter": {"_data": "`+strings.ToLower(changestream.TokenText(token))+`"}}`, "")
	again := h.Watch("c", `{"resumeAfter": `+token.JSON()+`}`, "")
	if again.Last.JSON() != token.JSON() {
		t.Errorf("before its first event the token is %s, want %s", again.Last, token)
	}
	small.Expect(second)
	again.Expect(second)
}

// The end byte of a token may be missing, and bytes after it are ignored. Without its
// last two bytes, a token is truncated within a value.
func TestStreamGoesOnBehindInexactTokens(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	data := changestream.TokenText(s.Events()[0].Lookup("_id").Doc())
	second := `{"operationType": "insert", "fullDocument": {"_id": 2}, ` + nsC + `, "documentKey": {"_id": 2}}`
	for _, option := range []string{"resumeAfter", "startAfter"} {
		for _, inexact := range []string{data[:len(data)-2], data + "FF", data + "00", strings.ToLower(data[:len(data)-2])} {
			h.Watch("c", `{"`+option+`": {"_data": "`+inexact+`"}}`, "").Expect(second)
		}
		h.Fails(15, `{"aggregate": "c", "pipeline": [{"$changeStream": {"`+option+`": {"_data": "`+data[:len(data)-4]+`"}}}], "cursor": {}}`)
	}
}

// A stream with the same pipeline can continue after the last token of every batch.
func TestStreamGoesOnBehindEveryBatch(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	const stages = `, {"$match": {"fullDocument.n": {"$mod": [3, 0]}}}`
	s := h.Watch("c", `{}`, stages)
	for i := range 30 {
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d, n: %d}]}`, i, i))
	}
	token, got := s.Last, 0
	for range 12 {
		r := h.OK(fmt.Sprintf(`{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": %s}}%s], "cursor": {"batchSize": 1}}`, token.JSON(), stages))
		cur := r.Lookup("cursor").Doc()
		for v := range cur.Lookup("firstBatch").Doc().Values() {
			if n := v.Doc().Lookup("fullDocument").Doc().Lookup("n").SafeInt64(); n != int64(3*got) {
				t.Errorf("event %d is of %d", got, n)
			}
			got++
		}
		token = cur.Lookup("postBatchResumeToken").Doc().Clone()
	}
	if got != 10 {
		t.Errorf("%d events, want 10", got)
	}
}

// A stream can start after an invalidation even if its pipeline filters that event out.
func TestStreamStartsBehindFilteredInvalidation(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	s := h.Watch("c", `{}`, "")
	h.OK(`{drop: "c"}`)
	token := s.Events()[1].Lookup("_id").Doc()
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	if r := resume(h, "c", "resumeAfter", token, ""); r.Lookup("code").Int32() != 260 || r.Lookup("errmsg").Str() != "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification." {
		t.Error(r)
	}
	h.Watch("c", `{"startAfter": `+token.JSON()+`}`, `, {"$match": {"operationType": "insert"}}`).
		Expect(`{"operationType": "insert", "fullDocument": {"_id": 1}, ` + nsC + `, "documentKey": {"_id": 1}}`)
	if r := resume(h, "another", "startAfter", token, ""); !r.Lookup("ok").Truthy() { // nothing is behind it there
		t.Error(r)
	}
	h.OK(`{insert: "another", documents: [{_id: 1}]}`)
	if r := resume(h, "another", "startAfter", token, ""); r.Lookup("code").Int32() != 280 {
		t.Error(r)
	}
}
