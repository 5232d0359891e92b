package servertest_test

import "go.mongodb.org/mongo-driver/v2/bson"

// ttlIndexCases are cases 1-18: TTL indexes, and collMod of them.
var ttlIndexCases = []semanticsCase{
	{1, "a millisecond early", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		before := s.status("metrics.ttl.passes")
		s.to(9.999)
		s.pass()
		s.sees("1", "c")
		is(s, "passes", s.status("metrics.ttl.passes"), before+1)
	}},
	{2, "on time", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
		is(s, "deletedDocuments", s.status("metrics.ttl.deletedDocuments"), 1)
	}},
	{3, "visible until removed", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.to(500)
		s.sees("1", "c")
	}},
	{4, "absolute expiry", func(s *scene) {
		s.expiring(0, `{_id: 1, x: d(100)}, {_id: 2, x: d(101)}`)
		s.to(100)
		s.pass()
		s.sees("2", "c")
	}},
	{5, "earliest date of an array", func(s *scene) {
		s.expiring(10, `{_id: 1, x: [d(50), d(0), "s"]}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
	}},
	{6, "not a date", func(s *scene) {
		s.expiring(10, `{_id: 1, x: "2026"}, {_id: 2, x: 5}, {_id: 3, x: {"$timestamp": {"t": 1, "i": 1}}},
			{_id: 4, x: []}, {_id: 5, x: null}, {_id: 6}`)
		s.to(1e6)
		s.pass()
		s.sees("1 2 3 4 5 6", "c")
	}},
	{7, "before 1970", func(s *scene) {
		s.expiring(10, `{_id: 1, x: {"$date": "1969-12-31T00:00:00Z"}}`)
		s.pass()
		s.sees("", "c")
	}},
	{8, "partial index", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 0, partialFilterExpression: {z: {$exists: true}}}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0), z: 1}, {_id: 2, x: d(0)}]}`)
		s.pass()
		s.sees("2", "c")
	}},
	{9, "hidden index", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		s.ok(`{collMod: "c", index: {name: "x_1", hidden: true}}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
	}},
	{10, "values refused", func(s *scene) {
		s.ok(`{create: "c"}`)
		for e, fragment := range map[string]string{
			`-1`:                          "TTL index 'expireAfterSeconds' option cannot be less than 0",
			`"1"`:                         "option must be numeric, but received a type of 'string'",
			`{"$numberDouble": "NaN"}`:    "option must not be NaN",
			`2147483648`:                  "must be within the range of a 32-bit integer",
			`999999999999999`:             "must be within the range of a 32-bit integer",
			`{"$numberDouble": "9.3e18"}`: "must be within the range of a 32-bit integer",
			`true`:                        "option must be numeric, but received a type of 'bool'",
			`null`:                        "option must be numeric, but received a type of 'null'",
		} {
			s.fails(67, fragment, `{createIndexes: "c", indexes: [{key: {y: 1}, name: "y_1"}, {key: {x: 1}, name: "x_1", expireAfterSeconds: `+e+`}]}`)
		}
		is(s, "indexes", len(s.batch(`{listIndexes: "c"}`)), 1)
	}},
	{11, "largest value and fraction", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 2147483647}, {key: {y: 1}, name: "y_1", expireAfterSeconds: 10000.7}]}`)
		for name, want := range map[string]int32{"x_1": 2147483647, "y_1": 10000} {
			got, ok := s.index("c", name).Lookup("expireAfterSeconds").Int32OK()
			if !ok || got != want {
				s.Errorf("%s lists %d as int: %v", name, got, ok)
			}
		}
	}},
	{12, "keys refused", func(s *scene) {
		s.fails(67, "TTL indexes are single-field indexes, compound indexes do not support TTL", `{createIndexes: "c", indexes: [{key: {a: 1, b: 1}, name: "n", expireAfterSeconds: 1}]}`)
		s.fails(197, "The field 'expireAfterSeconds' is not valid for an _id index specification", `{createIndexes: "c", indexes: [{key: {_id: 1}, name: "_id_", expireAfterSeconds: 1}]}`)
		s.fails(67, "cannot be a TTL index", `{createIndexes: "c", indexes: [{key: {"$**": 1}, name: "n", expireAfterSeconds: 1}]}`)
	}},
	{13, "same name, other value", func(s *scene) {
		s.expiring(50, `{_id: 1}`)
		s.fails(85, "An equivalent index already exists with the same name but different options", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 60}]}`)
		is(s, "expireAfterSeconds", number(s.index("c", "x_1").Lookup("expireAfterSeconds")), 50)
	}},
	{14, "converted by collMod", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
		r := s.ok(`{collMod: "c", index: {keyPattern: {a: 1}, expireAfterSeconds: 100}}`)
		is(s, "new", ejson(r.Lookup("expireAfterSeconds_new")), `{"$numberLong":"100"}`)
		is(s, "old", r.Lookup("expireAfterSeconds_old").Type, bson.Type(0))
		is(s, "listed", number(s.index("c", "a_1").Lookup("expireAfterSeconds")), 100)
	}},
	{15, "changed by collMod", func(s *scene) {
		s.expiring(100, `{_id: 1}`)
		r := s.ok(`{collMod: "c", index: {keyPattern: {x: 1}, expireAfterSeconds: 200}}`)
		is(s, "old", ejson(r.Lookup("expireAfterSeconds_old")), `{"$numberLong":"100"}`)
		is(s, "new", ejson(r.Lookup("expireAfterSeconds_new")), `{"$numberLong":"200"}`)
	}},
	{16, "collMod refused", func(s *scene) {
		s.expiring(100, `{_id: 1}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {a: 1, b: 1}, name: "ab"}]}`)
		s.fails(14, "", `{collMod: "c", index: {name: "x_1", expireAfterSeconds: "100"}}`)
		s.fails(72, "cannot be less than 0", `{collMod: "c", index: {name: "x_1", expireAfterSeconds: -1}}`)
		s.fails(27, "cannot find index", `{collMod: "c", index: {keyPattern: {q: 1}, expireAfterSeconds: 1}}`)
		s.fails(27, "cannot find index", `{collMod: "c", index: {name: "q", expireAfterSeconds: 1}}`)
		s.fails(72, "Cannot specify both key pattern and name.", `{collMod: "c", index: {keyPattern: {x: 1}, name: "x_1", expireAfterSeconds: 1}}`)
		s.fails(72, "Must specify either index name or key pattern.", `{collMod: "c", index: {expireAfterSeconds: 1}}`)
		s.fails(72, "no expireAfterSeconds, hidden, unique, or prepareUnique field", `{collMod: "c", index: {name: "x_1"}}`)
		s.fails(72, "the _id field does not support TTL indexes", `{collMod: "c", index: {keyPattern: {_id: 1}, expireAfterSeconds: 1}}`)
		s.fails(72, "TTL indexes are single-field indexes, compound indexes do not support TTL", `{collMod: "c", index: {name: "ab", expireAfterSeconds: 1}}`)
		is(s, "clamped", number(s.ok(`{collMod: "c", index: {name: "x_1", expireAfterSeconds: 2147483648}}`).Lookup("expireAfterSeconds_new")), 2147483647)
		s.fails(26, "ns does not exist", `{collMod: "nowhere", index: {name: "x_1", expireAfterSeconds: 1}}`)
	}},
	{17, "ambiguous key pattern", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", expireAfterSeconds: 1},
			{key: {a: 1}, name: "a_fr", expireAfterSeconds: 1, collation: {locale: "fr"}}]}`)
		s.fails(181, "must use index name", `{collMod: "c", index: {keyPattern: {a: 1}, expireAfterSeconds: 2}}`)
		s.ok(`{collMod: "c", index: {name: "a_fr", expireAfterSeconds: 2}}`)
	}},
	{18, "changed value counts from the next pass", func(s *scene) {
		s.expiring(3600, `{_id: 1, x: d(0)}`)
		s.to(100)
		s.ok(`{collMod: "c", index: {name: "x_1", expireAfterSeconds: 50}}`)
		s.pass()
		s.sees("", "c")
	}},
}

// expiring creates a TTL index x_1 on "c" and inserts documents.
func (s *scene) expiring(seconds int, docs string) {
	s.Helper()
	s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: %d}]}`, seconds)
	s.ok(`{insert: "c", documents: [` + docs + `]}`)
}
