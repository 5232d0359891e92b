package servertest_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/servertest"
)

// Every way to write keeps the last write and checks the ttl.
func TestDocumentTTLOfEveryWrite(t *testing.T) {
	for name, write := range map[string]string{
		"$merge":  `{aggregate: "src", pipeline: [{$merge: "c"}], cursor: {}}`,
		"$out":    `{aggregate: "src", pipeline: [{$out: "c"}], cursor: {}}`,
		"replace": `{update: "c", updates: [{q: {_id: 1}, u: {b: 1}}]}`,
		"fam":     `{findAndModify: "c", query: {_id: 1}, update: {$set: {b: 1}}}`,
		"upsert":  `{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}, upsert: true}]}`,
		"many":    `{update: "c", updates: [{q: {}, u: [{$set: {b: 1}}], multi: true}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.ok(`{insert: "src", documents: [{_id: 1, a: 1}]}`)
			s.ttl(`{default: 10}`, `{_id: 1}`)
			s.to(8)
			s.ok(write)
			s.to(17.999)
			s.sees("1", "c")
			s.to(18)
			s.sees("", "c")
			is(s, "policy", number(s.listed("c").Lookup("options", "documentTtl", "default")), 10)
		})
	}
}

func TestDocumentTTLOfBulkWrite(t *testing.T) {
	s := newScene(t)
	s.ttl(`{default: 10}`, `{_id: 1}`)
	s.to(8)
	s.admin(`{bulkWrite: 1, ops: [{update: 0, filter: {_id: 1}, updateMods: {$set: {a: 1}}}, {insert: 0, document: {_id: 2, ttl: 3}}], nsInfo: [{ns: "db.c"}]}`)
	s.to(11)
	s.sees("1", "c")
	s.to(18)
	s.sees("", "c")
}

// The documents of $merge and $out are checked like any other write.
func TestDocumentTTLRejectsInPipelines(t *testing.T) {
	s := newScene(t)
	s.ok(`{insert: "src", documents: [{_id: 1, ttl: 0}]}`)
	s.ttl(`{default: 10}`, `{_id: 5}`)
	for _, stage := range []string{"$merge", "$out"} {
		s.fails(2, "The input ttl '0' is invalid", `{aggregate: "src", pipeline: [{`+stage+`: "c"}], cursor: {}}`)
	}
	s.sees("5", "c")
}

// Counts of all kinds leave out expired documents.
func TestDocumentTTLCounts(t *testing.T) {
	s := newScene(t)
	s.ttl(`{default: 10}`, `{_id: 1, a: 1}, {_id: 2, a: 2, ttl: 100}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	s.to(10)
	n, err := s.db.Collection("c").EstimatedDocumentCount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is(s, "estimated", n, 1)
	is(s, "$count", number(s.first(`{aggregate: "c", pipeline: [{$count: "n"}], cursor: {}}`).Lookup("n")), 1)
	is(s, "$group", number(s.first(`{aggregate: "c", pipeline: [{$group: {_id: null, n: {$sum: 1}}}], cursor: {}}`).Lookup("n")), 1)
	is(s, "distinct", ejson(s.ok(`{distinct: "c", key: "a"}`).Lookup("values")), `[{"$numberInt":"2"}]`)
	is(s, "by index", len(s.batch(`{find: "c", filter: {a: {$gte: 0}}, hint: "a_1"}`)), 1)
	is(s, "covered", len(s.batch(`{find: "c", filter: {a: {$gte: 0}}, projection: {_id: 0, a: 1}, hint: "a_1"}`)), 1)
	is(s, "collStats", number(s.ok(`{collStats: "c"}`).Lookup("count")), 2)
	is(s, "$facet", len(elements(s.first(`{aggregate: "c", pipeline: [{$facet: {x: [{$match: {}}]}}], cursor: {}}`).Lookup("x"))), 1)
}

// A unique key of an expired document is free.
func TestDocumentTTLUniqueKey(t *testing.T) {
	s := newScene(t)
	s.ttl(`{default: 10}`, `{_id: 1, a: 1}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", unique: true}]}`)
	s.fails(11000, "", `{insert: "c", documents: [{_id: 2, a: 1}]}`)
	s.to(10)
	s.ok(`{insert: "c", documents: [{_id: 2, a: 1}]}`)
	s.sees("2", "c")
	is(s, "purged", s.status("metrics.expiration.documentTtl.purged"), 1)
}

// The index on _ts, its rules and its conversion (semantics.md 8.1).
func TestTSIndexRules(t *testing.T) {
	s := newScene(t)
	for _, option := range []string{`unique: true`, `sparse: true`, `partialFilterExpression: {a: 1}`, `collation: {locale: "fr"}`} {
		s.fails(67, "", `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5, `+option+`}]}`)
	}
	s.ok(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1"}]}`)
	is(s, "ordinary", ejson(s.listed("c").Lookup("options")), `{}`)
	s.ok(`{insert: "c", documents: [{_id: 1}]}`)
	r := s.ok(`{collMod: "c", index: {name: "_ts_1", expireAfterSeconds: 30}}`)
	is(s, "new", ejson(r.Lookup("expireAfterSeconds_new")), `{"$numberLong":"30"}`)
	is(s, "converted", number(s.listed("c").Lookup("options", "documentTtl", "default")), 30)
	s.fails(72, "", `{collMod: "c", index: {name: "_ts_1", expireAfterSeconds: 0}}`)
	s.to(30)
	s.sees("", "c")
	s.ok(`{dropIndexes: "c", index: "*"}`)
	is(s, "off", ejson(s.listed("c").Lookup("options")), `{}`)
	s.sees("", "c")
	s.admin(`{setParameter: 1, documentTtlStrictTsOnly: true}`)
	s.fails(2, "The 'expireAfterSeconds' option is supported on '_ts' field only.", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 5}]}`)
	s.ok(`{create: "d", documentTtl: {default: 7}}`)
	is(s, "synthesised", number(s.index("d", "_ts_1").Lookup("expireAfterSeconds")), 7)
	s.ok(`{dropIndexes: "d", index: {_ts: 1}}`)
	is(s, "dropped", len(s.batch(`{listIndexes: "d"}`)), 1)
}

// Combinations that are refused (semantics.md 10).
func TestRefusedCombinations(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "capped", capped: true, size: 4096}`)
	s.ok(`{create: "p4", documentTtl: {default: 5}}`)
	for _, tt := range []struct {
		code    int
		command string
	}{
		{72, `{create: "c", documentTtl: {default: 5}, capped: true, size: 4096}`},
		{72, `{create: "c", documentTtl: {default: 5}, viewOn: "p4"}`},
		{72, `{collMod: "capped", documentTtl: {default: 5}}`},
		{72, `{convertToCapped: "p4", size: 4096}`},
		{72, `{createIndexes: "capped", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`},
		{85, `{createIndexes: "p4", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 6}]}`},
		{72, `{create: "c", onExpire: {deadLetterTo: "d"}, messageQueue: {}}`},
	} {
		s.fails(tt.code, "", tt.command)
	}
}

