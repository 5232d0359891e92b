package changestream_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// ddlStep is a command and the expanded events that it makes.
type ddlStep struct {
	run  string
	want []string
}

// follow runs the commands one by one.
func follow(s *harness.TestStream, steps []ddlStep) {
	s.H.Helper()
	for _, step := range steps {
		if strings.Contains(step.run, "renameCollection") {
			if r := s.H.Admin(step.run); !r.Lookup("ok").Truthy() {
				s.H.Fatal(r)
			}
		} else {
			s.H.OK(step.run)
		}
		expectDDL(s, step.run, step.want)
	}
}

// expectDDL compares events without the fields that differ from run to run, also without
// the uuid within stateBeforeChange.
func expectDDL(s *harness.TestStream, run string, want []string) {
	s.H.Helper()
	events := s.Events()
	if len(events) != len(want) {
		s.H.Errorf("%s: events %v, want %v", run, events, want)
		return
	}
	for i, e := range events {
		b := value.NewBuilder()
		for name, v := range value.MustJSON(harness.Brief(e)).All() {
			if name == "stateBeforeChange" {
				v = value.Document(value.MustJSON(withoutUUID(v.Doc())))
			}
			b.Append(name, v)
		}
		if got, w := b.Doc().JSON(), value.MustJSON(want[i]).JSON(); got != w {
			s.H.Errorf("%s: event\n%s, want\n%s", run, got, w)
		}
	}
}

func withoutUUID(state value.Doc) string {
	b := value.NewBuilder()
	for name, v := range state.All() {
		if name != "collectionOptions" {
			b.Append(name, v)
			continue
		}
		b.StartDocument(name)
		for k, o := range v.Doc().All() {
			if k != "uuid" {
				b.Append(k, o)
			}
		}
		b.End()
	}
	return b.Doc().JSON()
}

const (
	idIndexSpec = `"idIndex": {"v": 2, "key": {"_id": 1}, "name": "_id_"}`
	schema      = `{"$jsonSchema": {"bsonType": "object", "properties": {"a": {"bsonType": "number"}}}}`
)

// Events of collMod, after jstests/change_streams/ddl_coll_mod_event.js.
func TestStreamOfCollMod(t *testing.T) {
	modify := func(description, state string) []string {
		return []string{`{"operationType": "modify", ` + nsC + `, "operationDescription": ` + description + `, "stateBeforeChange": ` + state + `}`}
	}
	for _, of := range []string{"", "c"} {
		h := harness.New(t)
		h.OK(`{create: "c"}`)
		for _, keys := range []string{`{key: {a: 1}, name: "a_1"}`, `{key: {b: 1}, name: "b_1", hidden: true}`, `{key: {c: 1}, name: "c_1", expireAfterSeconds: 100000}`} {
			h.OK(`{createIndexes: "c", indexes: [` + keys + `]}`)
		}
		follow(h.Watch(of, `{"showExpandedEvents": true}`, ""), []ddlStep{
			{`{collMod: "c", index: {name: "a_1", hidden: true}}`, modify(`{"index": {"name": "a_1", "hidden": true}}`, `{"collectionOptions": {}, "indexOptions": {"hidden": false}}`)},
			{`{collMod: "c", index: {name: "a_1", hidden: false}}`, modify(`{"index": {"name": "a_1", "hidden": false}}`, `{"collectionOptions": {}, "indexOptions": {"hidden": true}}`)},
			{`{collMod: "c", index: {name: "b_1", hidden: false}}`, modify(`{"index": {"name": "b_1", "hidden": false}}`, `{"collectionOptions": {}, "indexOptions": {"hidden": true}}`)},
			{`{collMod: "c", index: {name: "c_1", expireAfterSeconds: 200000}}`, modify(`{"index": {"name": "c_1", "expireAfterSeconds": {"$numberLong": "200000"}}}`, `{"collectionOptions": {}, "indexOptions": {"expireAfterSeconds": {"$numberLong": "100000"}}}`)},
			{`{collMod: "c", index: {name: "c_1", expireAfterSeconds: 200000}}`, modify(`{"index": {"name": "c_1", "expireAfterSeconds": {"$numberLong": "200000"}}}`, `{"collectionOptions": {}, "indexOptions": {"expireAfterSeconds": {"$numberLong": "200000"}}}`)},
			{`{collMod: "c", validator: ` + schema + `}`, modify(`{"validator": `+schema+`}`, `{"collectionOptions": {}}`)},
			{`{collMod: "c", validationLevel: "off"}`, modify(`{"validationLevel": "off"}`, `{"collectionOptions": {"validator": `+schema+`, "validationLevel": "strict", "validationAction": "error"}}`)},
			{`{collMod: "c", validationAction: "warn"}`, modify(`{"validationAction": "warn"}`, `{"collectionOptions": {"validator": `+schema+`, "validationLevel": "off", "validationAction": "error"}}`)},
		})
	}
}

