package changestream_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// expiry is a policy that removes a document or message with the _id 1.
type expiry struct {
	name, create, insert string
	act                  func(h *harness.Harness) // nil: a pass after a minute
	coll                 string                   // collection of the event
	want                 string                   // expected expiration, without removedAt
}

const (
	at0    = `{"$date": "2026-01-01T00:00:00Z"}`
	due10  = `"dueAt": {"$date": "2026-01-01T00:00:10Z"}`
	insert = `{insert: "c", documents: [{_id: 1, at: ` + at0 + `}]}`
)

var expiries = []expiry{
	{"ttl index", `{createIndexes: "c", indexes: [{key: {at: 1}, name: "x", expireAfterSeconds: 10}]}`, insert, nil, "c", `{"policy": "ttl", ` + due10 + `}`},
	{"ttl index by the array's earliest date", `{createIndexes: "c", indexes: [{key: {at: 1}, name: "x", expireAfterSeconds: 10}]}`,
		`{insert: "c", documents: [{_id: 1, at: [{"$date": "2030-01-01T00:00:00Z"}, ` + at0 + `]}]}`, nil, "c", `{"policy": "ttl", ` + due10 + `}`},
	{"clustered", `{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`, `{insert: "c", documents: [{_id: ` + at0 + `}]}`, nil, "c", `{"policy": "clustered", ` + due10 + `}`},
	{"document ttl", `{create: "c", documentTtl: {default: 10}}`, insert, nil, "c", `{"policy": "documentTtl", ` + due10 + `}`},
	{"document ttl of its own", `{create: "c", documentTtl: {default: -1}}`, `{insert: "c", documents: [{_id: 1, ttl: 10}]}`, nil, "c", `{"policy": "documentTtl", ` + due10 + `}`},
	{"_ts index", `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`, insert, nil, "c", `{"policy": "documentTtl", ` + due10 + `}`},
	{"document ttl, in the way of a write", `{create: "c", documentTtl: {default: 10}}`, insert, func(h *harness.Harness) {
		h.Advance(60)
		h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	}, "c", `{"policy": "documentTtl", ` + due10 + `}`},
	{"moved to dead letters", `{create: "c", documentTtl: {default: 10}, onExpire: {deadLetterTo: "dead"}}`, insert, nil, "c", `{"policy": "documentTtl", ` + due10 + `, "cause": "deadLettered"}`},
	{"message", `{create: "c", messageQueue: {defaultMessageTimeToLive: 10}}`, `{mqSend: "c", messages: [{_id: 1}]}`, nil, "c", `{"policy": "messageQueue", ` + due10 + `, "cause": "dropped"}`},
	{"message, dead-lettered", `{create: "c", messageQueue: {defaultMessageTimeToLive: 10, deadLetteringOnMessageExpiration: true}}`, `{mqSend: "c", messages: [{_id: 1}]}`, nil, "c", `{"policy": "messageQueue", ` + due10 + `, "cause": "deadLettered"}`},
}