// The server's own indexes and collections are seen nowhere.
func TestInternalsAreHidden(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "ts", timeseries: {timeField: "time", metaField: "m"}, expireAfterSeconds: 5}`)
	s.ok(`{create: "doc", documentTtl: {default: 5}}`)
	s.queue(`{}`)
	s.ok(`{customAction: "CreateCollection", collection: "cosmos"}`)
	for coll, want := range map[string]int{"ts": 1, "system.buckets.ts": 1, "doc": 2, "q": 1, "q.deadletterqueue": 1} {
		is(s, "listIndexes of "+coll, len(s.batch(`{listIndexes: %q}`, coll)), want)
		is(s, "nindexes of "+coll, number(s.ok(`{collStats: %q}`, coll).Lookup("nindexes")), int64(want))
		is(s, "$indexStats of "+coll, len(s.batch(`{aggregate: %q, pipeline: [{$indexStats: {}}], cursor: {}}`, coll)), want)
		r := s.ok(`{validate: %q}`, coll)
		is(s, "validate "+coll, r.Lookup("valid").Boolean(), true)
		is(s, "validate nIndexes of "+coll, number(r.Lookup("nIndexes")), int64(want))
	}
	for _, c := range s.batch(`{listCollections: 1}`) {
		if strings.Contains(c.String(), "$cosmos") || strings.Contains(c.String(), "$mq") {
			t.Errorf("listed: %s", c)
		}
	}
	s.fails(73, "", `{find: "$mq"}`)
}

// Time series: commands on buckets and indexes.
func TestSeriesSurface(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "c", timeseries: {timeField: "time", metaField: "m"}}`)
	var docs []string
	for i := range 1500 {
		docs = append(docs, fmt.Sprintf(`{time: d(%d), m: %d, v: %d}`, i%60, i%3/2, i))
	}
	s.ok(`{insert: "c", documents: [` + strings.Join(docs, ",") + `]}`)
	for _, b := range s.batch(`{find: "system.buckets.c"}`) {
		if v := b.Lookup("control", "version"); number(v) != 1 || b.Lookup("data", "v").Type != bson.TypeEmbeddedDocument {
			t.Errorf("a bucket is shown as version %s", v)
		}
	}
	is(s, "by meta", number(s.ok(`{delete: "c", deletes: [{q: {m: 0}, limit: 0}]}`).Lookup("n")), 1000)
	is(s, "left", s.count("c"), 500)
	is(s, "one", number(s.ok(`{delete: "c", deletes: [{q: {m: 1}, limit: 1}]}`).Lookup("n")), 1)
	is(s, "some", number(s.ok(`{delete: "c", deletes: [{q: {v: {$lt: 600}}, limit: 0}]}`).Lookup("n")) > 0, true)
	is(s, "all", number(s.ok(`{delete: "c", deletes: [{q: {}, limit: 0}]}`).Lookup("n")) > 0, true)
	is(s, "none", s.count("system.buckets.c"), 0)

	s.ok(`{createIndexes: "c", indexes: [{key: {time: 1}, name: "p", expireAfterSeconds: 1, partialFilterExpression: {m: {$gt: 5}}}]}`)
	s.ok(`{dropIndexes: "c", index: {time: 1}}`)
	is(s, "dropped by key", s.index("c", "p") == nil, true)
	s.fails(27, "can't find index with key", `{dropIndexes: "c", index: {time: 1}}`)
	s.fails(72, "Cannot perform a findAndModify with a query and sort", `{findAndModify: "c", query: {m: 1}, sort: {m: 1}, remove: true}`)
	s.ok(`{insert: "c", documents: [{time: d(0), m: 1, v: 7}]}`)
	is(s, "removed", number(s.ok(`{findAndModify: "c", query: {v: 7}, remove: true}`).Lookup("value", "v")), 7)
	is(s, "left after that", s.count("c"), 0)
}

