package ddl_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// collMod with a validator also sets level and action, and takes effect with the next
// write. An empty validator removes it.
func TestCollModValidator(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	runSteps(h, "c", []step{
		{command: `{collMod: "c"}`, reply: `{}`, options: `{}`},
		{command: `{collMod: "c", validator: {a: {$type: "string"}}}`, reply: `{}`, options: `{validator: {a: {$type: "string"}}, validationLevel: "strict", validationAction: "error"}`},
	})
	h.Fails(121, `{insert: "c", documents: [{_id: 2, a: 2}]}`)
	runSteps(h, "c", []step{{command: `{collMod: "c", validationLevel: "moderate"}`, options: `{validator: {a: {$type: "string"}}, validationLevel: "moderate", validationAction: "error"}`}})
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}}]}`) // was not valid before
	h.Fails(121, `{insert: "c", documents: [{_id: 2, a: 2}]}`)
	runSteps(h, "c", []step{{command: `{collMod: "c", validationAction: "warn"}`, options: `{validator: {a: {$type: "string"}}, validationLevel: "moderate", validationAction: "warn"}`}})
	h.OK(`{insert: "c", documents: [{_id: 2, a: 2}]}`)
	runSteps(h, "c", []step{{command: `{collMod: "c", validator: {}, validationAction: "error", validationLevel: "strict"}`, options: `{validationLevel: "strict", validationAction: "error"}`}})
	h.OK(`{insert: "c", documents: [{_id: 3, a: 3}]}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", validator: {$fly: 1}}`, Code: 2, Text: "unknown top level operator: $fly*"},
		{DB: "test", Command: `{collMod: "c", validator: {a: {$near: [0, 0]}}}`, Code: 5626500},
		{DB: "test", Command: `{collMod: "c", validator: 1}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", validationLevel: "lax"}`, Code: 2, Text: "Enumeration value 'lax' for field 'validationLevel' is not a valid value."},
		{DB: "test", Command: `{collMod: "c", validationAction: "none"}`, Code: 2, Text: "Enumeration value 'none' for field 'validationAction' is not a valid value."},
		{DB: "test", Command: `{collMod: "system.js", validator: {}}`, Code: 72, Text: "Document validators not allowed on system collection test.system.js"},
		{DB: "admin", Command: `{collMod: "c", validator: {}}`, Code: 26},
	})
}

// collMod makes capped collections larger and smaller; documents that no longer fit are
// deleted. A limit of documents that is not positive means no limit (the manual, "Resize
// a Capped Collection", and coll_mod.idl).
func TestCollModCapped(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096, max: 5}`)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}]}`)
	runSteps(h, "c", []step{
		{command: `{collMod: "c", cappedSize: 8192}`, reply: `{}`, options: `{capped: true, size: 8192, max: 5}`},
		{command: `{collMod: "c", cappedMax: 2}`, reply: `{}`, options: `{capped: true, size: 8192, max: 2}`},
		{command: `{insert: "c", documents: [{_id: 6}]}`},
	})
	h.Holds("c", `{_id: 5} {_id: 6}`)
	runSteps(h, "c", []step{{command: `{collMod: "c", cappedMax: 0}`, options: `{capped: true, size: 8192, max: 2147483647}`}})
	h.OK(`{insert: "c", documents: [{_id: 7}]}`)
	h.Holds("c", `{_id: 5} {_id: 6} {_id: 7}`)
	h.OK(`{create: "plain"}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "plain", cappedSize: 4096}`, Code: 72, Text: "Collection must be capped."},
		{DB: "test", Command: `{collMod: "c", cappedSize: 0}`, Code: 2, Text: "BSON field 'cappedSize' value must be >= 1, actual value '0'"},
		{DB: "test", Command: `{collMod: "c", cappedSize: {"$numberLong": "1125899906842625"}}`, Code: 2, Text: "BSON field 'cappedSize' value must be <= 1125899906842624, actual value '1125899906842625'"},
		{DB: "test", Command: `{collMod: "c", cappedMax: {"$numberLong": "2147483648"}}`, Code: 2, Text: "BSON field 'cappedMax' value must be < 2147483648, actual value '2147483648'"},
		{DB: "test", Command: `{collMod: "c", cappedSize: "4096"}`, Code: 14},
	})
	m := harness.New(t).AsMember()
	m.Refuses([]harness.Refusal{{DB: "local", Command: `{collMod: "oplog.rs", cappedSize: 1048576}`, Code: 72, Text: "Cannot resize the oplog using this command. Use the 'replSetResizeOplog' command instead."}})
}

