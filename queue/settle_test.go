package queue

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestPeekLock(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 30}`)
	e.send("q", `{"_id": 1, "a": [1, {"b": "x"}], "_mq": {}, "z": null}`)
	m := e.one("q")
	if got := m.Lookup("a").String() + m.Lookup("z").String(); got != `[ 1, { b: "x" } ]null` {
		t.Errorf("fields of the sender: %s", m)
	}
	if sub, b := mq(m, "lockToken").Binary(); sub != 4 || len(b) != 16 {
		t.Errorf("lockToken %v", mq(m, "lockToken"))
	}
	expectMQ(t, m, `{"sequenceNumber": {"$numberLong": "1"}, "enqueuedTimeUtc": {"$date": 1767225600000}, "timeToLive": {"$numberLong": "922337203685477"},
		"state": "active", "deliveryCount": 1, "lockedUntilUtc": {"$date": 1767225630000}}`)
	for _, name := range []string{"ready", "expiry", "deferred", "expiresAtUtc", "deadLetterReason"} {
		if mq(m, name).Kind() != value.Missing {
			t.Errorf("_mq.%s is shown", name)
		}
	}
	seen := e.peek("q")[0]
	if mq(seen, "lockToken").Kind() != value.Missing || mq(seen, "lockedUntilUtc").Kind() != value.Missing {
		t.Errorf("the lock is shown to others: %s", seen)
	}
	e.none("q")
	e.must(e.complete("q", m))
	e.fails(e.complete("q", m), mongoerr.MessageLockLost, "The lock supplied is invalid")
	e.count("q", 0)
}

func TestReceiveAndDelete(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`, `{"_id": 3}`)
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 2, Delete: true}, e.now())
	e.must(err)
	if len(docs) != 2 || docs[0].Lookup("_id").Int32() != 1 || docs[1].Lookup("_id").Int32() != 2 {
		t.Errorf("received %v", docs)
	}
	expectMQ(t, docs[0], `{"deliveryCount": 1}`)
	if mq(docs[0], "lockToken").Kind() != value.Missing {
		t.Error("there is a token")
	}
	e.count("q", 1)
}

func TestTokens(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	a, b := e.one("q"), e.one("q")
	if tokenOf(a) == tokenOf(b) {
		t.Fatal("equal tokens")
	}
	old := tokenOf(a)
	e.abandon("q", a)
	again := e.one("q")
	if tokenOf(again) == old {
		t.Error("a token is used twice")
	}
	e.fails(e.complete("q", a), mongoerr.MessageLockLost, "")
	e.fails(e.complete(dlq, b), mongoerr.MessageLockLost, "")
	e.fails(e.broker.Complete(e.ctx, e.store, Lock{ref("q"), [16]byte{}}, e.now()), mongoerr.MessageLockLost, "")
	forged := tokenOf(b)
	forged[0] ^= 1
	e.fails(e.broker.Complete(e.ctx, e.store, Lock{ref("q"), forged}, e.now()), mongoerr.MessageLockLost, "")
	e.must(e.complete("q", b))
	e.must(e.complete("q", again))
}

