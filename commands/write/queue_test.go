package write_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// received receives the messages of queue "q" and returns their field n.
func received(h *harness.Harness) (list []int64) {
	h.Helper()
	reply := h.OK(`{"mqReceive": "q", "mode": "receiveAndDelete", "maxMessages": 100}`)
	for v := range reply.Lookup("messages").Doc().Values() {
		list = append(list, v.Doc().Lookup("n").SafeInt64())
	}
	return list
}

// An insert into a queue sends messages: each document gets the next number, and they are
// received in that order. A document that the queue refuses is a write error.
func TestSendByInsert(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {"defaultMessageTimeToLive": 60}}`)
	reply := h.Run(`{"insert": "q", "documents": [{"n": 1}, {"n": 2, "_mq": {"state": "active"}}, {"n": 3, "_mq": {"timeToLive": 10}}, {"n": 4, "_mq": {"timeToLive": 0}}], "ordered": false}`)
	if got, want := outcome(reply), "ok true n 2, 1: 2, 3: 2"; got != want {
		t.Errorf("answered %s, want %s", reply, want)
	}
	h.Finds(`{"aggregate": "q", "pipeline": [{"$project": {"_id": 0, "n": 1, "number": "$_mq.sequenceNumber", "ttl": "$_mq.timeToLive"}}], "cursor": {}}`,
		`[{"n":1,"number":{"$numberLong":"1"},"ttl":{"$numberLong":"60000"}},{"n":3,"number":{"$numberLong":"2"},"ttl":{"$numberLong":"10000"}}]`)
	h.Fails(20, `{"insert": "q.deadletterqueue", "documents": [{"n": 1}]}`)
	h.Fails(11000, `{"insert": "q", "documents": [{"_id": 1}, {"_id": 1}]}`)
	if got := received(h); len(got) != 3 || got[0] != 1 || got[1] != 3 {
		t.Errorf("received %v", got)
	}
}

// Messages that a transaction sends are in the queue only after its commit.
func TestSendWithinTransaction(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]int{"commitTransaction": 1, "abortTransaction": 0} {
		h := harness.New(t).AsMember()
		h.OK(`{"create": "q", "messageQueue": {}}`)
		h.OK(harness.InTxnArgs(`{"insert": "q", "documents": [{"n": 7}]}`, 1, true))
		if got := received(h); len(got) != 0 {
			t.Errorf("before %s: received %v", end, got)
		}
		if reply := h.EndTxn(end, 1); !reply.Lookup("ok").Truthy() {
			t.Fatal(reply)
		}
		if got := received(h); len(got) != want {
			t.Errorf("after %s: received %v", end, got)
		}
	}
}

// A waiting receiver receives an inserted message, and an error if its queue is dropped.
func TestReceiverWaits(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`{"insert": "q", "documents": [{"n": 1}]}`: "1",
		`{"drop": "q"}`:       "26",
		`{"dropDatabase": 1}`: "26",
	} {
		h := harness.New(t)
		h.OK(`{"create": "q", "messageQueue": {}}`)
		replies := make(chan value.Doc)
		by := other(h)
		go func() {
			replies <- by.Run(`{"mqReceive": "q", "mode": "receiveAndDelete", "maxWaitTimeMS": 60000}`)
		}()
		h.OK(command)
		reply := <-replies
		got := reply.Lookup("code")
		if got.IsMissing() {
			got = reply.Lookup("messages").Doc().Index(0).Doc().Lookup("n")
		}
		if got.String() != want {
			t.Errorf("%s: the receiver got %s, want %s", command, reply, want)
		}
	}
}

// Only the commands of queues change messages; an administrator may delete them.
func TestMessagesAreNotUpdated(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {}}`)
	h.OK(`{"insert": "q", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 2}]}`)
	const text = "cannot modify the messages of the message queue test.q"
	for _, command := range []string{
		`{"update": "q", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 5}}}]}`,
		`{"update": "q", "updates": [{"q": {"n": 1}, "u": {"n": 5}}]}`,
		`{"findAndModify": "q", "query": {"_id": 1}, "update": {"$set": {"n": 5}}}`,
		`{"findAndModify": "q", "query": {"_id": 1}, "remove": true}`,
	} {
		if said := h.Fails(20, command); said != text {
			t.Errorf("%s said %q, want %q", command, said, text)
		}
	}
	if n := h.OK(`{"delete": "q", "deletes": [{"q": {"_mq.state": "active", "n": 1}, "limit": 0}]}`).Lookup("n").SafeInt64(); n != 1 {
		t.Errorf("%d messages were deleted, want 1", n)
	}
	if got := received(h); len(got) != 1 || got[0] != 2 {
		t.Errorf("received %v", got)
	}
}

// A pass moves expired messages to the dead-letter queue and drops queues that have been
// idle for too long; reads within a transaction do not count as activity.
func TestQueuesInAPass(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{"create": "q", "messageQueue": {"deadLetteringOnMessageExpiration": true, "autoDeleteOnIdle": 300}}`)
	h.OK(`{"insert": "q", "documents": [{"_id": 1, "_mq": {"timeToLive": 10}}]}`)
	h.Pass(10)
	h.Finds(`{"find": "q"}`, `[]`)
	h.Finds(`{"aggregate": "q.deadletterqueue", "pipeline": [{"$project": {"reason": "$_mq.deadLetterReason"}}], "cursor": {}}`, `[{"_id":1,"reason":"TTLExpiredException"}]`)
	h.Advance(299)
	h.OK(harness.InTxnArgs(`{"find": "q"}`, 1, true))
	h.EndTxn("commitTransaction", 1)
	h.Pass(1)
	if names := h.Listed(); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}
