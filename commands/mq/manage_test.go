package mq_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// numbersOf are the sequence numbers of the messages that a command returns.
func (e *mqEnv) numbersOf(command string) (list []int64) {
	e.t.Helper()
	for _, m := range e.messages(command) {
		list = append(list, mqField(m, "sequenceNumber").Int64())
	}
	return list
}

// inStates fills a queue: 1 locked, 2 deferred, 3 and 4 active, 5 scheduled, 6 and 7 in
// the dead-letter queue.
func inStates(t *testing.T) *mqEnv {
	t.Helper()
	e := newMQEnv(t)
	e.create(`{"lockDuration": 30}`)
	e.ok(`{"mqSend": "q", "messages": [{"_id": 1, "a": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4},
		{"_id": 5, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}, {"_id": 6, "body": "old", "note": "x"}, {"_id": 7}]}`)
	locked := e.messages(`{"mqReceive": "q", "maxMessages": 6}`) // 1 2 3 4 6 7
	for i, m := range locked {
		switch token := lockTokenOf(m); i {
		case 1:
			e.ok(`{"mqDefer": "q"}`, "lockToken", token)
		case 2, 3:
			e.ok(`{"mqAbandon": "q"}`, "lockToken", token)
		case 4, 5:
			e.ok(`{"mqDeadLetter": "q", "reason": "bad", "description": "very"}`, "lockToken", token)
		}
	}
	return e
}

func expectNumbers(t *testing.T, what string, got []int64, want ...int64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: messages %v, want %v", what, got, want)
	}
}

// Messages can be browsed by their state, from a number on and from the end.
func TestMQPeekByState(t *testing.T) {
	e := inStates(t)
	tests := []struct {
		options string
		want    []int64
	}{
		{``, []int64{1, 2, 3, 4, 5}},
		{`"state": "locked"`, []int64{1}},
		{`"state": "deferred"`, []int64{2}},
		{`"state": "active"`, []int64{3, 4}},
		{`"state": "scheduled"`, []int64{5}},
		{`"state": "deadLettered"`, []int64{6, 7}},
		{`"subQueue": "deadLetter", "state": "active"`, []int64{6, 7}},
		{`"subQueue": "deadLetter", "state": "scheduled"`, nil},
		{`"state": "active", "fromSequenceNumber": 4`, []int64{4}},
		{`"state": "active", "fromEnd": true`, []int64{4, 3}},
		{`"fromEnd": true, "fromSequenceNumber": 4`, []int64{4, 3, 2, 1}},
		{`"state": "deadLettered", "fromEnd": true`, []int64{7, 6}},
	}
	for _, tt := range tests {
		comma := ", "
		if tt.options == "" {
			comma = ""
		}
		expectNumbers(t, tt.options, e.numbersOf(`{"mqPeek": "q", "maxMessages": 100`+comma+tt.options+`}`), tt.want...)
	}
	e.fails(2, "mqPeek.state", `{"mqPeek": "q", "state": "gone"}`)
	// What is due counts in its new state although nothing has stored it.
	e.at(100)
	expectNumbers(t, "active, later", e.numbersOf(`{"mqPeek": "q", "maxMessages": 100, "state": "active"}`), 1, 3, 4, 5)
	expectNumbers(t, "active, from the end", e.numbersOf(`{"mqPeek": "q", "maxMessages": 3, "state": "active", "fromEnd": true}`), 5, 4, 3)
	expectNumbers(t, "locked, later", e.numbersOf(`{"mqPeek": "q", "maxMessages": 100, "state": "locked"}`))
	if st := e.ok(`{"mqStats": "q"}`); st.Lookup("active").Int64() != 4 || st.Lookup("locked").Int64() != 0 {
		t.Errorf("mqStats counts other states than mqPeek shows: %s", st)
	}
}

