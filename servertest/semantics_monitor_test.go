package servertest_test

import (
	"fmt"
	"strings"
)

// monitorCases are cases 19-28: the monitor and clustered collections.
var monitorCases = []semanticsCase{
	{19, "the sleep", func(s *scene) {
		is(s, "after 59 s", s.admin(`{testClock: 1, advanceSeconds: 59}`).Lookup("passRan").Boolean(), false)
		is(s, "after 60 s", s.admin(`{testClock: 1, advanceSeconds: 1}`).Lookup("passRan").Boolean(), true)
	}},
	{20, "switched off", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.admin(`{setParameter: 1, ttlMonitorEnabled: false}`)
		before := s.status("metrics.ttl.passes")
		s.admin(`{testClock: 1, advanceSeconds: 3600}`)
		s.sees("1", "c")
		is(s, "passes", s.status("metrics.ttl.passes"), before)
		s.adminFails(72, "", `{runExpirationPass: 1}`)
	}},
	{21, "setParameter", func(s *scene) {
		is(s, "was", number(s.admin(`{setParameter: 1, ttlMonitorSleepSecs: 1}`).Lookup("was")), 60)
		s.adminFails(2, "Invalid value for parameter ttlMonitorSleepSecs", `{setParameter: 1, ttlMonitorSleepSecs: 0}`)
		s.adminFails(72, "", `{setParameter: 1, ttlMonitorNoSuchThing: 0}`)
		s.fails(13, "", `{setParameter: 1, ttlMonitorSleepSecs: 2}`)
		is(s, "now", number(s.admin(`{getParameter: 1, ttlMonitorSleepSecs: 1}`).Lookup("ttlMonitorSleepSecs")), 1)
	}},
	{22, "more than a visit removes", func(s *scene) {
		var docs []string
		for i := range 120 {
			docs = append(docs, fmt.Sprintf(`{_id: %d, x: d(0)}`, i))
		}
		s.expiring(10, strings.Join(docs, ", "))
		s.admin(`{setParameter: 1, ttlIndexDeleteTargetDocs: 50}`)
		s.to(10)
		before := s.status("metrics.ttl.passes")
		s.pass()
		s.sees("", "c")
		is(s, "passes", s.status("metrics.ttl.passes"), before+1)
	}},
	{23, "hashed index", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {x: "hashed"}, name: "x_hashed", expireAfterSeconds: 0}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0)}]}`)
		s.pass()
		s.sees("1", "c")
		if n := s.status("metrics.ttl.invalidTTLIndexSkips"); n < 1 {
			s.Errorf("invalidTTLIndexSkips is %d", n)
		}
	}},
	{24, "capped collection", func(s *scene) {
		s.ok(`{create: "c", capped: true, size: 10000}`)
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
	}},
	{25, "dropped and renamed", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.ok(`{createIndexes: "gone", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`)
		s.pass()
		s.ok(`{drop: "gone"}`)
		s.admin(`{renameCollection: "db.c", to: "db.d"}`)
		s.to(10)
		s.pass()
		s.sees("", "d")
		is(s, "deletedDocuments", s.status("metrics.ttl.deletedDocuments"), 1)
	}},
	{26, "clustered", func(s *scene) {
		s.ok(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`)
		s.ok(`{insert: "c", documents: [{_id: d(0)}, {_id: "a"}, {_id: {"$date": "1969-12-31T00:00:00Z"}}]}`)
		s.to(10)
		s.pass()
		is(s, "left", number(s.ok(`{count: "c"}`).Lookup("n")), 2)
		is(s, "first", number(s.ok(`{count: "c", query: {_id: d(0)}}`).Lookup("n")), 0)
	}},
	{27, "clustered values", func(s *scene) {
		s.fails(72, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified", `{create: "c", expireAfterSeconds: 10}`)
		const clustered = `{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: `
		s.fails(72, "cannot be less than 0", clustered+`-10}`)
		s.fails(72, "option cannot exceed time since last epoch", clustered+`1767225601}`)
		s.fails(72, "cannot overflow int64_t when cast as milliseconds", clustered+`4611686018427387904}`)
		s.fails(14, "", clustered+`"10"}`)
		s.ok(clustered + `1767225600}`)
		is(s, "listed", ejson(s.listed("c").Lookup("options")),
			`{"clusteredIndex": {"v": {"$numberInt":"2"},"key": {"_id": {"$numberInt":"1"}},"name": "_id_","unique": true},"expireAfterSeconds": {"$numberLong":"1767225600"}}`)
		is(s, "index", s.index("c", "_id_").Lookup("clustered").Boolean(), true)
	}},
	{28, "clustered off", func(s *scene) {
		s.ok(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`)
		s.ok(`{collMod: "c", expireAfterSeconds: "off"}`)
		is(s, "listed", ejson(s.listed("c").Lookup("options", "expireAfterSeconds")), "missing")
		s.fails(72, "Accepted value is 'off'", `{collMod: "c", expireAfterSeconds: "10"}`)
		s.fails(14, "", `{collMod: "c", expireAfterSeconds: {}}`)
		s.ok(`{create: "plain"}`)
		s.fails(72, "option is only supported on collections clustered by _id", `{collMod: "plain", expireAfterSeconds: 10}`)
		s.ok(`{collMod: "c", expireAfterSeconds: 0}`)
	}},
}

// clockCases are cases 79 and 80: the test clock.
var clockCases = []semanticsCase{
	{79, "no test clock", func(s *scene) {
		plain := unflagged(s)
		plain.adminFails(59, "no such command", `{testClock: 1}`)
		plain.adminFails(59, "no such command", `{runExpirationPass: 1}`)
	}},
	{80, "never backwards", func(s *scene) {
		s.adminFails(2, "the clock cannot move backwards", `{testClock: 1, advanceMillis: -1}`)
		s.adminFails(2, "out of range", `{testClock: 1, advanceMillis: {"$numberLong": "9223372036854775807"}}`)
		s.adminFails(2, "out of range", `{testClock: 1, advanceSeconds: {"$numberLong": "9223372036854775807"}}`)
		s.adminFails(2, "the clock cannot move backwards", `{testClock: 1, set: d(-1)}`)
		s.adminFails(72, "", `{testClock: 1, set: d(1), advanceMillis: 1}`)
		r := s.admin(`{testClock: 1}`)
		is(s, "now", ejson(r.Lookup("now")), `{"$date":{"$numberLong":"1767225600000"}}`)
		is(s, "frozen", r.Lookup("frozen").Boolean(), true)
	}},
}
