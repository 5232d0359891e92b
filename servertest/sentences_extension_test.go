package servertest_test

import "go.mongodb.org/mongo-driver/v2/bson"

// extensionSentences are the articles on Cosmos DB for MongoDB, on throughput and on Azure
// DocumentDB.
var extensionSentences = []sentence{
	{"R1", func(s *scene) {
		s.indexByDriver("c", "_ts", 10)
		is(s, "listed", s.index("c", "_ts_1").String(), `{"v": {"$numberInt":"2"},"key": {"_ts": {"$numberInt":"1"}},"name": "_ts_1","expireAfterSeconds": {"$numberInt":"10"}}`)
		s.ok(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
		s.to(5)
		s.ok(`{update: "c", updates: [{q: {_id: 2}, u: {$set: {a: 1}}}]}`)
		s.to(10)
		s.sees("2", "c")
	}},
	{"R4", func(s *scene) {
		s.ok(`{insert: "plain", documents: [{_id: 1, ttl: 5}]}`)
		s.tsIndex(10)
		s.ok(`{insert: "c", documents: [{_id: 1, ttl: 5}, {_id: 2, TTL: 5}, {_id: 3, a: {ttl: 50}}, {_id: 4, ttl: 50}, {_id: 5, ttl: -1}]}`)
		s.to(9)
		s.sees("2 3 4 5", "c")
		s.to(10)
		s.sees("4 5", "c")
		s.to(1e6)
		s.sees("5", "c")
		s.sees("1", "plain")
	}},
	{"R6", func(s *scene) {
		s.tsIndex(10)
		values := []string{
			`20.5`, `{"$numberLong": "2147483648"}`, `{"$numberLong": "2147483649"}`, `0`, `-2`, `-0.5`, `1e300`, `{"$numberDouble": "NaN"}`, `{"$numberDecimal": "20"}`,
			`"20"`, `null`, `true`, `d(20)`, `[20]`, `{a: 20}`,
		}
		for i, v := range values {
			s.ok(`{insert: "c", documents: [{_id: %d, ttl: `+v+`}]}`, i)
		}
		s.to(9.999)
		is(s, "stored", s.count("c"), int64(len(values)))
		s.to(10)
		s.sees("", "c")
	}},
	{"R8", func(s *scene) {
		s.indexByDriver("c", "_ts", 2147483647)
		s.ok(`{insert: "c", documents: [{_id: 1}]}`)
		s.to(2147483646.999)
		s.sees("1", "c")
		s.to(2147483647)
		s.sees("", "c")
		for _, v := range []string{`2147483648`, `0`, `0.9`, `-2`, `null`, `"10"`, `{"$numberDouble": "NaN"}`} {
			s.fails(67, "", `{createIndexes: "d", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: `+v+`}]}`)
		}
	}},
	{"R9", func(s *scene) {
		s.fails(67, "", `{createIndexes: "c", indexes: [{key: {"children.$**": 1}, name: "n", expireAfterSeconds: 10}]}`)
		s.fails(67, "", `{createIndexes: "c", indexes: [{key: {"$**": 1}, name: "n", unique: true}]}`)
		s.fails(67, "", `{createIndexes: "c", indexes: [{key: {_ts: 1, a: 1}, name: "n", expireAfterSeconds: 10}]}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {"$**": 1}, name: "all"}, {key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
		s.to(10)
		is(s, "by the wildcard index", len(s.batch(`{find: "c", filter: {a: 1}, hint: "all"}`)), 0)
	}},
	{"R10", func(s *scene) {
		s.tsIndex(30)
		r := s.ok(`{customAction: "GetCollection", collection: "c", showIndexes: true}`)
		is(s, "indexes", ejson(r.Lookup("indexes")), `[{"v": {"$numberInt":"2"},"key": {"_id": {"$numberInt":"1"}},"name": "_id_"},{"v": {"$numberInt":"2"},"key": {"_ts": {"$numberInt":"1"}},"name": "_ts_1","expireAfterSeconds": {"$numberInt":"30"}}]`)
		is(s, "unasked", s.ok(`{customAction: "GetCollection", collection: "c"}`).Lookup("indexes").Type, bson.Type(0))
	}},
	{"R11", func(s *scene) {
		s.tsIndex(10)
		s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2, ttl: 50}]}`)
		s.to(10)
		s.ok(`{reIndex: "c"}`)
		is(s, "indexes", len(s.batch(`{listIndexes: "c"}`)), 3)
		s.sees("2", "c")
		is(s, "by the index", len(s.batch(`{find: "c", filter: {a: {$gt: 0}}, hint: "a_1"}`)), 1)
		s.to(50)
		s.sees("", "c")
	}},
	{"T1", func(s *scene) {
		s.ok(`{customAction: "CreateDatabase", offerThroughput: 1000}`)
		s.ok(`{customAction: "CreateCollection", collection: "a"}`)
		s.ok(`{customAction: "CreateCollection", collection: "b", offerThroughput: 500}`)
		s.ok(`{insert: "inserted", documents: [{_id: 1}]}`)
		for coll, want := range map[string]int64{"a": -1, "b": 500, "inserted": -1} {
			is(s, coll, number(s.ok(`{customAction: "GetCollection", collection: %q}`, coll).Lookup("provisionedThroughput")), want)
		}
		is(s, "database", number(s.ok(`{customAction: "GetDatabase"}`).Lookup("provisionedThroughput")), 1000)
	}},
	{"T2", func(s *scene) {
		s.ok(`{customAction: "CreateCollection", collection: "a"}`)
		s.ok(`{insert: "b", documents: [{_id: 1}]}`)
		for _, coll := range []string{"a", "b"} {
			is(s, coll, number(s.ok(`{customAction: "GetCollection", collection: %q}`, coll).Lookup("provisionedThroughput")), 400)
		}
		s.fails(2, "at least 400", `{customAction: "UpdateCollection", collection: "a", offerThroughput: 399}`)
		s.ok(`{customAction: "UpdateCollection", collection: "a", offerThroughput: 1200}`)
		is(s, "updated", number(s.ok(`{customAction: "GetCollection", collection: "a"}`).Lookup("provisionedThroughput")), 1200)
	}},
	{"T3", func(s *scene) {
		s.ok(`{customAction: "CreateCollection", collection: "a", autoScaleSettings: {maxThroughput: 10000}}`)
		r := s.ok(`{customAction: "GetCollection", collection: "a"}`)
		is(s, "minimum", number(r.Lookup("provisionedThroughput")), 1000)
		is(s, "maximum", number(r.Lookup("autoScaleSettings", "maxThroughput")), 10000)
		s.fails(2, "at least 1000", `{customAction: "CreateCollection", collection: "b", autoScaleSettings: {maxThroughput: 999}}`)
		s.ok(`{customAction: "CreateCollection", collection: "b", autoScaleSettings: {maxThroughput: 1000}}`)
	}},
	{"T4", func(s *scene) {
		for _, offer := range []string{`offerThroughput: 11000`, `autoScaleSettings: {maxThroughput: 20000}`} {
			s.fails(2, "needs a shardKey", `{customAction: "CreateCollection", collection: "c", `+offer+`}`)
			s.ok(`{customAction: "CreateCollection", collection: "c", shardKey: "a.b", ` + offer + `}`)
			is(s, "key", ejson(s.ok(`{customAction: "GetCollection", collection: "c"}`).Lookup("shardKeyDefinition")), `{"a.b": "hashed"}`)
			s.ok(`{drop: "c"}`)
		}
	}},
	{"T5", func(s *scene) { // a shard key is kept, and has no effect
		s.ok(`{customAction: "CreateCollection", collection: "c", shardKey: "a", indexes: [{key: {_id: 1}, name: "_id_"}, {key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2}]}`)
		s.fails(11000, "", `{insert: "c", documents: [{_id: 1, a: 2}]}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", unique: true, sparse: true}]}`)
		s.to(5)
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}`)
		s.to(10)
		s.sees("1", "c")
	}},
	{"V1", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {x: -1}, name: "down", expireAfterSeconds: 10}]}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {"author.since": 1}, name: "up", expireAfterSeconds: 20, unique: true, partialFilterExpression: {a: {$gt: 1}}}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0)}, {_id: 2, author: {since: d(0)}, a: 2}, {_id: 3, author: {since: d(1)}}, {_id: 4, x: [1, d(5), d(50)]}]}`)
		s.to(10)
		s.pass()
		s.sees("2 3 4", "c")
		s.to(15)
		s.pass()
		s.sees("2 3", "c")
		s.to(20)
		s.pass()
		s.sees("3", "c")
	}},
}