func TestMQPurge(t *testing.T) {
	tests := []struct {
		options string
		purged  int64
		left    []int64 // in the queue and then the dead-letter queue
	}{
		{``, 4, []int64{1, 6, 7}},
		{`"state": "active"`, 2, []int64{1, 2, 5, 6, 7}},
		{`"state": "locked"`, 1, []int64{2, 3, 4, 5, 6, 7}},
		{`"state": "deferred"`, 1, []int64{1, 3, 4, 5, 6, 7}},
		{`"state": "scheduled"`, 1, []int64{1, 2, 3, 4, 6, 7}},
		{`"state": "deadLettered"`, 2, []int64{1, 2, 3, 4, 5}},
		{`"subQueue": "deadLetter"`, 2, []int64{1, 2, 3, 4, 5}},
		{`"upToSequenceNumber": 3`, 2, []int64{1, 4, 5, 6, 7}},
		{`"before": {"$date": 1767225600000}`, 0, []int64{1, 2, 3, 4, 5, 6, 7}},
		{`"before": {"$date": 1767225600001}`, 3, []int64{1, 5, 6, 7}}, // the scheduled one is enqueued later
	}
	for _, tt := range tests {
		t.Run(tt.options, func(t *testing.T) {
			e := inStates(t)
			command := `{"mqPurge": "q"`
			if tt.options != "" {
				command += ", " + tt.options
			}
			dry := e.ok(command + `, "dryRun": true}`)
			if got := dry.Lookup("purged").SafeInt64(); got != tt.purged || !dry.Lookup("dryRun").Bool() {
				t.Errorf("dry run: %s, want %d", dry, tt.purged)
			}
			expectNumbers(t, "after the dry run", append(e.numbersOf(mqPeekAll), e.numbersOf(mqPeekDead)...), 1, 2, 3, 4, 5, 6, 7)
			if reply := e.ok(command + `}`); reply.Lookup("purged").SafeInt64() != tt.purged || reply.Has("dryRun") {
				t.Errorf("%s, want %d", reply, tt.purged)
			}
			expectNumbers(t, "left", append(e.numbersOf(mqPeekAll), e.numbersOf(mqPeekDead)...), tt.left...)
		})
	}
	e := inStates(t)
	e.fails(2, "mqPurge.state", `{"mqPurge": "q", "state": "gone"}`)
	e.fails(14, "before", `{"mqPurge": "q", "before": 5}`)
	e.fails(26, "", `{"mqPurge": "nowhere"}`)
	e.ok(`{"insert": "plain", "documents": [{}]}`)
	e.fails(20, "is not a message queue", `{"mqPurge": "plain"}`)
}

const mqPeekDead = `{"mqPeek": "q", "subQueue": "deadLetter", "maxMessages": 1000}`

// A purge goes in batches, and takes a lock token's message away.
func TestMQPurgeBatches(t *testing.T) {
	e := newMQEnv(t)
	e.create(`{}`)
	for range 9 {
		b := value.NewBuilder()
		b.StartArray("messages")
		for range 75 {
			b.StartDocument("").End()
		}
		b.End()
		e.ok(`{"mqSend": "q"}`, "messages", b.Doc().Lookup("messages"))
	}
	m := e.one(mqReceive)
	if got := e.ok(`{"mqPurge": "q"}`).Lookup("purged").SafeInt64(); got != 9*75-1 {
		t.Errorf("purged %d", got)
	}
	if got := e.ok(`{"mqPurge": "q", "state": "locked"}`).Lookup("purged").SafeInt64(); got != 1 {
		t.Errorf("purged %d locked ones", got)
	}
	e.fails(90410, "", `{"mqComplete": "q"}`, "lockToken", lockTokenOf(m))
	expectNumbers(t, "sent after a purge", []int64{e.ok(`{"mqSend": "q", "messages": [{}]}`).Lookup("sequenceNumbers").Doc().Index(0).Int64()}, 676)
}

// A resubmitted message is a new one: number, enqueued time, time to live and delivery
// count; the reason is gone.
func TestMQResubmit(t *testing.T) {
	e := inStates(t)
	e.at(10)
	reply := e.ok(`{"mqResubmit": "q", "sequenceNumbers": [6], "set": {"body": "new"}, "unset": ["note"], "timeToLive": "PT1M"}`)
	if got := reply.String(); got != "{ resubmitted: 1, sequenceNumbers: [ 8 ], ok: 1.0 }" {
		t.Errorf("reply %s", got)
	}
	m := e.one(`{"mqPeek": "q", "fromSequenceNumber": 8}`)
	want := `{ _id: 6, body: "new", _mq: { sequenceNumber: 8, enqueuedTimeUtc: new Date(1767225610000), timeToLive: 60000, expiresAtUtc: new Date(1767225670000), state: "active", deliveryCount: 0 } }`
	if m.String() != want {
		t.Errorf("message %s\nwant    %s", m, want)
	}
	expectNumbers(t, "dead letters", e.numbersOf(mqPeekDead), 7)
	if got := e.ok(`{"mqResubmit": "q", "all": true, "scheduledEnqueueTimeUtc": {"$date": 1767225640000}}`).String(); got != "{ resubmitted: 1, ok: 1.0 }" {
		t.Errorf("reply %s", got)
	}
	m = e.one(`{"mqPeek": "q", "fromEnd": true}`)
	if mqField(m, "state").Str() != "scheduled" || mqField(m, "enqueuedTimeUtc").DateTime() != 1767225640000 {
		t.Errorf("message %s", m)
	}
	expectNumbers(t, "dead letters", e.numbersOf(mqPeekDead))
}