func TestLockLapses(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 10, "maxDeliveryCount": 2}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	m := e.one("q")
	e.at(9.999)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "2"}}`)
	e.at(10)
	e.fails(e.complete("q", m), mongoerr.MessageLockLost, "")
	expectMQ(t, e.peek("q")[0], `{"deliveryCount": 2}`) // as it stands, though nothing was written
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "1"}, "deliveryCount": 2}`)
	if n := e.metrics.LocksLapsed.Load(); n != 1 {
		t.Errorf("%d locks lapsed", n)
	}
	e.at(20)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "2"}, "deliveryCount": 2}`)
	expectMQ(t, e.one(dlq), `{"sequenceNumber": {"$numberLong": "1"}, "deliveryCount": 3, "deadLetterReason": "MaxDeliveryCountExceeded"}`)
}

func TestAbandonSet(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1, "a": 1, "b": 2}`)
	set := func(fields string) error {
		_, err := e.broker.Abandon(e.ctx, e.store, Lock{ref("q"), tokenOf(e.one("q"))}, value.MustJSON(fields), e.now())
		return err
	}
	e.must(set(`{"a": {"x": 1}, "c": 3}`))
	m := e.one("q")
	if got := m.Lookup("a").String() + m.Lookup("b").String() + m.Lookup("c").String(); got != "{ x: 1 }23" {
		t.Errorf("message %s", m)
	}
	expectMQ(t, m, `{"deliveryCount": 2, "sequenceNumber": {"$numberLong": "1"}}`)
	e.abandon("q", m)
	for fields, code := range map[string]mongoerr.Code{
		`{"_mq": {}}`: mongoerr.BadValue, `{"_id": 2}`: mongoerr.ImmutableField, `{"$a": 1}`: mongoerr.DollarPrefixedFieldName,
	} {
		m := e.one("q")
		_, err := e.broker.Abandon(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, value.MustJSON(fields), e.now())
		e.fails(err, code, "")
		e.abandon("q", m) // a refused command leaves the lock
	}
	m = e.one("q")
	big := value.NewDoc("x", value.String(strings.Repeat("x", maxDocument)))
	_, err := e.broker.Abandon(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, big, e.now())
	e.fails(err, mongoerr.BSONObjectTooLarge, "")
}

func TestDefer(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"maxDeliveryCount": 3, "lockDuration": 10}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	_, err := e.number("q", 1)
	e.fails(err, mongoerr.MessageNotFound, "") // not deferred
	e.deferIt("q", e.one("q"))
	expectMQ(t, e.peek("q")[0], `{"state": "deferred", "deliveryCount": 2}`)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "2"}}`)
	m, err := e.number("q", 1)
	e.must(err)
	expectMQ(t, m, `{"state": "deferred", "deliveryCount": 2}`)
	_, err = e.number("q", 1)
	e.fails(err, mongoerr.MessageNotFound, "") // locked
	if out := e.abandon("q", m); out != "active" {
		t.Errorf("outcome %s", out)
	}
	e.none("q") // still deferred
	m, err = e.number("q", 1)
	e.must(err)
	if out := e.deferIt("q", m); out != "deadLettered" { // the third failure
		t.Errorf("outcome %s", out)
	}
	expectMQ(t, e.one(dlq), `{"state": "active", "deliveryCount": 4, "deadLetterReason": "MaxDeliveryCountExceeded"}`)
}

func TestReceiveNumbersAllOrNone(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	e.deferIt("q", e.one("q"))
	e.deferIt("q", e.one("q"))
	ask := func(numbers ...int64) ([]value.Doc, error) {
		return e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Numbers: numbers, Delete: true}, e.now())
	}
	for _, numbers := range [][]int64{{1, 3}, {1, 1}, {0}, {-1}} {
		_, err := ask(numbers...)
		e.fails(err, mongoerr.MessageNotFound, "The message does not exist or is locked")
	}
	docs, err := ask(2, 1)
	if e.must(err); len(docs) != 2 || mq(docs[0], "sequenceNumber").Int64() != 2 {
		t.Errorf("received %v", docs)
	}
	e.count("q", 0)
}

func TestDeadLetterQueue(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 10, "maxDeliveryCount": 2}`)
	kill := func(reason, description string) {
		m := e.one("q")
		e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, reason, description, e.now()))
	}
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	kill("r", "d")
	kill("", "")
	first := e.peek(dlq)
	expectMQ(t, first[0], `{"deadLetterReason": "r", "deadLetterErrorDescription": "d", "deadLetterSource": "q", "state": "active", "deliveryCount": 1}`)
	if mq(first[1], "deadLetterReason").Kind() != value.Missing {
		t.Errorf("message %s", first[1])
	}
	for i := range 5 { // failures are not counted
		m := e.one(dlq)
		e.fails(e.broker.DeadLetter(e.ctx, e.store, Lock{ref(dlq), tokenOf(m)}, "", "", e.now()), mongoerr.IllegalOperation, "")
		expectMQ(t, m, `{"deliveryCount": 1, "sequenceNumber": {"$numberLong": "1"}}`)
		if i%2 == 0 {
			e.abandon(dlq, m)
		} else {
			e.at(float64(10 * (i + 1)))
		}
	}
	m := e.one("q.deadletterqueue") // also by its own name
	e.deferIt(dlq, m)
	m, err := e.number(dlq, 1)
	e.must(err)
	e.must(e.complete(dlq, m))
	_, err = e.trySend("q.deadletterqueue", `{"_id": 5}`)
	e.fails(err, mongoerr.IllegalOperation, "")

	e.send("q", `{"_id": 2}`) // the same _id as one that is dead already
	kill("again", "")
	docs := e.peek(dlq)
	if len(docs) != 2 || docs[1].Lookup("_id").Kind() != value.KindObjectID {
		t.Errorf("dead letters %v", docs)
	}
}

