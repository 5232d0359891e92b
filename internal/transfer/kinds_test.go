package transfer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/servertest"
	"github.com/duskdb/duskdb/value"
)

// longName is so long that mongodump cuts it in the names of files.
var longName = strings.Repeat("ö", 90)

// everyKind makes collections of every kind in several databases: commands on them.
var everyKind = []struct{ db, command string }{
	{"app", `{create: "plain"}`},
	{"app", `{insert: "plain", documents: [{_id: 1, n: 10, s: "one", at: {$date: "2026-01-01T00:00:00Z"}, p: [1, 2]}, {_id: 2, n: 20, t: {$timestamp: {t: 0, i: 0}}, l: {$numberLong: "5"}}]}`},
	{"app", `{createIndexes: "plain", indexes: [
		{key: {at: 1}, name: "ttl", expireAfterSeconds: 86400},
		{key: {at: -1}, name: "ttl, partial", expireAfterSeconds: 0, partialFilterExpression: {n: {$gt: 100}}},
		{key: {n: 1}, name: "unique", unique: true, sparse: true},
		{key: {n: -1}, name: "hidden", hidden: true},
		{key: {s: "text"}, name: "text", weights: {s: 3}, default_language: "german", language_override: "lang"},
		{key: {p: "2d"}, name: "2d", min: -10, max: 10, bits: 20},
		{key: {g: "2dsphere"}, name: "sphere"},
		{key: {"w.$**": 1}, name: "wildcard"},
		{key: {h: "hashed"}, name: "hashed"},
		{key: {s: 1, n: 1}, name: "collated", collation: {locale: "de", strength: 1}}]}`},
	{"app", `{create: "collated", collation: {locale: "en", strength: 2}}`},
	{"app", `{createIndexes: "collated", indexes: [{key: {a: 1}, name: "inherits"}, {key: {b: 1}, name: "simple", collation: {locale: "simple"}}]}`},
	{"app", `{create: "capped", capped: true, size: 4096, max: 3}`},
	{"app", `{insert: "capped", documents: [{_id: 3}, {_id: 1}, {_id: 2}]}`},
	{"app", `{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true, name: "by id"}, expireAfterSeconds: 3600}`},
	{"app", `{insert: "clustered", documents: [{_id: {$date: "2026-01-01T00:00:00Z"}}]}`},
	{"app", `{create: "checked", validator: {n: {$gt: 0}}, validationLevel: "moderate", validationAction: "warn"}`},
	{"app", `{insert: "checked", documents: [{_id: 1, n: 1}]}`},
	{"app", `{create: "empty"}`},
	{"app", `{create: "short lived", documentTtl: {default: 600}}`},
	{"app", `{insert: "short lived", documents: [{_id: 1}, {_id: 2, ttl: 30}]}`},
	{"app", `{create: "cosmos"}`},
	{"app", `{createIndexes: "cosmos", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`},
	{"app", `{create: "moved", onExpire: {deadLetterTo: "plain"}}`},
	{"app", `{create: "w", timeseries: {timeField: "ts", metaField: "s", granularity: "minutes"}, expireAfterSeconds: 86400}`},
	{"app", `{insert: "w", documents: [{ts: {$date: "2026-01-01T00:00:00Z"}, s: 1, _id: 1, v: 1}, {ts: {$date: "2026-01-01T00:00:00Z"}, s: 1, _id: 2, v: {x: [1, "a"]}}, {ts: {$date: "2026-01-01T00:00:00Z"}, s: 2, _id: 3}]}`},
	{"app", `{createIndexes: "w", indexes: [{key: {s: 1, ts: -1}, name: "by sensor"}, {key: {ts: 1}, name: "ttl", expireAfterSeconds: 3600, partialFilterExpression: {s: {$gt: 5}}}]}`},
	{"app", `{create: "without meta", timeseries: {timeField: "ts", bucketMaxSpanSeconds: 60, bucketRoundingSeconds: 60}}`},
	{"app", `{insert: "without meta", documents: [{ts: {$date: "2026-01-01T00:00:00Z"}, _id: 1, v: 1.5}]}`},
	{"app", `{create: "empty series", timeseries: {timeField: "ts"}}`},
	{"app", `{create: "view", viewOn: "plain", pipeline: [{$match: {n: {$gt: 5}}}], collation: {locale: "fr"}}`},
	{"app", `{create: "view of a view", viewOn: "view", pipeline: [{$project: {n: 1}}], collation: {locale: "fr"}}`},
	{"app", `{create: "view of measurements", viewOn: "w", pipeline: []}`},
	{"app", `{create: "jobs", messageQueue: {lockDuration: "PT1M", maxDeliveryCount: 1, defaultMessageTimeToLive: "P1D"}}`},
	{"app", `{mqSend: "jobs", messages: [{_id: 1, task: "dead"}, {_id: 2, task: "locked"}]}`},
	{"app", `{mqReceive: "jobs", maxMessages: 2}`},
	{"app", `{mqSend: "jobs", messages: [{_id: 3, task: "ready"}, {_id: 4, task: "later", _mq: {scheduledEnqueueTimeUtc: {$date: "2026-01-02T00:00:00Z"}}}]}`},
	{"app", `{createIndexes: "jobs", indexes: [{key: {task: 1}, name: "task"}]}`},
	{"app", `{insert: "system.js", documents: [{_id: "f", value: {$code: "function() { return 1 }"}}]}`},
	{"app", `{insert: "per%cent + space/slash:colon", documents: [{_id: 1}]}`},
	{"app", `{insert: "a+b", documents: [{_id: 1}]}`},
	{"app", `{insert: "Größe.名", documents: [{_id: 1}]}`},
	{"app", `{insert: "` + longName + `", documents: [{_id: 1}]}`},
	{"app", `{create: "` + longName + `w", timeseries: {timeField: "ts"}}`},
	{"app", `{insert: "` + longName + `w", documents: [{ts: {$date: "2026-01-01T00:00:00Z"}, _id: 1}]}`},
	{"other", `{insert: "plain", documents: [{_id: "other"}]}`},
	{"admin", `{insert: "mine", documents: [{_id: "of admin"}]}`},
	{"app", `{createRole: "reader", privileges: [{resource: {db: "app", collection: "plain"}, actions: ["find"]}], roles: ["read"]}`},
	{"app", `{createUser: "ada", pwd: "secret", roles: ["reader"], customData: {x: 1}}`},
	{"admin", `{createUser: "root", pwd: "secret", roles: ["root"]}`},
}