// Listed dead letters move all or none.
func TestMQResubmitAllOrNone(t *testing.T) {
	e := inStates(t)
	held := e.one(mqReceiveDead) // 6
	for _, numbers := range []string{"[7, 6]", "[7, 7]", "[7, 99]", "[3]"} {
		e.fails(90404, "The message does not exist or is locked", `{"mqResubmit": "q", "sequenceNumbers": `+numbers+`}`)
	}
	expectNumbers(t, "dead letters", e.numbersOf(mqPeekDead), 6, 7)
	expectNumbers(t, "queue", e.numbersOf(mqPeekAll), 1, 2, 3, 4, 5)
	// All means those that nobody holds.
	if got := e.ok(`{"mqResubmit": "q/$deadletterqueue", "all": true}`).Lookup("resubmitted").SafeInt64(); got != 1 {
		t.Errorf("resubmitted %d", got)
	}
	e.ok(`{"mqComplete": "q", "subQueue": "deadLetter"}`, "lockToken", lockTokenOf(held))
	expectNumbers(t, "queue", e.numbersOf(mqPeekAll), 1, 2, 3, 4, 5, 8)

	e.fails(9, "", `{"mqResubmit": "q"}`)
	e.fails(9, "", `{"mqResubmit": "q", "all": true, "sequenceNumbers": [1]}`)
	e.fails(2, "_mq", `{"mqResubmit": "q", "all": true, "set": {"_mq": {}}}`)
	e.fails(66, "_id", `{"mqResubmit": "q", "all": true, "set": {"_id": 1}}`)
	e.fails(66, "_id", `{"mqResubmit": "q", "all": true, "unset": ["_id"]}`)
	e.fails(14, "unset", `{"mqResubmit": "q", "all": true, "unset": [1]}`)
	e.ok(`{"insert": "plain", "documents": [{}]}`)
	e.fails(20, "", `{"mqResubmit": "plain", "all": true}`)
}

// A message whose _id the queue has in use by now is kept beside the other one, and an
// index of the user that refuses it leaves it where it was.
func TestMQResubmitDuplicates(t *testing.T) {
	e := inStates(t)
	e.ok(`{"mqSend": "q", "messages": [{"_id": 6, "k": 1}]}`)
	e.ok(`{"mqResubmit": "q", "sequenceNumbers": [6]}`)
	m := e.one(`{"mqPeek": "q", "fromEnd": true}`)
	if m.Lookup("_id").Kind() != value.KindObjectID || m.Lookup("body").Str() != "old" {
		t.Errorf("message %s", m)
	}
	e.ok(`{"createIndexes": "q", "indexes": [{"key": {"k": 1}, "name": "k_1", "unique": true, "sparse": true}]}`)
	e.fails(11000, "k_1", `{"mqResubmit": "q", "all": true, "set": {"k": 1}}`)
	e.fails(2, "timeToLive", `{"mqResubmit": "q", "all": true, "timeToLive": 0}`)
	expectNumbers(t, "dead letters", e.numbersOf(mqPeekDead), 7)
}

// A receiver that waits gets a message that is resubmitted.
func TestMQResubmitWakes(t *testing.T) {
	e := inStates(t)
	e.ok(`{"mqPurge": "q"}`)
	other := &mqEnv{t: t, svc: e.svc, conn: e.svc.NewConn("other", "test"), clock: e.clock}
	got := make(chan value.Doc, 1)
	go func() { got <- other.run(`{"mqReceive": "q", "mode": "receiveAndDelete", "maxWaitTimeMS": 60000}`) }()
	e.ok(`{"mqResubmit": "q", "sequenceNumbers": [7]}`)
	if m := (<-got).Lookup("messages").Doc().Index(0).Doc(); m.Lookup("_id").Int32() != 7 {
		t.Errorf("received %s", m)
	}
}
