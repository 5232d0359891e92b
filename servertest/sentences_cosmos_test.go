package servertest_test

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const invalidTTL = "is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire."

// cosmosSentences are the articles on time to live, indexing policies, patches, batches,
// unique keys and the analytical store.
var cosmosSentences = []sentence{
	{"N1", func(s *scene) {
		s.ttl(`{default: 2147483647}`, `{_id: 1}, {_id: 2, ttl: 2147483646}, {_id: 3, ttl: {"$numberLong": "2147483647"}}`)
		s.to(2147483646)
		s.sees("1 3", "c")
		s.to(2147483646.999)
		s.sees("1 3", "c")
		s.to(2147483647)
		s.sees("", "c")
		s.fails(2, "The default time to live '2147483648' is invalid", `{collMod: "c", documentTtl: {default: 2147483648}}`)
		s.fails(2, "The input ttl '2147483648' is invalid", `{insert: "c", documents: [{_id: 4, ttl: 2147483648}]}`)
	}},
	{"N5", func(s *scene) {
		s.ok(`{create: "c", documentTtl: {default: null}}`)
		s.ok(`{insert: "c", documents: [{_id: 1, ttl: 5}]}`)
		is(s, "options", ejson(s.listed("c").Lookup("options")), `{}`)
		s.ok(`{create: "d", documentTtl: {default: 10}}`)
		s.ok(`{insert: "d", documents: [{_id: 1, ttl: 5}]}`)
		s.ok(`{collMod: "d", documentTtl: {default: null}}`)
		s.to(1e6)
		s.pass()
		s.sees("1", "c")
		s.sees("1", "d")
	}},
	{"N10", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, ttl: null}, {_id: 2}`)
		s.ok(`{collMod: "c", documentTtl: {invalid: "rejectNull"}}`)
		for _, write := range []string{
			`{insert: "c", documents: [{_id: 3, ttl: null}]}`, `{update: "c", updates: [{q: {_id: 2}, u: {$set: {ttl: null}}}]}`,
			`{update: "c", updates: [{q: {_id: 2}, u: {ttl: null}}]}`, `{findAndModify: "c", query: {_id: 1}, update: {$set: {a: 1}}}`,
			`{aggregate: "c", pipeline: [{$merge: "c"}], cursor: {}}`,
		} {
			s.fails(2, "The input ttl 'null' "+invalidTTL, write)
		}
		s.ok(`{insert: "c", documents: [{_id: 3}, {_id: 4, ttl: 20}]}`)
		s.to(10)
		s.sees("4", "c") // stored null is still the default
	}},
	{"N11", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, ttl: 20}, {_id: 2, ttl: 20.0}, {_id: 3, ttl: {"$numberLong": "20"}}, {_id: 4, ttl: -1.0}`)
		for _, v := range []string{
			`0`, `0.0`, `-0.0`, `0.5`, `-0.5`, `20.5`, `-2`, `-2147483648`, `{"$numberLong": "2147483648"}`, `{"$numberLong": "9223372036854775807"}`, `1e300`,
			`{"$numberDouble": "NaN"}`, `{"$numberDouble": "Infinity"}`, `{"$numberDecimal": "20"}`, `"20"`, `""`, `true`, `d(20)`, `[]`, `[20]`, `{}`, `{"$timestamp": {"t": 20, "i": 0}}`,
		} {
			s.fails(2, invalidTTL, `{insert: "c", documents: [{_id: 9, ttl: `+v+`}]}`)
		}
		s.to(20)
		s.sees("4", "c")
	}},
	{"N12", func(s *scene) {
		s.ok(`{insert: "off", documents: [` + threeDocs + `]}`)
		s.ok(`{create: "on", documentTtl: {default: -1}}`)
		s.ok(`{insert: "on", documents: [` + threeDocs + `]}`)
		s.ttl(`{default: 1000}`, threeDocs)
		for _, want := range []struct {
			at          float64
			off, on, by string // by the collection's option: none, -1, 1000
		}{{999.999, "1 2 3", "1 2 3", "1 2 3"}, {1000, "1 2 3", "1 2 3", "2 3"}, {1999.999, "1 2 3", "1 2 3", "2 3"}, {2000, "1 2 3", "1 2", "2"}, {1e9, "1 2 3", "1 2", "2"}} {
			s.to(want.at)
			s.sees(want.off, "off")
			s.sees(want.on, "on")
			s.sees(want.by, "c")
		}
	}},
	{"N14", func(s *scene) {
		s.ttl(`{default: -1}`, `{_id: 1, ttl: 1000}, {_id: 2, ttl: 15}, {_id: 3}`)
		s.to(10)
		s.ok(`{collMod: "c", documentTtl: "off"}`)
		s.to(20)
		s.sees("1 2 3", "c")
		s.ok(`{collMod: "c", documentTtl: {default: -1}}`)
		s.sees("1 3", "c")
		s.to(1000)
		s.sees("3", "c")
	}},
	{"N16", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2, ttl: 50}`)
		s.to(5)
		s.ok(`{collMod: "c", documentTtl: {default: -1}}`)
		s.to(49)
		s.sees("1 2", "c")
		s.ok(`{insert: "c", documents: [{_id: 3}, {_id: 4, ttl: 5}]}`)
		s.to(54)
		s.sees("1 3", "c")
	}},
	{"N17", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, TTL: 50}, {_id: 2, Ttl: 0}, {_id: 3, a: {ttl: 50}}, {_id: 4, "ttl ": 50}, {_id: 5, ttl: 50}`)
		s.to(10)
		s.sees("5", "c")
	}},
	{"N18", func(s *scene) {
		s.fails(40415, "'create.ttlPropertyPath' is an unknown field", `{create: "c", documentTtl: {default: 5}, ttlPropertyPath: "/at"}`)
		s.fails(40415, "'create.documentTtl.ttlPropertyPath' is an unknown field", `{create: "c", documentTtl: {default: 5, ttlPropertyPath: "/at"}}`)
	}},
	{"I3", func(s *scene) {
		s.fails(40415, "indexingPolicy.includedPaths", `{create: "c", documentTtl: {default: 5}, indexingPolicy: {indexingMode: "consistent", includedPaths: [], excludedPaths: [{path: "/*"}]}}`)
		s.fails(40415, "indexingPolicy.excludedPaths", `{create: "c", indexingPolicy: {excludedPaths: [{path: "/*"}]}}`)
		s.ttl(`{default: 5}`, `{_id: 1}`)
		is(s, "indexes", len(s.batch(`{listIndexes: "c"}`)), 2) // on _id and _ts: nothing else is indexed
		s.to(5)
		s.sees("", "c")
	}},
	{"I4", func(s *scene) {
		s.ok(`{create: "c", documentTtl: {default: 5}, indexingPolicy: {indexingMode: "Consistent"}}`)
		is(s, "options", s.listed("c").Lookup("options", "indexingPolicy").Type, bson.Type(0))
		s.fails(72, "TTL requires indexing", `{create: "d", documentTtl: {default: 5}, indexingPolicy: {indexingMode: "None"}}`)
		s.fails(72, "TTL requires indexing", `{collMod: "c", indexingPolicy: {indexingMode: "None"}}`)
		s.fails(2, "'NONESUCH'", `{collMod: "c", indexingPolicy: {indexingMode: "NONESUCH"}}`)
	}},
	{"P1", func(s *scene) { // add, set, increment, move, remove
		patches := []struct {
			doc, update string
			gone        float64 // after the update at 5; the default is 10
		}{
			{`ttl: 30`, `{$set: {ttl: 3}}`, 8}, {`ttl: 30`, `{$min: {ttl: 6}}`, 11}, {`a: 1`, `{$inc: {ttl: 7}}`, 12}, {`ttl: 6`, `{$bit: {ttl: {or: 1}}}`, 12},
			{`ttl: 30`, `{$rename: {ttl: "other"}}`, 15}, {`ttl: 30`, `{$unset: {ttl: 1}}`, 15}, {`ttl: 30`, `{b: 1}`, 15}, {`ttl: 30`, `[{$unset: "ttl"}]`, 15},
			{`ttl: 30`, `{$mul: {ttl: 0.5}}`, 20}, {`ttl: 30`, `{$inc: {ttl: -10}}`, 25}, {`a: 1`, `{$set: {ttl: 30}}`, 35}, {`other: 30`, `{$rename: {other: "ttl"}}`, 35},
			{`ttl: 30`, `[{$set: {ttl: {$add: ["$ttl", 5]}}}]`, 40}, {`ttl: 30`, `{$inc: {ttl: 10}}`, 45}, {`ttl: 30`, `{$max: {ttl: 40}}`, 45}, {`ttl: 30`, `{$set: {ttl: -1}}`, 1e9},
		}
		s.ok(`{create: "c", documentTtl: {default: 10}}`)
		for i, p := range patches {
			s.ok(`{insert: "c", documents: [{_id: %d, `+p.doc+`}]}`, i)
		}
		s.to(5)
		for i, p := range patches {
			s.ok(`{update: "c", updates: [{q: {_id: %d}, u: `+p.update+`}]}`, i)
		}
		left := func(at float64) (n int64) {
			for _, p := range patches {
				if p.gone > at {
					n++
				}
			}
			return n
		}
		for i, p := range patches[:len(patches)-1] {
			if p.gone == patches[i+1].gone {
				continue
			}
			for _, at := range []float64{p.gone - 0.001, p.gone} {
				s.to(at)
				if got, want := s.count("c"), left(at); got != want {
					s.Errorf("%d documents are left at %v, want %d: see %s", got, at, want, p.update)
				}
			}
		}
	}},
	{"P2", func(s *scene) { // replace: only what is there
		s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2, ttl: 30}`)
		s.to(5)
		r := s.ok(`{update: "c", updates: [{q: {ttl: {$exists: true}}, u: {$set: {ttl: 50}}, multi: true}]}`)
		is(s, "n", number(r.Lookup("n")), 1)
		s.to(10)
		s.sees("2", "c")
	}},
	{"P3", func(s *scene) { // conditions
		s.ttl(`{default: 10}`, `{_id: 1, n: 1}`)
		s.to(5)
		is(s, "n", number(s.ok(`{update: "c", updates: [{q: {_id: 1, n: 2}, u: {$set: {ttl: 50}}}]}`).Lookup("n")), 0)
		s.to(10)
		s.sees("", "c")
	}},
	{"P4", func(s *scene) { // invalid results
		s.ttl(`{default: 10}`, `{_id: 1, ttl: 30, text: "x"}`)
		s.to(5)
		for _, update := range []string{
			`{$inc: {ttl: -30}}`, `{$mul: {ttl: 0.07}}`, `{$max: {ttl: {"$numberLong": "3000000000"}}}`, `{$rename: {text: "ttl"}}`, `{$currentDate: {ttl: true}}`,
			`{ttl: 0}`, `[{$set: {ttl: {$divide: ["$ttl", 4]}}}]`,
		} {
			s.fails(2, invalidTTL, `{update: "c", updates: [{q: {_id: 1}, u: `+update+`}]}`)
		}
		s.fails(2, invalidTTL, `{update: "c", updates: [{q: {_id: 7}, u: {$setOnInsert: {ttl: 0}}, upsert: true}]}`)
		s.fails(2, "", `{update: "c", updates: [{q: {_id: 1}, u: {$push: {ttl: 1}}}]}`)
		s.to(29.999) // none of them was a write
		s.sees("1", "c")
		s.to(30)
		s.sees("", "c")
	}},
	{"B1", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		err := s.inTransaction(func(run func(string) error) error {
			if err := run(`{insert: "c", documents: [{_id: 2}]}`); err != nil {
				return err
			}
			if err := run(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {ttl: 50}}}]}`); err != nil {
				return err
			}
			return run(`{insert: "c", documents: [{_id: 3, ttl: 0}]}`)
		})
		s.failed(2, "The input ttl '0' is invalid", "a batch", err)
		s.sees("1", "c")
		s.to(10)
		s.sees("", "c")
	}},
	{"B2", func(s *scene) {
		s.ok(`{create: "c", documentTtl: {default: 10, exposeTs: true}}`)
		s.ok(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
		s.to(5)
		if err := s.inTransaction(func(run func(string) error) error {
			if err := run(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`); err != nil {
				return err
			}
			s.to(8)
			if err := run(`{update: "c", updates: [{q: {_id: 2}, u: {$set: {a: 1}}}]}`); err != nil {
				return err
			}
			return run(`{insert: "c", documents: [{_id: 3}]}`)
		}); err != nil {
			s.Fatal(err)
		}
		s.admin(`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 4}}, {insert: 0, document: {_id: 5}}], nsInfo: [{ns: "db.c"}]}`)
		for _, want := range []struct{ ids, at string }{{"1, 2, 3", "d(5)"}, {"4, 5", "d(8)"}} {
			n := s.ok(`{count: "c", query: {_id: {$in: [` + want.ids + `]}, $expr: {$eq: [{$toDate: {$multiply: ["$_ts", 1000]}}, ` + want.at + `]}}}`).Lookup("n")
			is(s, "with the _ts of "+want.at, number(n), int64(strings.Count(want.ids, ",")+1))
		}
		s.to(15)
		s.sees("4 5", "c")
	}},
	{"B3", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.to(10)
		if err := s.inTransaction(func(run func(string) error) error { return run(`{insert: "c", documents: [{_id: 1, a: 1}]}`) }); err != nil {
			s.Error(err)
		}
		s.sees("1", "c")
	}},
	{"K1", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, company: "a", mail: "x"}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {company: 1, mail: 1}, name: "u", unique: true}]}`)
		s.ok(`{insert: "c", documents: [{_id: 2, company: "b", mail: "x", ttl: 100}, {_id: 3, company: "a", mail: "X", ttl: 100}]}`)
		s.fails(11000, "", `{insert: "c", documents: [{_id: 4, company: "a", mail: "x"}]}`)
		s.fails(11000, "", `{update: "c", updates: [{q: {_id: 2}, u: {$set: {company: "a"}}}]}`)
		s.to(10)
		is(s, "nModified", number(s.ok(`{update: "c", updates: [{q: {_id: 2}, u: {$set: {company: "a"}}}]}`).Lookup("nModified")), 1)
		s.fails(11000, "", `{insert: "c", documents: [{_id: 4, company: "a", mail: "x"}]}`)
		s.sees("2 3", "c")
	}},
	{"K2", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {zip: 1}, name: "u", unique: true}]}`)
		s.fails(11000, "", `{insert: "c", documents: [{_id: 2, Zip: 5}]}`) // another name: missing, as null
		s.fails(11000, "", `{insert: "c", documents: [{_id: 2, zip: null}]}`)
		s.to(10)
		s.ok(`{insert: "c", documents: [{_id: 2, Zip: 5}]}`)
		s.fails(11000, "", `{insert: "c", documents: [{_id: 3}]}`)
	}},
	{"K3", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1, a: 1}, {_id: 2, a: 1, ttl: 100}`)
		s.fails(11000, "", `{createIndexes: "c", indexes: [{key: {a: 1}, name: "u", unique: true}]}`)
		s.to(10)
		s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "u", unique: true}]}`)
		s.sees("2", "c")
	}},
	{"A1", func(s *scene) {
		s.ok(`{create: "old", documentTtl: {default: 5}}`)
		for field, command := range map[string]string{
			"create.analyticalStorageTtl":              `{create: "c", analyticalStorageTtl: -1}`,
			"collMod.analyticalStorageTtl":             `{collMod: "old", analyticalStorageTtl: 100}`,
			"create.documentTtl.analyticalStorageTtl":  `{create: "c", documentTtl: {default: 5, analyticalStorageTtl: 100}}`,
			"collMod.documentTtl.analyticalStorageTtl": `{collMod: "old", documentTtl: {analyticalStorageTtl: 0}}`,
			"customAction.analyticalStorageTtl":        `{customAction: "CreateCollection", collection: "c", analyticalStorageTtl: -1}`,
		} {
			s.fails(40415, "BSON field '"+field+"' is an unknown field", command)
		}
		is(s, "nothing is made", s.listed("c") == nil, true)
	}},
}

// inTransaction runs commands in a transaction, and commits it unless one of them fails.
func (s *scene) inTransaction(work func(run func(string) error) error) error {
	s.Helper()
	session, err := s.client.StartSession()
	if err != nil {
		s.Fatal(err)
	}
	defer session.EndSession(s.Context())
	if err := session.StartTransaction(); err != nil {
		s.Fatal(err)
	}
	ctx := mongo.NewSessionContext(s.Context(), session)
	err = work(func(command string) error {
		r := s.db.RunCommand(ctx, s.parse(command))
		return r.Err()
	})
	if err != nil {
		_ = session.AbortTransaction(s.Context())
		return err
	}
	return session.CommitTransaction(s.Context())
}

// indexByDriver makes a TTL index with the driver's own method.
func (s *scene) indexByDriver(coll, field string, seconds int32) {
	s.Helper()
	_, err := s.db.Collection(coll).Indexes().CreateOne(s.Context(), mongo.IndexModel{
		Keys: bson.D{{Key: field, Value: 1}}, Options: options.Index().SetExpireAfterSeconds(seconds)})
	if err != nil {
		s.Fatal(err)
	}
}
