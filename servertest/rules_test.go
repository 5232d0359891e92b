package servertest_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/servertest"
)

// The server has one clock for all times (semantics.md 2.1).
func TestOneClock(t *testing.T) {
	s := newScene(t)
	s.to(5000)
	now := at(5000)
	s.ok(`{update: "c", updates: [{q: {a: 1}, u: {$currentDate: {d: true, ts: {$type: "timestamp"}}}, upsert: true}]}`)
	d := s.first(`{find: "c"}`)
	is(s, "generated _id", d.Lookup("_id").ObjectID().Timestamp().UTC(), now)
	is(s, "$currentDate", d.Lookup("d").Time().UTC(), now)
	seconds, _ := d.Lookup("ts").Timestamp()
	is(s, "timestamp", int64(seconds), now.Unix())
	is(s, "$$NOW", s.first(`{aggregate: "c", pipeline: [{$project: {n: "$$NOW"}}], cursor: {}}`).Lookup("n").Time().UTC(), now)
	is(s, "hello.localTime", s.admin(`{hello: 1}`).Lookup("localTime").Time().UTC(), now)
	is(s, "serverStatus.localTime", s.admin(`{serverStatus: 1}`).Lookup("localTime").Time().UTC(), now)
	s.queue(`{lockDuration: 30}`)
	s.ok(`{insert: "q", documents: [{_id: 1}]}`)
	m := s.messages(`{mqReceive: "q"}`)[0]
	is(s, "enqueued", m.Lookup("_mq", "enqueuedTimeUtc").Time().UTC(), now)
	is(s, "locked until", m.Lookup("_mq", "lockedUntilUtc").Time().UTC(), now.Add(30*time.Second))
}

// Without the monitor nothing is removed in the background; expired documents stay
// invisible, and expired messages cannot be received (semantics.md 4.2).
func TestMonitorOff(t *testing.T) {
	s := newScene(t)
	s.admin(`{setParameter: 1, ttlMonitorEnabled: false}`)
	s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2}`)
	s.queue(`{defaultMessageTimeToLive: 10, autoDeleteOnIdle: 300}`)
	s.ok(`{insert: "q", documents: [{_id: 1}]}`)
	s.admin(`{testClock: 1, advanceSeconds: 1000}`)
	s.sees("", "c")
	is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), 2)
	is(s, "messages", s.count("q"), 1)
	is(s, "receivable", len(s.messages(`{mqReceive: "q"}`)), 0)
	is(s, "the receive removed it", s.count("q"), 0)
	s.ok(`{insert: "c", documents: [{_id: 1}]}`)
	is(s, "the insert removed one", number(s.ok(`{collStats: "c"}`).Lookup("count")), 2)
	is(s, "passes", s.status("metrics.ttl.passes"), 0)
}

// Changing and removing ttl, and reading (semantics.md 7.3).
func TestChangesOfTTL(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		gone          float64 // when it expires; 0 is never
	}{
		{"longer", `{update: "c", updates: [{q: {_id: 1}, u: {$set: {ttl: 100}}}]}`, 105},
		{"opted out", `{update: "c", updates: [{q: {_id: 1}, u: {$set: {ttl: -1}}}]}`, 0},
		{"removed: the default", `{update: "c", updates: [{q: {_id: 1}, u: {$unset: {ttl: 1}}}]}`, 15},
		{"read", `{find: "c", filter: {_id: 1}}`, 50},
		{"a write that matches nothing", `{update: "c", updates: [{q: {_id: 1, a: 7}, u: {$set: {a: 1}}}]}`, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.ttl(`{default: 10}`, `{_id: 1, ttl: 50}`)
			s.to(5)
			s.ok(tt.command)
			if tt.gone == 0 {
				s.to(1e6)
				s.sees("1", "c")
				return
			}
			s.to(tt.gone - 0.001)
			s.sees("1", "c")
			s.to(tt.gone)
			s.sees("", "c")
		})
	}
}

// With several TTL indexes, each with its own filter, a document is removed when the
// first of them expires it; the deletes are ordinary ones (semantics.md 3.2, 3.4).
func TestSeveralTTLIndexes(t *testing.T) {
	s := newScene(t)
	s.ok(`{createIndexes: "c", indexes: [
		{key: {x: 1}, name: "all", expireAfterSeconds: 100},
		{key: {x: 1}, name: "done", expireAfterSeconds: 10, partialFilterExpression: {done: true}},
		{key: {y: -1}, name: "y", expireAfterSeconds: 20, sparse: true},
		{key: {z: 1}, name: "z", unique: true}]}`)
	s.ok(`{insert: "c", documents: [{_id: 1, x: d(0), z: 1}, {_id: 2, x: d(0), done: true, z: 2}, {_id: 3, x: d(0), y: d(0), z: 3}, {_id: 4, y: d(1000), z: 4}]}`)
	for _, step := range []struct {
		at   float64
		left string
	}{{10, "1 3 4"}, {20, "1 4"}, {100, "4"}} {
		s.to(step.at)
		s.pass()
		s.sees(step.left, "c")
	}
	is(s, "deletedDocuments", s.status("metrics.ttl.deletedDocuments"), 3)
	// _id, all, done or y, and z; sparse y has no entry of a document without it.
	is(s, "deletedKeys", s.status("metrics.ttl.deletedKeys"), 3+4+4)
	s.ok(`{insert: "c", documents: [{_id: 5, z: 1}]}`) // the unique key is free
}

// Collections in internal namespaces cannot have a policy (semantics.md 10), except that
// collections of config can have TTL indexes, as mongod's own do.
func TestInternalNamespacesTakeNoTTL(t *testing.T) {
	s := newScene(t)
	for _, ns := range []struct{ db, coll string }{{"admin", "system.users"}, {"config", "system.sessions"}, {"local", "oplog.rs"}} {
		s.db = s.client.Database(ns.db)
		for _, command := range []string{
			`{createIndexes: "` + ns.coll + `", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`,
			`{createIndexes: "` + ns.coll + `", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`,
			`{create: "` + ns.coll + `", documentTtl: {default: 10}}`,
			`{collMod: "` + ns.coll + `", documentTtl: {default: 10}}`,
		} {
			if r, err := s.run(command); err == nil {
				t.Errorf("%s on %s: %s", command, ns.db, r)
			}
		}
	}
	s.db = s.client.Database("config")
	s.ok(`{createIndexes: "tenantMigrationDonors", indexes: [{key: {expireAt: 1}, name: "ttl", expireAfterSeconds: 0}]}`)
	s.ok(`{insert: "tenantMigrationDonors", documents: [{_id: 1, expireAt: d(0)}, {_id: 2}]}`)
	s.pass()
	s.sees("2", "tenantMigrationDonors")
}

// With documentTtlTsIndex off, _ts is a field like others (semantics.md 4.2).
func TestTSIndexIsOrdinary(t *testing.T) {
	s := newScene(t, servertest.Parameter("documentTtlTsIndex", "false"))
	s.fails(67, "cannot be less than 0", `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: -1}]}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`)
	s.ok(`{insert: "c", documents: [{_id: 1, _ts: d(0)}, {_id: 2, _ts: d(5)}, {_id: 3}]}`)
	is(s, "_ts", s.first(`{find: "c"}`).Lookup("_ts").Type, bson.TypeDateTime)
	is(s, "options", ejson(s.listed("c").Lookup("options")), `{}`)
	s.to(10)
	s.sees("1 2 3", "c")
	s.pass()
	s.sees("2 3", "c")
}
