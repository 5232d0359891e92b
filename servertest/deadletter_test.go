package servertest_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// onExpire moves expired documents of every policy.
func TestOnExpireOfEveryPolicy(t *testing.T) {
	for _, tt := range []struct {
		policy string
		at     float64
		setup  func(s *scene)
	}{
		{"ttl", 10, func(s *scene) {
			s.ok(`{create: "c", onExpire: {deadLetterTo: "dead"}}`)
			s.expiring(10, `{_id: 1, x: d(0), a: 1}`)
		}},
		{"clustered", 10, func(s *scene) {
			s.ok(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10, onExpire: {deadLetterTo: "dead"}}`)
			s.ok(`{insert: "c", documents: [{_id: d(0), a: 1}]}`)
		}},
		{"documentTtl", 10, func(s *scene) {
			s.ok(`{create: "c", documentTtl: {default: 10}, onExpire: {deadLetterTo: "dead"}}`)
			s.ok(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
		}},
		{"timeseries", 3610, func(s *scene) {
			s.ok(`{create: "c", timeseries: {timeField: "time"}, expireAfterSeconds: 10, onExpire: {deadLetterTo: "dead"}}`)
			s.ok(`{insert: "c", documents: [{_id: 1, time: d(0), a: 1}]}`)
		}},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			s := newScene(t)
			tt.setup(s)
			s.to(tt.at)
			s.pass()
			is(s, "left", s.count("c"), 0)
			d := s.first(`{find: "dead"}`)
			x := d.Lookup("_expired").Document()
			is(s, "a", number(d.Lookup("a")), 1)
			is(s, "policy", x.Lookup("policy").StringValue(), tt.policy)
			is(s, "reason", x.Lookup("reason").StringValue(), expiredReason)
			is(s, "source", x.Lookup("source").StringValue(), "db.c")
			is(s, "expiredAt", x.Lookup("expiredAt").Time().UTC(), at(tt.at))
			is(s, "removedAt", x.Lookup("removedAt").Time().UTC(), at(tt.at))
		})
	}
}

// No document is lost if the target refuses it, and a bucket is moved completely or not
// at all.
func TestOnExpireKeepsWhatTheTargetRefuses(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "dead", validator: {a: {$lt: 5}}}`)
	s.ok(`{createIndexes: "dead", indexes: [{key: {u: 1}, name: "u_1", unique: true, sparse: true}]}`)
	s.ok(`{create: "c", onExpire: {deadLetterTo: "dead"}}`)
	s.expiring(10, `{_id: 1, x: d(0), a: 9}, {_id: 2, x: d(0), a: 1}, {_id: 3, x: d(0), a: 1, u: 1}, {_id: 4, x: d(0), a: 1, u: 1}`)
	s.ok(`{create: "ts", timeseries: {timeField: "time"}, expireAfterSeconds: 10, onExpire: {deadLetterTo: "dead"}}`)
	s.ok(`{insert: "ts", documents: [{_id: 11, time: d(0), a: 1}, {_id: 12, time: d(0), a: 9}]}`)
	s.ok(`{create: "ts2", timeseries: {timeField: "time"}, expireAfterSeconds: 10, onExpire: {deadLetterTo: "dead"}}`)
	s.ok(`{insert: "ts2", documents: [{_id: 21, time: d(0), a: 1, u: 7}, {_id: 22, time: d(0), a: 1, u: 7}]}`)
	s.to(4000)
	s.pass()
	s.sees("1 4", "c")
	s.sees("11 12", "ts")
	s.sees("21 22", "ts2")
	s.sees("2 3", "dead")
	s.ok(`{collMod: "dead", validationLevel: "off"}`)
	s.ok(`{dropIndexes: "dead", index: "u_1"}`)
	s.pass()
	is(s, "left", s.count("c")+s.count("ts")+s.count("ts2"), 0)
	s.sees("1 2 3 4 11 12 21 22", "dead")
}

// A dead letter whose _id exists in the target gets another _id.
func TestOnExpireWithTakenID(t *testing.T) {
	s := newScene(t)
	s.ok(`{insert: "dead", documents: [{_id: 1, here: true}]}`)
	s.ok(`{create: "c", onExpire: {deadLetterTo: "dead"}}`)
	s.expiring(10, `{_id: 1, x: d(0)}`)
	s.to(10)
	s.pass()
	is(s, "dead letters", s.count("dead"), 2)
	is(s, "original", number(s.first(`{find: "dead", filter: {_expired: {$exists: true}}}`).Lookup("_originalId")), 1)
}

// Documents that another operation purges are moved as well.
func TestOnExpireOfCollidingInsert(t *testing.T) {
	s := newScene(t)
	s.ok(`{create: "c", documentTtl: {default: 10}}`)
	s.ok(`{collMod: "c", onExpire: {deadLetterTo: "dead"}}`)
	is(s, "listed", ejson(s.listed("c").Lookup("options", "onExpire")), `{"deadLetterTo": "dead"}`)
	s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	s.to(20)
	s.ok(`{insert: "c", documents: [{_id: 1, a: 3}]}`)
	s.sees("1", "dead")
	s.ok(`{collMod: "c", documentTtl: "off"}`)
	s.sees("1 2", "dead")
	s.sees("1", "c")
	s.ok(`{collMod: "c", onExpire: "off"}`)
	is(s, "off", s.listed("c").Lookup("options", "onExpire").Type, bson.Type(0))
}

// Collections may be dead-letter collections of each other and have
// documents with the same _id: each expired document moves once, and needs no other to move
// for ever.
func TestOnExpireInCircles(t *testing.T) {
	const chain = 12
	for name, targets := range map[string][]string{"of two": {"c1", "c0"}, "of three": {"c1", "c2", "c0"}, "of many": func() (list []string) {
		for i := range chain {
			list = append(list, fmt.Sprintf("c%d", i+1))
		}
		return list
	}()} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			for i, target := range targets {
				s.ok(fmt.Sprintf(`{create: "c%d", documentTtl: {default: 10}, onExpire: {deadLetterTo: %q}}`, i, target))
				s.ok(fmt.Sprintf(`{insert: "c%d", documents: [{_id: 1, from: %d}, {_id: 2, from: %d}]}`, i, i, i))
			}
			s.to(20)
			s.ok(`{insert: "c0", documents: [{_id: 1, new: true}]}`)
			s.pass()
			for i := range targets {
				for id := 1; id <= 2; id++ {
					total := int64(0)
					for k := range len(targets) + 1 {
						total += number(s.ok(fmt.Sprintf(`{count: "c%d", query: {_expired: {$exists: true}, from: %d, $or: [{_id: %d}, {_originalId: %d}]}}`, k, i, id, id)).Lookup("n"))
					}
					is(s, fmt.Sprintf("copies of document %d of c%d", id, i), total, int64(1))
				}
			}
			is(s, "_id of the new one", number(s.first(`{find: "c0", filter: {new: true}}`).Lookup("_id")), 1)
		})
	}
}
