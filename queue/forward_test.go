package queue

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

func TestForward(t *testing.T) {
	e := newEnv(t)
	e.create("last", `{"defaultMessageTimeToLive": 30}`)
	e.create("first", `{"forwardTo": "last", "defaultMessageTimeToLive": 60}`)
	if n := e.send("first", `{"_id": 1}`, `{"_id": 2, "_mq": {"timeToLive": 5, "messageId": "m", "sessionId": "s"}}`); n[1] != 2 {
		t.Errorf("numbers %v", n)
	}
	e.count("first", 0)
	expectMQ(t, e.peek("last")[0], `{"sequenceNumber": {"$numberLong": "1"}, "timeToLive": {"$numberLong": "30000"}, "enqueuedSequenceNumber": {"$numberLong": "1"}, "deliveryCount": 0}`)
	expectMQ(t, e.peek("last")[1], `{"timeToLive": {"$numberLong": "5000"}, "messageId": "m", "sessionId": "s"}`)
	_, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("first"), Max: 1}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "which forwards its messages to 'last'")
	e.send("first", `{"_id": 3, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225610000}}}`)
	e.count("first", 1)
	e.at(10)
	e.sweep()
	e.count("first", 0)
	e.count("last", 2) // the second has expired
}

// Messages that a queue had before it forwards go on with the next pass.
func TestForwardStrays(t *testing.T) {
	e := newEnv(t)
	e.create("to", `{}`)
	e.create("dead", `{}`)
	e.create("q", `{"lockDuration": 30}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`, `{"_id": 3}`)
	e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(e.one("q"))}, "bad", "very bad", e.now()))
	e.one("q") // locked
	e.must(e.modify("q", `{"forwardTo": "to", "forwardDeadLetteredMessagesTo": "dead"}`))
	e.sweep()
	e.expectIDs("to", "3")
	e.expectIDs("dead", "1")
	expectMQ(t, e.one("dead"), `{"deadLetterReason": "bad", "deadLetterSource": "q", "deadLetterForwarded": true}`)
	e.at(31)
	e.sweep()
	e.expectIDs("to", "3", "2")
	e.must(e.modify("q", `{"forwardTo": null}`))
	e.send("q", `{"_id": 4}`)
	e.one("q")
}

// A message is forwarded four times at most.
func TestHops(t *testing.T) {
	e := newEnv(t)
	e.create("q5", `{}`)
	for i := 4; i >= 0; i-- {
		e.create(fmt.Sprintf("q%d", i), fmt.Sprintf(`{"forwardTo": "q%d"}`, i+1))
	}
	e.send("q1", `{"_id": 1}`)
	e.expectIDs("q5", "1")
	e.send("q0", `{"_id": 2}`)
	e.expectIDs("q5", "1")
	expectMQ(t, e.peek("q4.deadletterqueue")[0], `{"deadLetterReason": "MaxTransferHopCountExceeded", "enqueuedSequenceNumber": {"$numberLong": "1"}}`)
}

func TestForwardCycles(t *testing.T) {
	e := newEnv(t)
	e.create("c", `{}`)
	e.create("b", `{"forwardTo": "c"}`)
	e.create("a", `{"forwardTo": "b"}`)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t", "forwardTo": "a"}`)
	for name, options := range map[string]string{
		"c":  `{"forwardTo": "a"}`,
		"b":  `{"forwardDeadLetteredMessagesTo": "a"}`,
		"a":  `{"forwardTo": "a"}`,
		"c ": `{"forwardTo": "t"}`,
	} {
		e.fails(e.modify(name[:1], options), mongoerr.InvalidOptions, "would come back")
	}
	e.fails(e.tryCreateAs(Subscription, "x", `{"topic": "t", "forwardTo": "t"}`), mongoerr.InvalidOptions, "would come back")
	e.fails(e.tryCreate("x", `{"forwardTo": "nowhere"}`), mongoerr.NamespaceNotFound, "nowhere")
	e.fails(e.tryCreate("x", `{"forwardTo": "s"}`), mongoerr.InvalidOptions, "neither a queue nor a topic")
	e.fails(e.tryCreate("x", `{"forwardTo": "c.deadletterqueue"}`), mongoerr.InvalidOptions, "neither a queue nor a topic")
	e.send("t", `{"_id": 1}`)
	e.expectIDs("c", "1")
}