// Streams of databases have events of views; streams of a collection with the view's name
// do not (jstests/change_streams/ddl_view_events.js).
func TestStreamOfViews(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "base"}`)
	const pipeline, other = `"pipeline": [{"$match": {"a": 2}}, {"$project": {"a": 1}}]`, `"pipeline": [{"$match": {"a": 1}}]`
	ns := func(coll string) string { return `"ns": {"db": "test", "coll": "` + coll + `"}` }
	follow(h.Watch("", `{"showExpandedEvents": true}`, ""), []ddlStep{
		{`{create: "v", viewOn: "base", ` + pipeline + `}`, []string{`{"operationType": "create", ` + ns("v") + `, "operationDescription": {"viewOn": "base", ` + pipeline + `}, "nsType": "view"}`}},
		{`{create: "vv", viewOn: "v", ` + pipeline + `}`, []string{`{"operationType": "create", ` + ns("vv") + `, "operationDescription": {"viewOn": "v", ` + pipeline + `}, "nsType": "view"}`}},
		{`{collMod: "vv", viewOn: "v", ` + other + `}`, []string{`{"operationType": "modify", ` + ns("vv") + `, "operationDescription": {"viewOn": "v", ` + other + `}}`}},
		{`{drop: "vv"}`, []string{`{"operationType": "drop", ` + ns("vv") + `}`}},
		{`{drop: "v"}`, []string{`{"operationType": "drop", ` + ns("v") + `}`}},
	})
	single, base := h.Watch("v", `{"showExpandedEvents": true}`, ""), h.Watch("base", `{"showExpandedEvents": true}`, "")
	h.OK(`{create: "v", viewOn: "base", ` + pipeline + `}`)
	h.OK(`{drop: "v"}`)
	h.OK(`{create: "v"}`)
	h.OK(`{insert: "base", documents: [{_id: 0}]}`)
	single.Expect(`{"operationType": "create", ` + ns("v") + `, "operationDescription": {` + idIndexSpec + `}, "nsType": "collection"}`)
	base.Expect(`{"operationType": "insert", "fullDocument": {"_id": 0}, ` + ns("base") + `, "documentKey": {"_id": 0}}`)
}

// Streams of the database show a time series as a view; a stream of a collection with its
// name has no events (jstests/change_streams/ddl_view_events.js).
func TestStreamOfTimeSeries(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "base"}`)
	const ns = `"ns": {"db": "test", "coll": "t"}`
	view := func(fields string) string {
		return `{"viewOn": "system.buckets.t", "pipeline": [{"$_internalUnpackBucket": {` + fields + `}}]}`
	}
	named, all := h.Watch("t", `{"showExpandedEvents": true}`, ""), h.Watch("", `{"showExpandedEvents": true}`, "")
	for _, step := range []ddlStep{
		{`{create: "t", timeseries: {timeField: "time"}}`, []string{`{"operationType": "create", ` + ns + `, "operationDescription": ` + view(`"timeField": "time", "bucketMaxSpanSeconds": 3600`) + `, "nsType": "timeseries"}`}},
		{`{collMod: "t", timeseries: {granularity: "minutes"}}`, []string{`{"operationType": "modify", ` + ns + `, "operationDescription": ` + view(`"timeField": "time", "bucketMaxSpanSeconds": 86400`) + `}`}},
		{`{collMod: "t", expireAfterSeconds: 100}`, nil},
		{`{insert: "t", documents: [{time: {$date: "2026-01-01T00:00:00Z"}}]}`, nil},
		{`{createIndexes: "t", indexes: [{key: {a: 1}, name: "a_1"}]}`, nil},
		{`{drop: "t"}`, []string{`{"operationType": "drop", ` + ns + `}`}},
		{`{create: "t", timeseries: {timeField: "time", metaField: "m", granularity: "hours"}}`, []string{`{"operationType": "create", ` + ns + `, "operationDescription": ` + view(`"timeField": "time", "metaField": "m", "bucketMaxSpanSeconds": 2592000`) + `, "nsType": "timeseries"}`}},
	} {
		from := all.Last
		follow(all, []ddlStep{step})
		if len(step.want) > 0 { // and behind the token before it
			expectDDL(h.Watch("", `{"showExpandedEvents": true, "resumeAfter": `+from.JSON()+`}`, ""), step.run, step.want)
		}
	}
	named.Expect()
	if named.ID == 0 {
		t.Error("the stream of its name has ended")
	}
}

