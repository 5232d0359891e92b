package mq_test

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// An insert of more messages into a topic than one transaction may copy is divided; of a
// message that alone has too many copies, none is left.
func TestInsertTooManyCopies(t *testing.T) {
	e := newMQEnv(t)
	e.svc.Queues.MaxCopies = 10
	e.ok(`{"create": "t", "messageTopic": {}}`)
	for _, name := range []string{"s1", "s2", "s3"} {
		e.ok(`{"create": "` + name + `", "messageSubscription": {"topic": "t", "rules": [
			{"name": "one", "filter": {"n": {"$gte": 1}}, "action": {"$set": {"copy": 1}}}, {"name": "two", "filter": {"n": {"$gte": 2}}, "action": {"$set": {"copy": 2}}},
			{"name": "three", "filter": {"n": {"$gte": 3}}, "action": {"$set": {"copy": 3}}}, {"name": "four", "filter": {"n": {"$gte": 3}}, "action": {"$set": {"copy": 4}}}]}}`)
	}
	const many = `"documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 2}, {"_id": 3, "n": 3}, {"_id": 4, "n": 1}, {"_id": 5, "n": 2}]`
	stored := func(want ...int) {
		t.Helper()
		for i, name := range []string{"s1", "s2", "s3"} {
			if got := e.ok(`{"count": "` + name + `"}`).Lookup("n").SafeInt64(); got != int64(want[i]) {
				t.Errorf("%s has %d messages, want %d", name, got, want[i])
			}
		}
	}
	check := func(r value.Doc, n int32, index int32) {
		t.Helper()
		errs := r.Lookup("writeErrors").Doc()
		first := errs.Lookup("0").Doc()
		if r.Lookup("n").Int32() != n || errs.Len() != 1 || first.Lookup("index").Int32() != index || first.Lookup("code").Int32() != 257 {
			t.Errorf("reply %s", r)
		}
	}
	check(e.ok(`{"insert": "t", "ordered": false, `+many+`}`), 4, 2)
	stored(6, 6, 6)
	check(e.ok(`{"insert": "t", `+many+`}`), 2, 2)
	stored(9, 9, 9)
	e.fails(257, "at most 10 copies", `{"mqSend": "t", "messages": [{"n": 2}, {"n": 2}]}`)
	stored(9, 9, 9)
	reply := e.run(`{"insert": "t", "documents": [{"n": 3}], "lsid": {"id": {"$uuid": "a5f8b2a4-0000-4000-8000-000000000001"}}, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`)
	if reply.Lookup("code").Int32() != 257 && reply.Lookup("writeErrors").IsMissing() {
		t.Errorf("in a transaction: %s", reply)
	}
}

// A scheduled message that is due and has too many copies does not keep others from sending.
func TestInsertBesideTooManyCopies(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "t", "messageTopic": {}}`)
	for _, name := range []string{"s1", "s2", "s3"} {
		e.ok(`{"create": "` + name + `", "messageSubscription": {"topic": "t"}}`)
	}
	e.ok(`{"mqSend": "t", "messages": [{"_id": 1, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225610000}}}]}`)
	e.svc.Queues.MaxCopies = 4
	e.at(10)
	for _, command := range []string{`{"insert": "t", "documents": [{"_id": 2}]}`, `{"mqSend": "t", "messages": [{"_id": 3}]}`} {
		if r := e.ok(command); !r.Lookup("writeErrors").IsMissing() {
			t.Errorf("%s: %s", command, r)
		}
	}
	for _, want := range []int64{2, 3} {
		if n := e.ok(`{"count": "s1"}`).Lookup("n").SafeInt64(); n != want {
			t.Errorf("%d messages, want %d", n, want)
		}
		e.sweep()
	}
}

// A dead letter without a session cannot return to a queue with sessions, where nobody could
// receive it, unless it gets one.
func TestResubmitWithoutSession(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "t", "messageTopic": {}}`)
	e.ok(`{"create": "s", "messageSubscription": {"topic": "t", "requiresSession": true}}`)
	e.ok(`{"mqSend": "t", "messages": [{"_id": 1}, {"_id": 2}]}`)
	e.fails(2, "needs a sessionId", `{"mqResubmit": "s", "all": true}`)
	e.fails(14, "expected type 'string'", `{"mqResubmit": "s", "all": true, "sessionId": 1}`)
	e.fails(2, "1 to 128 bytes", `{"mqResubmit": "s", "all": true, "sessionId": ""}`)
	e.ok(`{"mqResubmit": "s", "sequenceNumbers": [{"$numberLong": "1"}], "sessionId": "a"}`)
	if id := e.ok(`{"mqAcceptSession": "s"}`).Lookup("session").Doc().Lookup("sessionId").Str(); id != "a" {
		t.Errorf("session %q", id)
	}
	if n := len(e.messages(`{"mqPeek": "s", "subQueue": "deadLetter", "maxMessages": 5}`)); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}