// Dead letters go where they are forwarded to, for whatever reason they are dead.
func TestForwardDeadLetters(t *testing.T) {
	e := newEnv(t)
	e.create("dead", `{"maxDeliveryCount": 1}`)
	e.create("q", `{"forwardDeadLetteredMessagesTo": "dead", "maxDeliveryCount": 1, "deadLetteringOnMessageExpiration": true, "lockDuration": 30}`)
	e.send("q", `{"_id": 1, "_mq": {"timeToLive": 10}}`, `{"_id": 2}`, `{"_id": 3}`)
	e.at(10)
	e.sweep()
	e.abandon("q", e.one("q"))
	e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(e.one("q"))}, "bad", "", e.now()))
	e.count("q.deadletterqueue", 0)
	for i, want := range []string{"TTLExpiredException", "MaxDeliveryCountExceeded", "bad"} {
		expectMQ(t, e.peek("dead")[i], fmt.Sprintf(`{"deadLetterReason": %q, "deadLetterSource": "q", "timeToLive": {"$numberLong": "922337203685477"}}`, want))
	}
	e.at(1000)
	e.sweep() // there they do not expire
	e.count("dead", 3)
	e.abandon("dead", e.one("dead"))
	expectMQ(t, e.peek("dead.deadletterqueue")[0], `{"deadLetterReason": "MaxDeliveryCountExceeded", "deadLetterSource": "dead"}`)
}

// Without a receiver, a queue of the service's own timing keeps what has expired.
func TestExpireOnReceiveOnly(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"expireOnReceiveOnly": true, "deadLetteringOnMessageExpiration": true, "lockDuration": 5}`)
	e.sendFor(1, 10)
	e.sendFor(2, 10)
	e.one("q")
	e.at(20) // one lock has lapsed as well
	e.sweep()
	e.count("q", 2)
	e.count(dlq, 0)
	if r := e.sweep(); r.MessagesDeadLettered != 0 {
		t.Errorf("%+v", r)
	}
	e.none("q")
	e.count("q", 0)
	e.count(dlq, 2)
}

// A dead letter that cannot be forwarded stays as it is, and passes leave it alone until its
// target exists.
func TestForwardDeadToNothing(t *testing.T) {
	e := newEnv(t)
	e.create("dead", `{}`)
	e.create("q", `{"forwardDeadLetteredMessagesTo": "dead"}`)
	drop := func(name string) {
		e.must(e.update(func(tx storage.Tx) error { return e.broker.Drop(tx, e.broker.Changes(), ns(name), e.now()) }))
	}
	drop("dead")
	e.send("q", `{"_id": 1}`)
	e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(e.one("q"))}, "bad", "very bad", e.now()))
	stamp, err := e.engine.Stamp(ns("q.deadletterqueue"))
	e.must(err)
	for range 6 {
		e.sweep()
	}
	if now, err := e.engine.Stamp(ns("q.deadletterqueue")); now != stamp || err != nil {
		t.Errorf("passes have written the dead letter: %v", err)
	}
	expectMQ(t, e.peek("q.deadletterqueue")[0], `{"deadLetterReason": "bad", "deadLetterErrorDescription": "very bad", "deadLetterSource": "q"}`)
	e.create("dead", `{}`)
	e.sweep()
	expectMQ(t, e.peek("dead")[0], `{"deadLetterReason": "bad", "deadLetterSource": "q", "deadLetterForwarded": true}`)
}

// A message that has expired is not forwarded, and so does not live again.
func TestForwardExpired(t *testing.T) {
	e := newEnv(t)
	e.create("to", `{}`)
	e.create("q", `{"expireOnReceiveOnly": true, "deadLetteringOnMessageExpiration": true}`)
	e.sendFor(1, 10)
	e.at(10)
	e.must(e.modify("q", `{"forwardTo": "to"}`))
	e.sweep()
	e.expectIDs("to")
	e.expectIDs("q.deadletterqueue", "1")
}

// A queue does not get the name of one that was dropped if its messages would come back.
func TestRenameIntoCycle(t *testing.T) {
	e := newEnv(t)
	e.create("gone", `{}`)
	e.create("a", `{"forwardTo": "gone"}`)
	e.must(e.update(func(tx storage.Tx) error { return e.broker.Drop(tx, e.broker.Changes(), ns("gone"), e.now()) }))
	e.create("b", `{"forwardTo": "a"}`)
	e.create("c", `{}`)
	rename := func(from string) error {
		return e.update(func(tx storage.Tx) error {
			return e.broker.Rename(tx, e.broker.Changes(), ns(from), ns("gone"), e.now())
		})
	}
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t", "forwardTo": "a"}`)
	for _, name := range []string{"b", "t"} {
		e.fails(rename(name), mongoerr.InvalidOptions, "would come back")
	}
	e.must(rename("c"))
	e.send("b", `{"_id": 1}`)
	e.expectIDs("gone", "1")
}