// run runs a command and returns the reply.
func (s scene) run(t *testing.T, db, command string) value.Doc {
	t.Helper()
	b := value.NewBuilder()
	for name, v := range relaxed.MustDoc(command).All() {
		b.Append(name, v)
	}
	if strings.HasPrefix(command, "{insert") {
		b.Bool("bypassEmptyTsReplacement", true)
	}
	reply, err := s.conn.Run(b.String("$db", db).Doc())
	if err != nil || reply.Has("writeErrors") {
		t.Fatalf("%s: %v, %s", command, err, reply)
	}
	return reply
}

// still is a server whose clock stands at a known instant, so that dumps of it are alike.
func still(t *testing.T) scene {
	t.Helper()
	srv := servertest.Run(t, servertest.At(servertest.Start))
	conn, err := transfer.Dial(srv.URI(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return scene{srv, conn}
}

// fill makes everyKind: one of the two messages that are received becomes a dead letter.
func (s scene) fill(t *testing.T) {
	t.Helper()
	for _, c := range everyKind {
		reply := s.run(t, c.db, c.command)
		if strings.HasPrefix(c.command, "{mqReceive") {
			token := reply.Lookup("messages").Doc().Index(0).Doc().Lookup("_mq").Doc().Lookup("lockToken")
			if _, err := s.conn.Run(value.NewDoc("mqDeadLetter", value.String("jobs"), "lockToken", token, "reason", value.String("bad"), "$db", value.String(c.db))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// state is what can be seen of databases: options, indexes and documents by namespace,
// and users and roles.
func (s scene) state(t *testing.T, dbs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list := func(db, command, array string) (docs []value.Doc) {
		reply := s.run(t, db, command)
		for v := range reply.Lookup("cursor").Doc().Lookup(array).Doc().Values() {
			docs = append(docs, v.Doc())
		}
		return docs
	}
	for _, db := range dbs {
		for _, info := range list(db, `{listCollections: 1}`, "firstBatch") {
			name := info.Lookup("name").Str()
			if strings.HasPrefix(name, "system.buckets.") || name == "system.views" || db == "admin" && strings.HasPrefix(name, "system.") {
				continue
			}
			ns := db + "." + name
			out[ns+" options"] = info.Lookup("type").String() + " " + info.Lookup("options").String()
			if info.Lookup("type").Str() != "view" {
				for _, spec := range list(db, `{listIndexes: "`+name+`"}`, "firstBatch") {
					out[ns+" index "+spec.Lookup("name").String()] = spec.String()
				}
			}
			var docs []string
			for _, d := range list(db, `{find: "`+name+`"}`, "firstBatch") {
				docs = append(docs, d.String())
			}
			out[ns+" documents"] = strings.Join(docs, "\n")
		}
		for _, what := range []string{`{usersInfo: 1}`, `{rolesInfo: 1, showPrivileges: true}`} {
			b := value.NewBuilder()
			for name, v := range s.run(t, db, what).All() {
				if name == "users" || name == "roles" {
					b.StartArray(name)
					for u := range v.Doc().Values() {
						b.StartDocument("")
						for field, v := range u.Doc().All() {
							if field != "userId" {
								b.Append(field, v)
							}
						}
						b.End()
					}
					b.End()
				}
			}
			out[db+" "+what] = b.Doc().String()
		}
	}
	return out
}

var allDatabases = []string{"app", "other", "admin"}

// differences compares two states.
func differences(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing: %s", what, name, w)
		} else if g != w {
			t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, g, w)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s was not there: %s", what, name, g)
		}
	}
}