// A stream ends with the rename of its collection, from it or to it, after
// jstests/change_streams/metadata_notifications.js.
func TestStreamOfTargets(t *testing.T) {
	renamed := []string{`{"to": {"db": "test", "coll": "c"}, "operationType": "rename", "ns": {"db": "test", "coll": "from"}}`, `{"operationType": "invalidate"}`}
	for name, steps := range map[string][]ddlStep{
		"rename to it":               {{`{renameCollection: "test.from", to: "test.c"}`, renamed}},
		"rename in its place":        {{`{create: "c"}`, nil}, {`{renameCollection: "test.from", to: "test.c", dropTarget: true}`, renamed}},
		"drop of its empty database": {{`{dropDatabase: 1}`, nil}, {`{insert: "c", documents: [{_id: 0}]}`, []string{`{"operationType": "insert", "fullDocument": {"_id": 0}, ` + nsC + `, "documentKey": {"_id": 0}}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{create: "from"}`)
			follow(h.Watch("c", `{}`, ""), steps)
		})
	}
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	s := h.Watch("c", `{}`, "")
	h.OK(`{aggregate: "c", pipeline: [{$out: "c"}], cursor: {}}`)
	events := s.Events()
	if len(events) != 2 || events[0].Lookup("operationType").Str() != "rename" || events[0].Lookup("to").JSON() != `{"db":"test","coll":"c"}` || events[1].Lookup("operationType").Str() != "invalidate" {
		t.Errorf("$out: %v", events)
	}
}

// After each of several invalidations a stream continues with startAfter
// (jstests/change_streams/multiple_invalidate_events.js).
func TestStreamOfManyInvalidations(t *testing.T) {
	created := `{"operationType": "create", ` + nsC + `, "operationDescription": {` + idIndexSpec + `}, "nsType": "collection"}`
	dropped, ended, gone := `{"operationType": "drop", `+nsC+`}`, `{"operationType": "invalidate"}`, `{"operationType": "dropDatabase", "ns": {"db": "test"}}`
	for _, tt := range []struct {
		coll, end string
		want      []string
	}{
		{"c", `{drop: "c"}`, []string{dropped, ended}},
		{"c", `{dropDatabase: 1}`, []string{dropped, ended}},
		{"", `{dropDatabase: 1}`, []string{dropped, gone, ended}},
	} {
		h := harness.New(t)
		s := h.Watch(tt.coll, `{"showExpandedEvents": true}`, "")
		for range 3 {
			h.OK(`{create: "c"}`)
			h.OK(`{insert: "c", documents: [{_id: 1}]}`)
			h.OK(tt.end)
			inserted := `{"operationType": "insert", "fullDocument": {"_id": 1}, ` + nsC + `, "documentKey": {"_id": 1}}`
			s.Expect(append([]string{created, inserted}, tt.want...)...)
			if s.ID != 0 {
				t.Error("the cursor is still open")
			}
			s = h.Watch(tt.coll, `{"showExpandedEvents": true, "startAfter": `+s.Last.JSON()+`}`, "")
		}
		s.Expect()
	}
}

