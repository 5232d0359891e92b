package queue

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// cases are those of the specification of expiry that concern queues. Times
// are seconds after the start.
var cases = []struct {
	number int
	name   string
	run    func(t *testing.T, e *env)
}{
	{65, "time to live is capped by the default", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 60}`)
		e.send("q", `{"_id": 1, "_mq": {"timeToLive": 3600}}`, `{"_id": 2}`, `{"_id": 3, "_mq": {"timeToLive": "PT5S"}}`)
		for i, want := range []int64{60000, 60000, 5000} {
			if got := mq(e.peek("q")[i], "timeToLive"); got.Kind() != value.KindInt64 || got.Int64() != want {
				t.Errorf("timeToLive %v, want %d", got, want)
			}
		}
	}},
	{66, "expired messages are browsed until a receive drops them", func(_ *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10}`)
		e.send("q", `{"_id": 1}`)
		e.at(10)
		e.count("q", 1)
		e.none("q")
		e.count("q", 0)
		e.none(dlq)
	}},
	{67, "expired messages are dead-lettered", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": true}`)
		e.send("q", `{"_id": 1, "a": 1}`)
		e.at(10)
		e.none("q")
		expectMQ(t, e.one(dlq), `{"deadLetterReason": "TTLExpiredException", "deadLetterErrorDescription": "The message expired and was dead lettered.", "deadLetterSource": "q"}`)
	}},
	{68, "a locked message may be completed after it has expired", func(_ *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "lockDuration": 30}`)
		e.send("q", `{"_id": 1}`)
		e.at(5)
		m := e.one("q")
		e.at(20)
		e.must(e.complete("q", m))
		e.count(dlq, 0)
	}},
	{69, "an abandoned message expires within the command", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "lockDuration": 30, "deadLetteringOnMessageExpiration": true}`)
		e.send("q", `{"_id": 1}`)
		e.at(5)
		m := e.one("q")
		e.at(20)
		if out := e.abandon("q", m); out != "expired" {
			t.Errorf("outcome %s", out)
		}
		e.count(dlq, 1)
	}},
	{70, "an expired message goes when its lock lapses", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "lockDuration": 30, "deadLetteringOnMessageExpiration": true}`)
		e.send("q", `{"_id": 1}`)
		e.at(5)
		m := e.one("q")
		e.at(35)
		e.fails(e.complete("q", m), 90410, "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.")
		if r := e.sweep(); r.MessagesDeadLettered != 1 {
			t.Errorf("removed %+v", r)
		}
		expectMQ(t, e.peek(dlq)[0], `{"deadLetterReason": "TTLExpiredException"}`)
	}},
	{71, "a lock may be renewed after the message has expired", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "lockDuration": 30}`)
		e.send("q", `{"_id": 1}`)
		e.at(5)
		m := e.one("q")
		e.at(34)
		until, err := e.broker.RenewLock(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, e.now())
		if e.must(err); until != t0+64_000 {
			t.Errorf("locked until %+d", until-t0)
		}
		e.at(60)
		e.must(e.complete("q", m))
	}},
	{72, "too many failed deliveries", func(t *testing.T, e *env) {
		e.create("q", `{"maxDeliveryCount": 3}`)
		e.send("q", `{"_id": 1}`)
		for i, want := range []string{"active", "active", "deadLettered"} {
			m := e.one("q")
			expectMQ(t, m, fmt.Sprintf(`{"deliveryCount": %d}`, i+1))
			if out := e.abandon("q", m); out != want {
				t.Errorf("outcome %s, want %s", out, want)
			}
		}
		expectMQ(t, e.one(dlq), `{"deliveryCount": 4, "deadLetterReason": "MaxDeliveryCountExceeded",
			"deadLetterErrorDescription": "Message could not be consumed after 3 delivery attempts."}`)
	}},
	{73, "deferred messages expire when they are asked for", func(t *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": true}`)
		e.send("q", `{"_id": 1}`)
		e.at(1)
		if out := e.deferIt("q", e.one("q")); out != "deferred" {
			t.Errorf("outcome %s", out)
		}
		e.at(100)
		e.sweep()
		e.count("q", 1)
		_, err := e.number("q", 1)
		e.fails(err, 90404, "The message does not exist or is locked")
		e.count("q", 0)
		e.count(dlq, 1)
	}},
	{74, "scheduled messages", func(t *testing.T, e *env) {
		send := func() {
			e.send("q", `{"_id": 1, "_mq": {"timeToLive": 10, "scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}`)
		}
		e.create("q", `{}`)
		send()
		e.at(99)
		e.none("q")
		e.at(100)
		m := e.one("q")
		expectMQ(t, m, `{"sequenceNumber": {"$numberLong": "2"}, "enqueuedTimeUtc": {"$date": 1767225700000}, "state": "active"}`)
		e.must(e.complete("q", m))
		e.send("q", `{"_id": 1, "_mq": {"timeToLive": 10, "scheduledEnqueueTimeUtc": {"$date": 1767225800000}}}`)
		e.at(210)
		if r := e.sweep(); r.MessagesDropped != 1 {
			t.Errorf("removed %+v", r)
		}
		e.count("q", 0)
	}},
	{75, "messages in the dead-letter queue stay", func(_ *testing.T, e *env) {
		e.create("q", `{"defaultMessageTimeToLive": 10}`)
		e.send("q", `{"_id": 1}`)
		m := e.one("q")
		e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, "bad", "very bad", e.now()))
		e.at(1e6)
		e.sweep()
		e.count(dlq, 1)
		e.one(dlq)
	}},
	{76, "properties out of range", func(_ *testing.T, e *env) {
		for _, o := range []string{`{"lockDuration": "PT6M"}`, `{"autoDeleteOnIdle": 299}`, `{"maxDeliveryCount": 0}`, `{"defaultMessageTimeToLive": 0}`} {
			e.fails(e.tryCreate("q", o), mongoerr.BadValue, "")
		}
	}},
	{77, "idle queues are deleted", func(t *testing.T, e *env) {
		e.create("q", `{"autoDeleteOnIdle": 300}`)
		e.at(299)
		e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(ns("q"))
			e.must(err)
			return e.broker.Touch(e.ctx, e.store, coll.Info(), e.now())
		}))
		e.at(598)
		if r := e.sweep(); r.QueuesDropped != 0 || !exists(e, "q") {
			t.Errorf("dropped too early: %+v", r)
		}
		e.at(599)
		if r := e.sweep(); r.QueuesDropped != 1 || exists(e, "q") || exists(e, "q.deadletterqueue") {
			t.Errorf("not dropped: %+v", r)
		}
		_, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1}, e.now())
		e.fails(err, mongoerr.NamespaceNotFound, "")
	}},
	{78, "what ordinary commands may not do", func(_ *testing.T, e *env) {
		e.create("q", `{}`)
		e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(ns("q"))
			e.must(err)
			e.fails(CheckUpdate(coll.Info()), mongoerr.IllegalOperation, "")
			e.fails(CheckIndex(coll.Info(), value.MustJSON(`{"key": {"x": 1}, "expireAfterSeconds": 1}`)), mongoerr.CannotCreateIndex, "")
			return nil
		}))
		e.fails(CheckOptions(value.MustJSON(`{"timeseries": {"timeField": "t"}, "messageQueue": {}}`)), mongoerr.InvalidOptions, "'timeseries' is not allowed with 'messageQueue'")
		_, err := e.trySend("q", `{"_id": 1, "_mq": {"sequenceNumber": 1}}`)
		e.fails(err, mongoerr.BadValue, "_mq.sequenceNumber")
	}},
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d %s", c.number, c.name), func(t *testing.T) { c.run(t, newEnv(t)) })
	}
}