// The expiry of everything goes on after a restart: policies, last writes,
// locks, schedules, idle clocks.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	first := servertest.Run(t, servertest.Dir(dir), servertest.At(servertest.Start))
	s := connect(t, first)
	s.expiring(10, `{_id: 1, x: d(0)}`)
	s.ok(`{create: "doc", documentTtl: {default: 10}}`)
	s.ok(`{insert: "doc", documents: [{_id: 1}, {_id: 2, ttl: 100}]}`)
	s.ok(`{create: "cl", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`)
	s.ok(`{insert: "cl", documents: [{_id: d(0)}]}`)
	s.ok(`{create: "ts", timeseries: {timeField: "time"}, expireAfterSeconds: 10}`)
	s.ok(`{insert: "ts", documents: [{time: d(-3600)}]}`)
	s.queue(`{lockDuration: 30, autoDeleteOnIdle: 300}`)
	s.ok(`{insert: "q", documents: [{_id: 1}, {_id: 2, _mq: {scheduledEnqueueTimeUtc: d(100)}}]}`)
	lock := token(s.messages(`{mqReceive: "q"}`)[0])
	s.leave()
	first.Stop()

	s = connect(t, servertest.Run(t, servertest.Dir(dir), servertest.At(at(12))))
	s.sees("2", "doc")
	s.ok(`{mqComplete: "q", lockToken: %s}`, lock)
	is(s, "scheduled", number(s.ok(`{mqStats: "q"}`).Lookup("scheduled")), 1)
	s.pass()
	s.sees("", "c")
	is(s, "clustered", s.count("cl"), 0)
	is(s, "series", s.count("ts"), 0)
	is(s, "stored", number(s.ok(`{collStats: "doc"}`).Lookup("count")), 1)
	s.to(100)
	m := s.messages(`{mqReceive: "q"}`)
	is(s, "due", len(m), 1)
	is(s, "number", number(m[0].Lookup("_mq", "sequenceNumber")), 3)
	s.ok(`{mqComplete: "q", lockToken: %s}`, token(m[0]))
	s.to(399)
	s.pass()
	is(s, "queue", s.listed("q") != nil, true)
	s.to(400)
	s.pass()
	is(s, "idle queue", s.listed("q") == nil, true)
}

