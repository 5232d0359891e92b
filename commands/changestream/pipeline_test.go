package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The stages that a stream's pipeline may have, after
// jstests/change_streams/{allowlist,split_large_event}.js, and the valid options.
func TestStreamPipelines(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	allowed := []string{
		`{$match: {_id: {$exists: true}}}`, `{$project: {_id: 1}}`, `{$addFields: {newField: 1}}`, `{$set: {newField: 1}}`, `{$unset: "x"}`,
		`{$replaceRoot: {newRoot: {_id: "$_id"}}}`, `{$replaceWith: {_id: "$_id"}}`, `{$redact: "$$DESCEND"}`, `{$changeStreamSplitLargeEvent: {}}`,
	}
	on := func(options string, stages ...string) string {
		return `{aggregate: "c", pipeline: [` + strings.Join(append([]string{`{$changeStream: ` + options + `}`}, stages...), ", ") + `], cursor: {}}`
	}
	for _, stage := range allowed {
		h.OK(on(`{}`, stage))
	}
	h.OK(on(`{}`, allowed...))
	for _, stage := range []string{
		`{$group: {_id: "$_id"}}`, `{$sort: {_id: 1}}`, `{$skip: 100}`, `{$limit: 100}`, `{$sample: {size: 100}}`, `{$unwind: "$_id"}`,
		`{$lookup: {from: "coll", as: "as", localField: "_id", foreignField: "_id"}}`,
		`{$graphLookup: {from: "coll", as: "as", startWith: "$_id", connectFromField: "_id", connectToField: "_id"}}`,
		`{$bucketAuto: {groupBy: "$_id", buckets: 2}}`, `{$facet: {facetPipe: [{$match: {_id: {$exists: true}}}]}}`,
		`{$unionWith: "d"}`, `{$out: "d"}`, `{$merge: "d"}`, `{$setWindowFields: {output: {}}}`, `{$count: "n"}`,
	} {
		h.Fails(20, on(`{}`, stage))
	}
	const split = `{$changeStreamSplitLargeEvent: {}}`
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: "c", pipeline: [` + split + `], cursor: {}}`, Code: 20, Text: ""},
		{DB: "test", Command: on(`{}`, split, split), Code: 7182802, Text: "$changeStreamSplitLargeEvent must be the last stage in the pipeline"},
		{DB: "test", Command: on(`{}`, split, `{$project: {fullDocument: 0}}`), Code: 7182802, Text: ""},
		{DB: "test", Command: on(`{}`, `{$changeStreamSplitLargeEvent: {a: 1}}`), Code: 7182800, Text: "$changeStreamSplitLargeEvent spec should be an empty object"},
		{DB: "test", Command: `{aggregate: "c", pipeline: [{$match: {}}, {$changeStream: {}}], cursor: {}}`, Code: 40602, Text: "$changeStream is only valid as the first stage in a pipeline"},
		{DB: "test", Command: on(`1`), Code: 6188500, Text: "$changeStream must take a nested object but found: $changeStream: 1"},
		{DB: "test", Command: on(`{resumeAfter: {_data: "82"}, startAtOperationTime: {$timestamp: {t: 1, i: 1}}}`), Code: 40674, Text: "Only one type of resume option is allowed, but multiple were found."},
		{DB: "test", Command: on(`{resumeAfter: {_data: "82"}, startAfter: {_data: "82"}}`), Code: 50865, Text: "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage"},
		{DB: "test", Command: on(`{fullDocument: "unrecognized"}`), Code: 2, Text: ""},
		{DB: "test", Command: on(`{fullDocumentBeforeChange: "default"}`), Code: 2, Text: ""},
		{DB: "test", Command: on(`{showExpandedEvents: 1}`), Code: 14, Text: ""},
		{DB: "test", Command: on(`{startAtOperationTime: 1}`), Code: 14, Text: ""},
		{DB: "test", Command: on(`{allChangesForCluster: true}`), Code: 72, Text: "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found test.c"},
		{DB: "admin", Command: `{aggregate: "c", pipeline: [{$changeStream: {allChangesForCluster: true}}], cursor: {}}`, Code: 72, Text: ""},
		{DB: "admin", Command: `{aggregate: 1, pipeline: [{$changeStream: {allChangesForCluster: true}}], cursor: {}}`, Code: 0, Text: ""},
		{DB: "admin", Command: `{aggregate: 1, pipeline: [{$changeStream: {}}], cursor: {}}`, Code: 73, Text: ""},
	})
	for _, level := range []string{"local", "available", "snapshot", "linearizable"} {
		h.Fails(72, `{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}, readConcern: {level: "`+level+`"}}`)
	}
	h.OK(`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}, readConcern: {level: "majority"}}`)
}

// A stream has the collation of its command, never that of its collection;
// and the names of collections are compared as they are, after
// jstests/change_streams/collation.js.
func TestStreamCollation(t *testing.T) {
	h := harness.New(t)
	const insensitive = `{locale: "en_US", strength: 2}`
	h.OK(`{create: "c", collation: ` + insensitive + `}`)
	h.OK(`{create: "C", collation: {locale: "en_US"}}`)
	watch := func(collation string) *harness.TestStream {
		r := h.OK(`{aggregate: "c", pipeline: [{$changeStream: {}}, {$match: {"fullDocument.text": "abc"}}, {$project: {docId: "$documentKey._id"}}], cursor: {}` + collation + `}`)
		return &harness.TestStream{H: h, Coll: "c", ID: r.Lookup("cursor").Doc().Lookup("id").Int64()}
	}
	plain, same, other := watch(``), watch(`, collation: `+insensitive), watch(`, collation: {locale: "en_US"}`)
	h.OK(`{insert: "c", documents: [{_id: 0, text: "aBc"}, {_id: 1, text: "abc"}]}`)
	h.OK(`{insert: "C", documents: [{_id: 2, text: "abc"}]}`)
	plain.Expect(`{"docId": 1}`)
	same.Expect(`{"docId": 0}`, `{"docId": 1}`)
	other.Expect(`{"docId": 1}`)
}

// Missing images, after jstests/change_streams/lookup_pre_image.js and
// lookup_post_image.js: null with whenAvailable.
func TestStreamOfMissingImages(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	available := h.Watch("c", `{"fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable"}`, "")
	before, after := h.Watch("c", `{"fullDocumentBeforeChange": "required"}`, ""), h.Watch("c", `{"fullDocument": "required"}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {a: 1}}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}`)
	h.OK(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`)
	const key = nsC + `, "documentKey": {"_id": 1}`
	available.Expect(
		`{"operationType": "insert", "fullDocument": {"_id": 1}, `+key+`}`,
		`{"operationType": "replace", "fullDocument": {"_id": 1, "a": 1}, `+key+`, "fullDocumentBeforeChange": null}`,
		`{"operationType": "update", "fullDocument": null, `+key+`, "updateDescription": {"updatedFields": {"a": 2}, "removedFields": [], "truncatedArrays": []}, "fullDocumentBeforeChange": null}`,
		`{"operationType": "delete", `+key+`, "fullDocumentBeforeChange": null}`)
	const named = `ns: {db: "test", coll: "c"}, documentKey: {_id: 1}`
	for s, text := range map[*harness.TestStream]string{
		before: "Change stream was configured to require a pre-image for all update, delete and replace events, but the pre-image was not found for event: {_id: {_data: ",
		after:  "Change stream was configured to require a post-image for all update events, but the post-image was not found for event: {_id: {_data: ",
	} {
		r := h.Run(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, s.ID))
		if r.Lookup("code").Int32() != 47 || !strings.Contains(r.Lookup("errmsg").Str(), text) || !strings.Contains(r.Lookup("errmsg").Str(), named) || r.Has("errorLabels") {
			t.Error(r)
		}
	}
}

