package servertest_test

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// threeDocs are three documents: without ttl, with -1, and with 2000 s.
const threeDocs = `{_id: 1}, {_id: 2, ttl: -1}, {_id: 3, ttl: 2000}`

// documentCases are cases 44-64: document TTL by its option, by the index on
// _ts, and by customAction.
var documentCases = []semanticsCase{
	{44, "with a default", func(s *scene) {
		s.ttl(`{default: 1000}`, threeDocs)
		s.to(1000)
		s.sees("2 3", "c")
		s.to(2000)
		s.sees("2", "c")
	}},
	{45, "without a default", func(s *scene) {
		s.ttl(`{default: -1}`, threeDocs)
		s.to(1000)
		s.sees("1 2 3", "c")
		s.to(2000)
		s.sees("1 2", "c")
	}},
	{46, "policy off", func(s *scene) {
		s.ok(`{insert: "c", documents: [` + threeDocs + `]}`)
		s.to(1e9)
		s.pass()
		s.sees("1 2 3", "c")
	}},
	{47, "whole seconds", func(s *scene) {
		s.to(0.9)
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.to(9.999)
		s.sees("1", "c")
		s.to(10)
		s.sees("", "c")
	}},
	{48, "an update restarts", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.to(8.5)
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`)
		s.to(17.999)
		s.sees("1", "c")
		s.to(18)
		s.sees("", "c")
	}},
	{49, "so does one that changes nothing", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, a: 1}`)
		s.to(8.5)
		r := s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`)
		is(s, "n", number(r.Lookup("n")), 1)
		is(s, "nModified", number(r.Lookup("nModified")), 0)
		s.to(17.999)
		s.sees("1", "c")
	}},
	{50, "an expired document does not exist", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, a: 1}`)
		s.ok(`{insert: "other", documents: [{_id: 1, of: 1}]}`)
		s.to(10)
		is(s, "update", number(s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}`).Lookup("n")), 0)
		is(s, "updateMany", number(s.ok(`{update: "c", updates: [{q: {}, u: {$set: {a: 2}}, multi: true}]}`).Lookup("n")), 0)
		is(s, "delete", number(s.ok(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`).Lookup("n")), 0)
		is(s, "findAndModify", s.ok(`{findAndModify: "c", query: {_id: 1}, remove: true}`).Lookup("value").Type, bson.TypeNull)
		is(s, "count", s.count("c"), 0)
		is(s, "count with a filter", number(s.ok(`{count: "c", query: {_id: 1}}`).Lookup("n")), 0)
		is(s, "distinct", ejson(s.ok(`{distinct: "c", key: "a"}`).Lookup("values")), "[]")
		for _, stage := range []string{
			`{$lookup: {from: "c", localField: "of", foreignField: "_id", as: "x"}}`,
			`{$lookup: {from: "c", pipeline: [], as: "x"}}`,
			`{$graphLookup: {from: "c", startWith: "$of", connectFromField: "a", connectToField: "_id", as: "x"}}`,
		} {
			is(s, stage, ejson(s.first(`{aggregate: "other", pipeline: [`+stage+`], cursor: {}}`).Lookup("x")), "[]")
		}
		is(s, "$unionWith", len(s.batch(`{aggregate: "other", pipeline: [{$unionWith: "c"}], cursor: {}}`)), 1)
		r := s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 3}}, upsert: true}]}`)
		is(s, "upserted", number(elements(r.Lookup("upserted"))[0].Lookup("_id")), 1)
		is(s, "a", number(s.first(`{find: "c"}`).Lookup("a")), 3)
	}},
	{51, "its _id is free", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.to(10)
		is(s, "n", number(s.ok(`{insert: "c", documents: [{_id: 1, b: 1}]}`).Lookup("n")), 1)
		s.sees("1", "c")
	}},
	{52, "open cursor", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2, ttl: 5}`)
		cur, err := s.db.Collection("c").Find(s.Context(), bson.D{}, options.Find().SetBatchSize(1))
		if err != nil || !cur.Next(s.Context()) {
			s.Fatal(err)
		}
		s.to(5)
		if cur.Next(s.Context()) {
			s.Errorf("getMore returned %s", cur.Current)
		}
	}},
	{53, "replaced without ttl", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, ttl: 100}`)
		s.to(20)
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {a: 1}}]}`)
		s.to(29.999)
		s.sees("1", "c")
		s.to(30)
		s.sees("", "c")
	}},
	{54, "switched on by an index", func(s *scene) {
		s.ok(`{insert: "c", documents: [{_id: 1, ttl: 5}, {_id: 2}]}`)
		s.to(100)
		s.sees("1 2", "c")
		s.tsIndex(-1)
		s.sees("2", "c")
	}},
	{55, "expiry is final", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.to(20)
		r := s.ok(`{collMod: "c", documentTtl: "off"}`)
		is(s, "new", r.Lookup("documentTtl_new").Type, bson.TypeNull)
		is(s, "old", number(r.Lookup("documentTtl_old", "default")), 10)
		s.sees("", "c")
		is(s, "purged", s.status("metrics.expiration.documentTtl.purged"), 1)
		s.ok(`{insert: "c", documents: [{_id: 2, ttl: 1}]}`)
		s.to(1e6)
		s.pass()
		s.sees("2", "c")
	}},
	{56, "off in time", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, ttl: 5}`)
		s.to(2)
		s.ok(`{collMod: "c", documentTtl: "off"}`)
		s.to(1e6)
		s.pass()
		s.sees("1", "c")
	}},
	{57, "rejected values", func(s *scene) {
		s.ttl(`{default: 10, invalid: "reject"}`, `{_id: 1}`)
		for _, v := range []string{`0`, `-2`, `20.5`, `2147483648`, `"20"`} {
			s.fails(2, "is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.", `{insert: "c", documents: [{_id: 9, ttl: `+v+`}]}`)
		}
		s.ok(`{insert: "c", documents: [{_id: 8, ttl: null}]}`) // as if there were none
		s.ok(`{delete: "c", deletes: [{q: {_id: 8}, limit: 1}]}`)
		s.fails(2, "The input ttl '20' is invalid.", `{insert: "c", documents: [{_id: 9, ttl: "20"}]}`)
		s.fails(2, "The input ttl '0' is invalid.", `{update: "c", updates: [{q: {_id: 1}, u: {$set: {ttl: 0}}}]}`)
		s.sees("1", "c")
	}},
	{58, "ignored values", func(s *scene) {
		s.tsIndex(10)
		s.ok(`{insert: "c", documents: [{_id: 1, ttl: 20.0}, {_id: 2, ttl: {"$numberInt": "20"}}, {_id: 3, ttl: {"$numberLong": "20"}},
			{_id: 4, ttl: 20.5}, {_id: 5, ttl: {"$numberLong": "2147483649"}}]}`)
		s.to(9.999)
		s.sees("1 2 3 4 5", "c")
		s.to(10)
		s.sees("1 2 3", "c")
		s.to(20)
		s.sees("", "c")
	}},
	{59, "defaults refused", func(s *scene) {
		s.fails(2, "The default time to live '0' is invalid", `{create: "c", documentTtl: {default: 0}}`)
		s.fails(40414, "", `{create: "c", documentTtl: {}}`)
		s.fails(40415, "", `{create: "c", documentTtl: {default: 1, nonsense: 1}}`)
		for _, v := range []string{`0`, `-2`, `0.5`, `2147483648`, `"1"`, `{"$numberDouble": "NaN"}`} {
			s.fails(67, "", `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: `+v+`}]}`)
		}
		r := s.tsIndex(-1)
		is(s, "before", number(r.Lookup("numIndexesBefore")), 1)
		is(s, "after", number(r.Lookup("numIndexesAfter")), 2)
		is(s, "listed", s.index("c", "_ts_1").String(), `{"v": {"$numberInt":"2"},"key": {"_ts": {"$numberInt":"1"}},"name": "_ts_1","expireAfterSeconds": {"$numberInt":"-1"}}`)
		is(s, "note", s.tsIndex(-1).Lookup("note").StringValue(), "all indexes already exist")
		s.fails(85, "", `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`)
		r = s.ok(`{collMod: "c", index: {keyPattern: {_ts: 1}, expireAfterSeconds: 30}}`)
		is(s, "old", ejson(r.Lookup("expireAfterSeconds_old")), `{"$numberLong":"-1"}`)
		is(s, "options", ejson(s.listed("c").Lookup("options", "documentTtl")), `{"default": {"$numberInt":"30"},"invalid": "ignore","exposeTs": false}`)
		s.ok(`{dropIndexes: "c", index: "_ts_1"}`)
		is(s, "options", ejson(s.listed("c").Lookup("options")), `{}`)
		is(s, "indexes", len(s.batch(`{listIndexes: "c"}`)), 1)
	}},
	{60, "TTL requires indexing", func(s *scene) {
		s.fails(72, "TTL requires indexing", `{create: "c", documentTtl: {default: 5}, indexingPolicy: {indexingMode: "none"}}`)
		s.ttl(`{default: 5}`, `{_id: 1}`)
		s.fails(72, "TTL requires indexing", `{collMod: "c", indexingPolicy: {indexingMode: "none"}}`)
		s.ok(`{create: "plain", indexingPolicy: {indexingMode: "none"}}`)
		s.fails(67, "", `{createIndexes: "plain", indexes: [{key: {a: 1}, name: "a_1"}]}`)
		s.fails(72, "TTL requires indexing", `{collMod: "plain", documentTtl: {default: 5}}`)
	}},
	{61, "purge yields", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2}`)
		s.admin(`{setParameter: 1, documentTtlPurgeYieldThreshold: 0}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
		is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), 2)
		is(s, "pendingPurge", s.status("metrics.expiration.documentTtl.pendingPurge"), 2)
		s.admin(`{setParameter: 1, documentTtlPurgeYieldThreshold: 64}`)
		s.pass()
		is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), 0)
		is(s, "pendingPurge", s.status("metrics.expiration.documentTtl.pendingPurge"), 0)
		is(s, "purged", s.status("metrics.expiration.documentTtl.purged"), 2)
		is(s, "deletedDocuments", s.status("metrics.ttl.deletedDocuments"), 0)
	}},
	{62, "hidden _ts", func(s *scene) {
		s.tsIndex(100)
		s.ok(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
		is(s, "hidden", s.first(`{find: "c"}`).String(), `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"}}`)
		s.ok(`{collMod: "c", documentTtl: {exposeTs: true}}`)
		const shown = `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"},"_ts": {"$numberLong":"1767225600"}}`
		is(s, "shown", s.first(`{find: "c"}`).String(), shown)
		is(s, "by _id", s.first(`{find: "c", filter: {_id: 1}}`).String(), shown)
		is(s, "filter", len(s.batch(`{find: "c", filter: {_ts: {$gte: 1767225600}}, sort: {_ts: -1}}`)), 1)
		is(s, "aggregate", len(s.batch(`{aggregate: "c", pipeline: [{$match: {_ts: 1767225600}}], cursor: {}}`)), 1)
		is(s, "projection", s.first(`{find: "c", projection: {_id: 0, _ts: 1}}`).String(), `{"_ts": {"$numberLong":"1767225600"}}`)
		s.to(7)
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: ` + strings.Replace(shown, `"a": {"$numberInt":"1"}`, `"a": 2`, 1) + `}]}`)
		is(s, "replaced", s.first(`{find: "c"}`).String(), `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"2"},"_ts": {"$numberLong":"1767225607"}}`)
	}},
	{63, "two policies", func(s *scene) {
		s.ok(`{create: "c", documentTtl: {default: 5}}`)
		s.expiring(100, `{_id: 1, x: d(0), ttl: -1}`)
		s.to(99.999)
		s.pass()
		s.sees("1", "c")
		s.to(100)
		s.pass()
		s.sees("", "c")
	}},
	{64, "customAction", func(s *scene) {
		s.ok(`{customAction: "CreateCollection", collection: "c", indexes: [{key: {_id: 1}, name: "_id_"}, {key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 30}]}`)
		r := s.ok(`{customAction: "GetCollection", collection: "c"}`)
		is(s, "database", r.Lookup("database").StringValue(), "db")
		is(s, "collection", r.Lookup("collection").StringValue(), "c")
		is(s, "throughput", number(r.Lookup("provisionedThroughput")), 400)
		s.ok(`{insert: "c", documents: [{_id: 1}, {_id: 2, ttl: -1}]}`)
		s.to(30)
		s.sees("2", "c")
		s.ok(`{customAction: "UpdateCollection", collection: "c", offerThroughput: 500, indexes: [{key: {_id: 1}, name: "_id_"}]}`)
		is(s, "throughput", number(s.ok(`{customAction: "GetCollection", collection: "c"}`).Lookup("provisionedThroughput")), 500)
		s.ok(`{insert: "c", documents: [{_id: 3}]}`)
		s.to(1e6)
		s.sees("2 3", "c")
	}},
}

// ttl makes a collection "c" with document TTL and inserts documents.
func (s *scene) ttl(policy, docs string) {
	s.Helper()
	s.ok(`{create: "c", documentTtl: ` + policy + `}`)
	s.ok(`{insert: "c", documents: [` + docs + `]}`)
}

// tsIndex switches document TTL on by the index on _ts.
func (s *scene) tsIndex(seconds int) bson.Raw {
	s.Helper()
	return s.ok(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: %d}]}`, seconds)
}