// The forecast and the metrics read the expiry indexes.
func TestForecast(t *testing.T) {
	s := newScene(t)
	s.expiring(10, `{_id: 1, x: d(0)}, {_id: 2, x: d(50)}, {_id: 3, x: "never"}`)
	s.ok(`{create: "doc", documentTtl: {default: 20}}`)
	s.ok(`{insert: "doc", documents: [{_id: 1}, {_id: 2, ttl: 90}, {_id: 3, ttl: -1}]}`)
	s.to(15)
	r := s.ok(`{expirationStats: "c", horizonSeconds: 100, buckets: 10}`)
	p := elements(elements(r.Lookup("collections"))[0].Lookup("policies"))[0]
	is(s, "pending", number(p.Lookup("pending")), 2)
	is(s, "overdue", number(p.Lookup("overdue")), 1)
	is(s, "next", p.Lookup("nextDue").Time().UTC(), at(60))
	all := s.ok(`{expirationStats: 1}`)
	is(s, "collections", len(elements(all.Lookup("collections"))), 2)
	s.fails(26, "", `{expirationStats: "nowhere"}`)
	s.fails(2, "", `{expirationStats: 1, buckets: 0}`)
}

// The second of the last write is kept while the policy is off, and any
// update that matches is a write (semantics.md 7.1, 7.3).
func TestLastWriteWithoutPolicy(t *testing.T) {
	s := newScene(t)
	s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}, {_id: 3, a: 1}]}`)
	s.to(50)
	is(s, "nModified", number(s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}, {q: {_id: 2}, u: {$set: {a: 2}}}]}`).Lookup("nModified")), 1)
	s.to(60)
	s.ok(`{collMod: "c", documentTtl: {default: 20, exposeTs: true}}`)
	s.sees("1 2", "c")
	is(s, "_ts", number(s.first(`{find: "c", filter: {_id: 1}}`).Lookup("_ts")), at(50).Unix())
	s.to(70)
	s.sees("", "c")
}

// Counts leave out expired documents, whether they read documents, an index or only the
// number of documents (semantics.md 7.4).
func TestCountsOfExpiring(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "c", documentTtl: {default: 10}}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1, ttl: 5}, {_id: 3, a: 1, ttl: -1}, {_id: 4, a: 2, ttl: 20}]}`)
	for _, want := range []struct {
		at                 float64
		all, entries, some int64
	}{{4.999, 4, 3, 4}, {5, 3, 2, 3}, {9.999, 3, 2, 3}, {10, 2, 1, 2}, {20, 1, 1, 1}} {
		s.to(want.at)
		is(s, "all", number(s.ok(`{count: "c"}`).Lookup("n")), want.all)
		is(s, "of an index", number(s.ok(`{count: "c", query: {a: 1}}`).Lookup("n")), want.entries)
		is(s, "of documents", number(s.ok(`{count: "c", query: {_id: {$gt: 0}, zero: null}}`).Lookup("n")), want.some)
		is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), 4)
	}
}
