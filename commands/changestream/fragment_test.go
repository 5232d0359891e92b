package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// fragmentOf returns the token of a fragment, numbered from 0: the token of the event
// followed by the number, which for the first fragment is 29 before the end
// (SERVER-107526).
func fragmentOf(token value.Doc, n int) value.Doc {
	number := "29"
	if n > 0 {
		number = fmt.Sprintf("2B%02X", 2*n)
	}
	data := token.Lookup("_data").Str()
	return value.NewDoc("_data", value.String(data[:len(data)-2]+number+"04"))
}

// A stream can continue after a fragment of a split event only if it splits the event
// again (jstests/change_streams/split_large_event.js).
func TestStreamGoesOnBehindFragment(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	token := fragmentOf(s.Events()[0].Lookup("_id").Doc(), 0)
	for stages, want := range map[string]string{
		"":                                       "To resume from a split event, the $changeStream pipeline must include a $changeStreamSplitLargeEvent stage",
		`, {"$changeStreamSplitLargeEvent": {}}`: "Executor error during aggregate command on namespace: test.c :: caused by :: Attempted to resume from a split event fragment, but the event in the resumed stream was not large enough to be split",
	} {
		if r := resume(h, "c", "resumeAfter", token, stages); r.Lookup("code").Int32() != 280 || r.Lookup("errmsg").Str() != want {
			t.Errorf("%q: %s", stages, r)
		}
	}
}

// The fragments of an event, their tokens, and the streams that continue after each of
// them.
func TestStreamOfFragments(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", changeStreamPreAndPostImages: {enabled: true}}`)
	large := func(letter string) value.Value { return value.String(strings.Repeat(letter, 9<<20)) }
	h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Double(1), "a", large("x"))))))
	plain := h.Watch("c", `{}`, "")
	const images, split = `"fullDocument": "required", "fullDocumentBeforeChange": "required"`, `, {"$changeStreamSplitLargeEvent": {}}`
	s := h.Watch("c", `{`+images+`}`, split)
	set := value.NewDoc("$set", value.Document(value.NewDoc("a", large("y"))))
	update := value.NewDoc("q", value.Document(value.NewDoc("_id", value.Int32(1))), "u", value.Document(set))
	h.RunOn("test", value.NewDoc("update", value.String("c"), "updates", value.NewArray(value.Document(update))))
	h.OK(`{insert: "c", documents: [{_id: 2}]}`)
	whole := plain.Events()[0].Lookup("_id").Doc()

	var tokens []value.Doc
	names := []string{
		"_id splitEvent wallTime clusterTime operationType documentKey ns fullDocument",
		"_id splitEvent fullDocumentBeforeChange",
		"_id splitEvent updateDescription",
	}
	for i, want := range names {
		d := s.Next()
		if got := d.Lookup("splitEvent").Doc().JSON(); got != fmt.Sprintf(`{"fragment":%d,"of":3}`, i+1) {
			t.Fatal(got)
		}
		var got []string
		for it := d.Iter(); it.Next(); {
			got = append(got, it.Key())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("fields %v, want %s", got, want)
		}
		token := d.Lookup("_id").Doc()
		if got, want := token.Lookup("_data").Str(), fragmentOf(whole, i).Lookup("_data").Str(); got != want || !token.Has("_typeBits") {
			t.Errorf("token %s, want %s", token, want)
		}
		tokens = append(tokens, token)
	}
	for i, token := range append(tokens, whole) {
		again := h.Watch("c", `{"resumeAfter": `+token.JSON()+`, `+images+`}`, split)
		for n := i + 2; n <= len(names); n++ {
			if d := again.Next(); int(d.Lookup("splitEvent").Doc().Lookup("fragment").Int32()) != n {
				t.Errorf("behind fragment %d: %s", i+1, d.Lookup("splitEvent"))
			}
		}
		if d := again.Next(); d.Lookup("operationType").Str() != "insert" {
			t.Errorf("behind fragment %d: %s", i+1, d.Lookup("splitEvent"))
		}
	}
	const other = `, {"$project": {"fullDocument.a": 0}}`
	r := h.Run(`{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": ` + tokens[2].JSON() + `, ` + images + `}}` + other + split + `], "cursor": {}}`)
	if r.Lookup("code").Int32() != 280 || !strings.HasSuffix(r.Lookup("errmsg").Str(), "produced a different split. Ensure that the pipeline used to resume is the same as the original") {
		t.Error(r)
	}
}

// Large events are counted, and refused where they are not split, after
// jstests/change_streams/large_events_failed_metric.js.
func TestStreamCounters(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", changeStreamPreAndPostImages: {enabled: true}}`)
	const images = `{"fullDocument": "required", "fullDocumentBeforeChange": "required", "showExpandedEvents": true}`
	whole, split := h.Watch("c", images, ""), h.Watch("c", images, `, {"$changeStreamSplitLargeEvent": {}}`)
	doc := value.NewDoc("_id", value.Int32(1), "a", value.String(strings.Repeat("x", 9<<20)))
	h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(doc))))
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}}]}`)
	h.Fails(10334, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, whole.ID))
	for range 2 {
		split.Next()
	}
	got := h.Admin(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("changeStreams").Doc().JSON()
	if got != `{"largeEventsFailed":1,"largeEventsSplit":1,"showExpandedEvents":2}` {
		t.Error(got)
	}
}