// Collections and pipelines on which no stream can be opened, after
// jstests/change_streams/{invalid_namespaces,ban_from_lookup,ban_from_views}.js.
func TestStreamIsRefused(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "t", timeseries: {timeField: "time"}}`)
	const on = `pipeline: [{$changeStream: {}}], cursor: {}}`
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{aggregate: 1, ` + on, Code: 73, Text: "$changeStream may not be opened on the internal admin database"},
		{DB: "config", Command: `{aggregate: 1, ` + on, Code: 73, Text: "$changeStream may not be opened on the internal config database"},
		{DB: "local", Command: `{aggregate: 1, ` + on, Code: 73, Text: "$changeStream may not be opened on the internal local database"},
		{DB: "admin", Command: `{aggregate: "c", ` + on, Code: 73, Text: "$changeStream may not be opened on the internal admin database"},
		{DB: "config", Command: `{aggregate: "c", ` + on, Code: 73, Text: "$changeStream may not be opened on the internal config database"},
		{DB: "local", Command: `{aggregate: "c", ` + on, Code: 73, Text: "$changeStream may not be opened on the internal local database"},
		{DB: "test", Command: `{aggregate: "system.users", ` + on, Code: 73, Text: "$changeStream may not be opened on the internal test.system.users collection"},
		{DB: "test", Command: `{aggregate: "system.profile", ` + on, Code: 73, Text: ""},
		{DB: "test", Command: `{aggregate: "systemindexes", ` + on, Code: 0, Text: ""}, {DB: "test", Command: `{aggregate: "system_users", ` + on, Code: 0, Text: ""},
		{DB: "test", Command: `{aggregate: "v", ` + on, Code: 166, Text: "Namespace test.v is a view, not a collection"},
		{DB: "test", Command: `{aggregate: "t", ` + on, Code: 166, Text: "Namespace test.t is a timeseries collection"},
		{DB: "test", Command: `{create: "w", viewOn: "c", pipeline: [{$changeStream: {}}]}`, Code: 167, Text: ""},
		{DB: "test", Command: `{aggregate: "c", pipeline: [{$lookup: {from: "c", as: "x", pipeline: [{$changeStream: {}}]}}], cursor: {}}`, Code: 51047, Text: ""},
		{DB: "nowhere", Command: `{aggregate: "c", ` + on, Code: 0, Text: ""},
	})
	for v := range h.Admin(`{listDatabases: 1, nameOnly: true}`).Lookup("databases").Doc().Values() {
		if v.Doc().Lookup("name").Str() == "nowhere" {
			t.Error("a stream has made its database")
		}
	}
}

// Options that show more, after
// jstests/change_streams/{show_raw_update_description,show_system_events}*.js.
func TestStreamShowsMore(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, l: [1, 2, 3]}]}`)
	raw, plain := h.Watch("c", `{"showRawUpdateDescription": true}`, ""), h.Watch("c", `{}`, "")
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}, $unset: {a: 1}}}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {z: 1}}]}`)
	replaced := `{"operationType": "replace", "fullDocument": {"_id": 1, "z": 1}, ` + nsC + `, "documentKey": {"_id": 1}}`
	raw.Expect(`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "rawUpdateDescription": {"$v": 2, "diff": {"d": {"a": false}, "i": {"b": 1}}}}`, replaced)
	plain.Expect(`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "updateDescription": {"updatedFields": {"b": 1}, "removedFields": ["a"], "truncatedArrays": []}}`, replaced)

	system, usual := h.Watch("", `{"showSystemEvents": true}`, ""), h.Watch("", `{}`, "")
	h.OK(`{insert: "system.js", documents: [{_id: "f"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 2}]}`)
	inserted := `{"operationType": "insert", "fullDocument": {"_id": 2}, ` + nsC + `, "documentKey": {"_id": 2}}`
	system.Expect(`{"operationType": "insert", "fullDocument": {"_id": "f"}, "ns": {"db": "test", "coll": "system.js"}, "documentKey": {"_id": "f"}}`, inserted)
	usual.Expect(inserted)
}