// The delete events of each policy have its name and the due time, if the client requests
// expanded events; the change log always has them.
func TestStreamOfPolicies(t *testing.T) {
	for _, tt := range expiries {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(tt.create)
			expanded, plain := h.Watch("", `{"showExpandedEvents": true}`, onlyDeletes), h.Watch("", `{}`, onlyDeletes)
			h.OK(tt.insert)
			if tt.act == nil {
				h.Pass(60)
			} else {
				tt.act(h)
			}
			want := withRemoval(tt.want)
			events := expanded.Events()
			if len(events) != 1 || events[0].Lookup("ns").Doc().Lookup("coll").Str() != tt.coll {
				t.Fatalf("events %v", events)
			}
			if got := events[0].Lookup("expiration").Doc().JSON(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for _, e := range plain.Events() {
				if e.Has("expiration") {
					t.Errorf("without showExpandedEvents %s", e)
				}
			}
			logged := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {op: "d"}}`)))
			if len(logged) == 1 && logged[0].Lookup("expiration").Doc().JSON() != want {
				t.Errorf("the log has %s", logged)
			}
		})
	}
}

const onlyDeletes = `, {"$match": {"operationType": "delete"}}`

// withRemoval adds the time at which a pass after a minute removes the document.
func withRemoval(want string) string {
	d := value.MustJSON(want)
	b := value.NewBuilder()
	for name, v := range d.All() {
		b.Append(name, v)
		if name == "dueAt" {
			b.Date("removedAt", harness.TestStart.UnixMilli()+60_000)
		}
	}
	return b.Doc().JSON()
}

// Streams have no events of time-series buckets, as in mongod; the change log has them.
func TestLogOfExpiredBuckets(t *testing.T) {
	for policy, create := range map[string]string{
		"timeseries":        `{create: "c", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 10}`,
		"partialTimeseries": `{create: "c", timeseries: {timeField: "t", metaField: "m"}}`,
	} {
		t.Run(policy, func(t *testing.T) {
			h := harness.New(t)
			h.OK(create)
			if policy == "partialTimeseries" {
				h.OK(`{createIndexes: "c", indexes: [{key: {t: 1}, name: "x", expireAfterSeconds: 10, partialFilterExpression: {m: 1}}]}`)
			}
			s := h.Watch("", `{"showExpandedEvents": true}`, "")
			h.OK(`{insert: "c", documents: [{t: ` + at0 + `, m: 1}]}`)
			h.Pass(7 * 24 * 3600)
			s.Expect()
			logged := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {op: "d"}}`)))
			if len(logged) != 1 || logged[0].Lookup("expiration").Doc().Lookup("policy").Str() != policy {
				t.Errorf("the log has %v", logged)
			}
		})
	}
}

// The event of a client's delete has no expiration, whether or not the document is due.
func TestStreamOfPlainDeletes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "x", expireAfterSeconds: 10}]}`)
	s := h.Watch("c", `{"showExpandedEvents": true}`, onlyDeletes)
	h.OK(insert)
	h.Advance(30)
	h.OK(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`)
	h.OK(insert)
	h.OK(`{findAndModify: "c", query: {_id: 1}, remove: true}`)
	for i := range 2 {
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}]}`, i))
	}
	h.OK(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
	events := s.Events()
	if len(events) != 4 {
		t.Fatalf("events %v", events)
	}
	for _, e := range events {
		if e.Has("expiration") {
			t.Error(e)
		}
	}
}

// Events show documents as finds do: with _ts if the policy exposes it.
func TestStreamShowsTS(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 1000, exposeTs: true}, changeStreamPreAndPostImages: {enabled: true}}`)
	looking := h.Watch("c", `{"fullDocument": "updateLookup", "fullDocumentBeforeChange": "whenAvailable"}`, "")
	images := h.Watch("c", `{"fullDocument": "whenAvailable"}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1, v: 1}]}`)
	h.Advance(10)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {v: 2}}}]}`)
	h.Advance(10)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {v: 3}}]}`)
	h.OK(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`)
	doc := func(v, second int) string {
		return value.MustJSON(fmt.Sprintf(`{"_id":1,"v":%d,"_ts":{"$numberLong":"%d"}}`, v, 1767225600+second)).String()
	}
	check := func(e value.Doc, field, want string) {
		t.Helper()
		if got := e.Lookup(field).Doc().String(); got != want {
			t.Errorf("%s of %s is %s, want %s", field, e.Lookup("operationType"), got, want)
		}
	}
	events := looking.Events()
	if len(events) != 4 {
		t.Fatal(events)
	}
	check(events[0], "fullDocument", doc(1, 0))
	check(events[2], "fullDocument", doc(3, 20))
	check(events[1], "fullDocumentBeforeChange", doc(1, 0))
	check(events[2], "fullDocumentBeforeChange", doc(2, 10))
	check(events[3], "fullDocumentBeforeChange", doc(3, 20))
	check(images.Events()[1], "fullDocument", doc(2, 10))
	h.OK(`{insert: "c", documents: [{_id: 1, v: 4}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {v: 5}}}]}`)
	check(looking.Events()[1], "fullDocument", doc(5, 20))
}