func TestCancelScheduled(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	n := e.send("q", `{"_id": 1, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225610000}}}`, `{"_id": 2}`,
		`{"_id": 3, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225610000}}}`)
	cancel := func(n int64) error { return e.broker.CancelScheduled(e.ctx, e.store, ref("q"), n, e.now()) }
	expectMQ(t, e.peek("q")[0], `{"state": "scheduled", "scheduledEnqueueTimeUtc": {"$date": 1767225610000}, "enqueuedTimeUtc": {"$date": 1767225610000}, "deliveryCount": 0}`)
	e.fails(cancel(n[1]), mongoerr.MessageNotFound, "") // active
	e.fails(cancel(99), mongoerr.MessageNotFound, "")
	e.must(cancel(n[0]))
	e.fails(cancel(n[0]), mongoerr.MessageNotFound, "")
	e.at(10)
	e.fails(cancel(n[2]), mongoerr.MessageNotFound, "") // due
	e.one("q")
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "4"}}`)
}

func TestSequenceNumbersHaveNoGaps(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`)
	_, err := e.trySend("q", `{"_id": 2}`, `{"_id": 1}`)
	if err == nil {
		t.Fatal("the same _id twice")
	}
	_, err = e.trySend("q", `{"_id": 3}`, `{"_id": 4, "_mq": {"timeToLive": 0}}`)
	e.fails(err, mongoerr.BadValue, "greater than zero")
	e.must(e.complete("q", e.one("q"))) // the highest number is gone
	if n := e.send("q", `{"_id": 5}`)[0]; n != 2 {
		t.Errorf("number %d, want 2", n)
	}
}

func TestSendRequest(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	for d, code := range map[string]mongoerr.Code{
		`{"_mq": 5}`:                              mongoerr.TypeMismatch,
		`{"_mq": {"timeToLive": -1}}`:             mongoerr.BadValue,
		`{"_mq": {"timeToLive": {}}}`:             mongoerr.TypeMismatch,
		`{"_mq": {"scheduledEnqueueTimeUtc": 5}}`: mongoerr.TypeMismatch,
		`{"_mq": {"state": "active"}}`:            mongoerr.BadValue,
		`{"_mq": {"ready": 1}}`:                   mongoerr.BadValue,
		`{"_mq": {"timeToLive": 1}, "_mq": {}}`:   mongoerr.BadValue,
	} {
		_, err := e.trySend("q", d)
		e.fails(err, code, "")
	}
	// A schedule that is due already, or beyond all dates, does no harm.
	e.send("q", `{"_id": 1, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225600000}}}`)
	e.send("q", `{"_id": 2, "_mq": {"timeToLive": 5, "scheduledEnqueueTimeUtc": {"$date": {"$numberLong": "9223372036854775807"}}}}`)
	expectMQ(t, e.peek("q")[0], `{"state": "active"}`)
	expectMQ(t, e.peek("q")[1], `{"state": "scheduled"}`)
}

func TestDeadLetterTexts(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`)
	lock := Lock{ref("q"), tokenOf(e.one("q"))}
	long := strings.Repeat("x", 4097)
	e.fails(e.broker.DeadLetter(e.ctx, e.store, lock, long, "", e.now()), mongoerr.BadValue, "at most 4096 bytes, found 4097")
	e.fails(e.broker.DeadLetter(e.ctx, e.store, lock, "", long, e.now()), mongoerr.BadValue, "at most 4096 bytes, found 4097")
	e.must(e.broker.DeadLetter(e.ctx, e.store, lock, long[1:], long[1:], e.now()))
}