// An event whose token the pipeline has changed or removed ends the stream; the message shows both.
func TestStreamOfChangedTokens(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	for stage, found := range map[string]string{
		`{$project: {_id: 0}}`:   " but found: {}",
		`{$addFields: {_id: 7}}`: " but found: { _id: 7 }",
	} {
		s := h.Watch("c", `{}`, ", "+stage)
		h.OK(`{insert: "c", documents: [{}]}`)
		r := h.Run(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, s.ID))
		text := r.Lookup("errmsg").Str()
		if r.Lookup("code").Int32() != 280 || !strings.HasSuffix(text, found) || !strings.Contains(text, `Expected: { _id: { _data: "`) {
			t.Errorf("%s: %s", stage, r)
		}
	}
}

// The operations of a transaction, each with the images at its own time, after
// jstests/change_streams/{apply_ops,lookup_pit_pre_and_post_image_in_transaction}.js,
// in streams of a collection, a database and the cluster; and what applyOps does.
func TestStreamOfTransactionImages(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", changeStreamPreAndPostImages: {enabled: true}}`)
	h.OK(`{create: "other"}`)
	h.RunOn("second", harness.Relaxed(`{create: "c"}`))
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}, {_id: 3, a: 1}]}`)
	const options = `"fullDocumentBeforeChange": "whenAvailable", "fullDocument": "whenAvailable"`
	const brief = `, {"$project": {"fullDocument": 1, "fullDocumentBeforeChange": 1, "ns": 1, "txnNumber": 1}}`
	coll, db := h.Watch("c", `{`+options+`}`, brief), h.Watch("", `{`+options+`}`, brief)
	r := h.Admin(`{aggregate: 1, pipeline: [{$changeStream: {allChangesForCluster: true, ` + options + `}}` + brief + `], cursor: {}}`)
	cluster := &harness.TestStream{H: h, DB: "admin", Coll: "$cmd.aggregate", ID: r.Lookup("cursor").Doc().Lookup("id").Int64()}
	for i, command := range []string{
		`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}`,
		`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"a": "long"}}]}`,
		`{"insert": "other", "documents": [{"_id": 111}]}`,
		`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"b": 1}}}]}`,
		`{"delete": "c", "deletes": [{"q": {"_id": 3}, "limit": 1}]}`,
	} {
		h.OK(harness.InTxnArgs(command, 7, i == 0))
	}
	if r := h.RunOn("second", harness.Relaxed(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 222}]}`, 7, false))); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	coll.Expect()
	h.EndTxn("commitTransaction", 7)
	const of = `"txnNumber": 7, ` + nsC
	list := []string{
		`{` + of[:len(`"txnNumber": 7`)] + `, "fullDocument": {"_id": 1, "a": 2}, ` + nsC + `, "fullDocumentBeforeChange": {"_id": 1, "a": 1}}`,
		`{` + of[:len(`"txnNumber": 7`)] + `, "fullDocument": {"_id": 2, "a": "long"}, ` + nsC + `, "fullDocumentBeforeChange": {"_id": 2, "a": 1}}`,
		`{` + of[:len(`"txnNumber": 7`)] + `, "fullDocument": {"_id": 2, "a": "long", "b": 1}, ` + nsC + `, "fullDocumentBeforeChange": {"_id": 2, "a": "long"}}`,
		`{` + of + `, "fullDocumentBeforeChange": {"_id": 3, "a": 1}}`,
	}
	other := `{"txnNumber": 7, "fullDocument": {"_id": 111}, "ns": {"db": "test", "coll": "other"}}`
	coll.Expect(list...)
	inDB := append(append(append([]string{}, list[:2]...), other), list[2:]...)
	db.Expect(inDB...)
	cluster.Expect(append(inDB, `{"txnNumber": 7, "fullDocument": {"_id": 222}, "ns": {"db": "second", "coll": "c"}}`)...)
	if r := h.Admin(`{applyOps: [{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {u: {a: 9}}}}, {op: "d", ns: "test.c", o: {_id: 2}}]}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	coll.Expect(`{"fullDocument": {"_id": 1, "a": 9}, `+nsC+`, "fullDocumentBeforeChange": {"_id": 1, "a": 2}}`,
		`{`+nsC+`, "fullDocumentBeforeChange": {"_id": 2, "a": "long", "b": 1}}`)
}

// Without a log of changes a $changeStream is refused when it is parsed, whatever else is
// wrong with it.
func TestNoStreamWithoutLog(t *testing.T) {
	h := harness.New(t).LoneServer("a server without a log of changes")
	h.OK(`{create: "c"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Svc.Oplog.Off = true
	for _, command := range []string{
		`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$match: {}}, {$changeStream: {}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$lookup: {from: "c", pipeline: [{$changeStream: {}}], as: "x"}}], cursor: {}}`,
		`{explain: {aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}}`,
		`{create: "w", viewOn: "c", pipeline: [{$changeStream: {}}]}`,
		`{collMod: "v", viewOn: "c", pipeline: [{$changeStream: {}}]}`,
	} {
		h.Fails(40573, command)
	}
}
