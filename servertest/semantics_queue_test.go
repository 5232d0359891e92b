package servertest_test

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/server"
)

const (
	expiredReason = "TTLExpiredException"
	lostLock      = "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue."
)

// queueCases are cases 65-78: message queues.
var queueCases = []semanticsCase{
	{65, "time to live is capped", func(s *scene) {
		s.queue(`{defaultMessageTimeToLive: 60}`)
		s.ok(`{insert: "q", documents: [{_id: 1, _mq: {timeToLive: 3600}}, {_id: 2}, {_id: 3, _mq: {timeToLive: 5}}]}`)
		var got []int64
		for _, d := range s.batch(`{find: "q", sort: {_id: 1}}`) {
			got = append(got, d.Lookup("_mq", "timeToLive").AsInt64())
		}
		is(s, "timeToLive", fmt.Sprint(got), "[60000 60000 5000]")
	}},
	{66, "expired and dropped", func(s *scene) {
		s.queue(`{defaultMessageTimeToLive: 10}`)
		s.ok(`{insert: "q", documents: [{_id: 1}]}`)
		s.to(10)
		is(s, "peek", len(s.messages(`{mqPeek: "q"}`)), 1)
		is(s, "receive", len(s.messages(`{mqReceive: "q"}`)), 0)
		is(s, "peek again", len(s.messages(`{mqPeek: "q"}`)), 0)
		is(s, "dead letters", len(s.dead()), 0)
	}},
	{67, "expired and dead-lettered", func(s *scene) {
		s.queue(`{defaultMessageTimeToLive: 10, deadLetteringOnMessageExpiration: true}`)
		s.ok(`{insert: "q", documents: [{_id: 1, a: 1}]}`)
		s.to(10)
		is(s, "receive", len(s.messages(`{mqReceive: "q"}`)), 0)
		d := s.messages(`{mqReceive: "q", subQueue: "deadLetter"}`)[0]
		is(s, "reason", d.Lookup("_mq", "deadLetterReason").StringValue(), expiredReason)
		is(s, "description", d.Lookup("_mq", "deadLetterErrorDescription").StringValue(), "The message expired and was dead lettered.")
		is(s, "source", d.Lookup("_mq", "deadLetterSource").StringValue(), "q")
		is(s, "a", number(d.Lookup("a")), 1)
	}},
	{68, "settled after expiry", func(s *scene) {
		lock := s.lockedAt5(`{defaultMessageTimeToLive: 10, lockDuration: 30, deadLetteringOnMessageExpiration: false}`)
		s.to(20)
		s.ok(`{mqComplete: "q", lockToken: %s}`, lock)
		is(s, "dead letters", len(s.dead()), 0)
	}},
	{69, "abandoned after expiry", func(s *scene) {
		lock := s.lockedAt5(`{defaultMessageTimeToLive: 10, lockDuration: 30, deadLetteringOnMessageExpiration: true}`)
		s.to(20)
		is(s, "outcome", s.ok(`{mqAbandon: "q", lockToken: %s}`, lock).Lookup("outcome").StringValue(), "expired")
		is(s, "dead letters", len(s.dead()), 1)
	}},
	{70, "lock lapsed after expiry", func(s *scene) {
		lock := s.lockedAt5(`{defaultMessageTimeToLive: 10, lockDuration: 30, deadLetteringOnMessageExpiration: true}`)
		s.to(35)
		s.fails(90410, lostLock, `{mqComplete: "q", lockToken: %s}`, lock)
		s.pass()
		is(s, "dead letters", s.dead()[0].Lookup("_mq", "deadLetterReason").StringValue(), expiredReason)
	}},
	{71, "lock renewed", func(s *scene) {
		lock := s.lockedAt5(`{defaultMessageTimeToLive: 10, lockDuration: 30}`)
		s.to(34)
		is(s, "lockedUntilUtc", s.ok(`{mqRenewLock: "q", lockToken: %s}`, lock).Lookup("lockedUntilUtc").Time().UTC(), at(64))
		s.to(60)
		s.ok(`{mqComplete: "q", lockToken: %s}`, lock)
	}},
	{72, "too many deliveries", func(s *scene) {
		s.queue(`{maxDeliveryCount: 3}`)
		s.ok(`{insert: "q", documents: [{_id: 1}]}`)
		for n := int64(1); n <= 3; n++ {
			m := s.messages(`{mqReceive: "q"}`)[0]
			is(s, "deliveryCount", number(m.Lookup("_mq", "deliveryCount")), n)
			want := map[bool]string{false: "active", true: "deadLettered"}[n == 3]
			is(s, "outcome", s.ok(`{mqAbandon: "q", lockToken: %s}`, token(m)).Lookup("outcome").StringValue(), want)
		}
		d := s.dead()[0]
		is(s, "reason", d.Lookup("_mq", "deadLetterReason").StringValue(), "MaxDeliveryCountExceeded")
		is(s, "description", d.Lookup("_mq", "deadLetterErrorDescription").StringValue(), "Message could not be consumed after 3 delivery attempts.")
		is(s, "deliveryCount", number(d.Lookup("_mq", "deliveryCount")), 4)
	}},
	{73, "deferred and expired", func(s *scene) {
		s.queue(`{defaultMessageTimeToLive: 10, deadLetteringOnMessageExpiration: true}`)
		s.ok(`{insert: "q", documents: [{_id: 1}]}`)
		s.to(1)
		r := s.ok(`{mqDefer: "q", lockToken: %s}`, token(s.messages(`{mqReceive: "q"}`)[0]))
		is(s, "outcome", r.Lookup("outcome").StringValue(), "deferred")
		s.to(100)
		s.pass()
		is(s, "browsable", len(s.batch(`{find: "q"}`)), 1)
		s.fails(90404, "The message does not exist or is locked", `{mqReceive: "q", sequenceNumbers: [{"$numberLong": "%d"}]}`, number(r.Lookup("sequenceNumber")))
		is(s, "left", len(s.batch(`{find: "q"}`)), 0)
		is(s, "dead letters", len(s.dead()), 1)
	}},
	{74, "scheduled", func(s *scene) {
		const send = `{insert: "q", documents: [{_id: 1, _mq: {scheduledEnqueueTimeUtc: d(100), timeToLive: 10}}]}`
		s.queue(`{}`)
		s.ok(send)
		s.to(99)
		is(s, "early", len(s.messages(`{mqReceive: "q"}`)), 0)
		s.to(100)
		m := s.messages(`{mqReceive: "q"}`)
		is(s, "on time", len(m), 1)
		is(s, "enqueuedTimeUtc", m[0].Lookup("_mq", "enqueuedTimeUtc").Time().UTC(), at(100))

		other := newScene(s.TB)
		other.queue(`{}`)
		other.ok(send)
		other.to(110)
		other.pass()
		is(s, "not received", len(other.batch(`{find: "q"}`)), 0)
	}},
	{75, "dead letters stay", func(s *scene) {
		s.queue(`{defaultMessageTimeToLive: 10}`)
		s.ok(`{insert: "q", documents: [{_id: 1}]}`)
		s.ok(`{mqDeadLetter: "q", lockToken: %s, reason: "r", description: "d"}`, token(s.messages(`{mqReceive: "q"}`)[0]))
		s.to(1e6)
		s.pass()
		is(s, "reason", s.dead()[0].Lookup("_mq", "deadLetterReason").StringValue(), "r")
		lock := token(s.messages(`{mqReceive: "q/$deadletterqueue"}`)[0])
		s.fails(20, "", `{mqDeadLetter: "q", subQueue: "deadLetter", lockToken: %s}`, lock)
	}},
	{76, "properties refused", func(s *scene) {
		for _, p := range []string{`lockDuration: "PT6M"`, `autoDeleteOnIdle: 299`, `maxDeliveryCount: 0`, `defaultMessageTimeToLive: 0`} {
			s.fails(2, "", `{create: "q", messageQueue: {`+p+`}}`)
		}
		s.fails(14, "", `{create: "q", messageQueue: {maxDeliveryCount: "x"}}`)
		s.fails(40415, "", `{create: "q", messageQueue: {nonsense: 1}}`)
		s.queue(`{lockDuration: 30, maxDeliveryCount: 5}`)
		is(s, "listed", ejson(s.listed("q").Lookup("options")), `{"messageQueue": {"defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S","deadLetteringOnMessageExpiration": false,"lockDuration": "PT30S","maxDeliveryCount": {"$numberInt":"5"},"autoDeleteOnIdle": "P10675199DT2H48M5.4775807S"}}`)
		is(s, "companion", ejson(s.listed("q.deadletterqueue").Lookup("options")), `{"messageQueue": {"deadLetterOf": "q"}}`)
		s.fails(2, "", `{insert: "q", documents: [{_mq: {timeToLive: 0}}]}`)
		s.fails(20, "", `{drop: "q.deadletterqueue"}`)
		s.fails(20, "", `{insert: "q.deadletterqueue", documents: [{_id: 1}]}`)
	}},
	{77, "idle deletion", func(s *scene) {
		s.queue(`{autoDeleteOnIdle: 300}`)
		s.to(299)
		s.batch(`{find: "q"}`)
		s.to(598)
		s.pass()
		is(s, "kept", s.listed("q") != nil, true)
		s.to(599)
		s.pass()
		is(s, "dropped", s.listed("q") == nil && s.listed("q.deadletterqueue") == nil, true)
		s.fails(26, "", `{mqReceive: "q"}`)
		is(s, "queuesAutoDeleted", s.status("metrics.expiration.messageQueue.queuesAutoDeleted"), 1)
	}},
	{78, "ordinary commands", func(s *scene) {
		s.queue(`{}`)
		s.ok(`{insert: "q", documents: [{_id: 1}]}`)
		s.fails(20, "", `{update: "q", updates: [{q: {}, u: {$set: {a: 1}}}]}`)
		s.fails(20, "", `{findAndModify: "q", query: {}, update: {$set: {a: 1}}}`)
		s.fails(67, "", `{createIndexes: "q", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 5}]}`)
		s.fails(2, "", `{insert: "q", documents: [{_mq: {sequenceNumber: {"$numberLong": "7"}}}]}`)
		s.fails(72, "", `{create: "p", messageQueue: {}, timeseries: {timeField: "t"}}`)
		for _, other := range []string{`capped: true, size: 4096`, `viewOn: "q"`, `validator: {a: 1}`, `documentTtl: {default: 1}`, `clusteredIndex: {key: {_id: 1}, unique: true}`} {
			s.fails(72, "", `{create: "p", messageQueue: {}, `+other+`}`)
		}
		s.ok(`{createIndexes: "q", indexes: [{key: {x: 1}, name: "x_1"}]}`)
		names := []string{}
		for _, d := range s.batch(`{listIndexes: "q"}`) {
			names = append(names, d.Lookup("name").StringValue())
		}
		is(s, "indexes", fmt.Sprint(names), "[_id_ x_1]")
		is(s, "delete", number(s.ok(`{delete: "q", deletes: [{q: {_id: 1}, limit: 1}]}`).Lookup("n")), 1)
		s.ok(`{create: "plain"}`)
		s.fails(20, "is not a message queue", `{mqReceive: "plain"}`)
		s.fails(72, "", `{collMod: "plain", messageQueue: {}}`)
		s.fails(26, "", `{mqReceive: "nowhere"}`)
		var all []string
		for _, d := range s.batch(`{listCollections: 1}`) {
			all = append(all, d.Lookup("name").StringValue())
		}
		slices.Sort(all)
		is(s, "collections", fmt.Sprint(all), "[plain q q.deadletterqueue]")
	}},
}

// queue makes a message queue "q".
func (s *scene) queue(properties string) {
	s.Helper()
	s.ok(`{create: "q", messageQueue: ` + properties + `}`)
}

// lockedAt5 creates a queue whose only message is received five seconds after it was
// sent, and returns the lock token.
func (s *scene) lockedAt5(properties string) string {
	s.Helper()
	s.queue(properties)
	s.ok(`{insert: "q", documents: [{_id: 1}]}`)
	s.to(5)
	return token(s.messages(`{mqReceive: "q"}`)[0])
}

// token is the lock token of a received message as extended JSON.
func token(m bson.Raw) string { return m.Lookup("_mq", "lockToken").String() }

// dead returns the dead letters, by mqPeek.
func (s *scene) dead() []bson.Raw {
	s.Helper()
	return s.messages(`{mqPeek: "q", subQueue: "deadLetter", maxMessages: 10}`)
}

// unflagged returns a scene on a server without the test clock.
func unflagged(s *scene) *scene {
	s.Helper()
	srv, err := server.New(server.Config{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = srv.Close(context.Background()) })
	if err := srv.Start(); err != nil {
		s.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(srv.URI()).SetServerMonitoringMode("poll"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return &scene{TB: s.TB, client: client, db: client.Database("db")}
}