// The expiry of a clustered collection (semantics.md 5).
func TestCollModClusteredExpiry(t *testing.T) {
	h := harness.New(t)
	const key = `clusteredIndex: {v: 2, key: {_id: 1}, name: "_id_", unique: true}`
	h.OK(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 100}`)
	h.OK(`{insert: "c", documents: [{_id: {"$date": "2025-12-31T23:59:50Z"}}, {_id: {"$date": "2026-01-01T00:00:00Z"}}]}`)
	h.Pass(0)
	if n := h.Count("c"); n != 2 {
		t.Errorf("%d documents before the change", n)
	}
	runSteps(h, "c", []step{{command: `{collMod: "c", expireAfterSeconds: 10}`, reply: `{}`, options: `{` + key + `, expireAfterSeconds: ` + long + `10"}}`}})
	h.Pass(0)
	if n := h.Count("c"); n != 1 {
		t.Errorf("%d documents after the change", n)
	}
	runSteps(h, "c", []step{
		{command: `{collMod: "c", expireAfterSeconds: 0}`, options: `{` + key + `, expireAfterSeconds: ` + long + `0"}}`},
		{command: `{collMod: "c", expireAfterSeconds: "off"}`, reply: `{}`, options: `{` + key + `}`},
	})
	h.Pass(1000)
	if n := h.Count("c"); n != 1 {
		t.Errorf("%d documents with expiry off", n)
	}
	h.OK(`{create: "plain"}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "plain", expireAfterSeconds: 10}`, Code: 72, Text: "'expireAfterSeconds' option is only supported on collections clustered by _id"},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: "10"}`, Code: 72, Text: "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '10'. Accepted value is 'off'"},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: {}}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: []}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: null}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: -1}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", expireAfterSeconds: {"$numberLong": "9223372036854775807"}}`, Code: 72},
		{DB: "test", Command: `{collMod: "plain", timeseriesBucketsMayHaveMixedSchemaData: true}`, Code: 72},
		{DB: "test", Command: `{collMod: "plain", timeseries: {granularity: "hours"}}`, Code: 72, Text: "option only supported on a time-series collection: timeseries"},
	})
}

// Pre-images that are off are not listed
// (jstests/noPassthrough/change_streams/change_streams_collection_options.js).
func TestCollModPreImages(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "c"}`)
	runSteps(h, "c", []step{
		{command: `{collMod: "c", changeStreamPreAndPostImages: {enabled: true}}`, reply: `{}`, options: `{changeStreamPreAndPostImages: {enabled: true}}`},
		{command: `{collMod: "c", validationLevel: "off"}`, options: `{validationLevel: "off", changeStreamPreAndPostImages: {enabled: true}}`},
		{command: `{collMod: "c", changeStreamPreAndPostImages: {enabled: false}}`, reply: `{}`, options: `{validationLevel: "off"}`},
	})
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", changeStreamPreAndPostImages: {}}`, Code: 40414},
		{DB: "test", Command: `{collMod: "c", changeStreamPreAndPostImages: {enabled: 1, x: 1}}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", changeStreamPreAndPostImages: {enabled: true, x: 1}}`, Code: 40415},
	})
}

// Each command is written to the change log as the client sent it, with the former
// options; a collMod of a view without changes and a dry run are not (the manual's page
// on the event "modify").
func TestCollModIsLogged(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "c", validator: {a: 1}}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.OK(`{collMod: "c", index: {name: "a", prepareUnique: true}}`)
	s := h.Watch("", `{showExpandedEvents: true}`, "")
	h.OK(`{collMod: "c", validationAction: "warn"}`)
	h.OK(`{collMod: "c", index: {name: "a", unique: true}, dryRun: true}`)
	h.OK(`{collMod: "c", index: {name: "a", unique: true}}`)
	events := s.Events()
	if len(events) != 2 {
		t.Fatalf("events %v", events)
	}
	for i, want := range []string{`{validationAction: "warn"}`, `{index: {name: "a", unique: true}}`} {
		if e := events[i]; e.Lookup("operationType").Str() != "modify" || e.Lookup("operationDescription").Doc().CanonicalJSON() != harness.Relaxed(want).CanonicalJSON() {
			t.Errorf("event %d is %s, want %s", i, e, want)
		}
	}
}
