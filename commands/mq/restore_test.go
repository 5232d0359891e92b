package mq_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// restoring is a command with the documents that a dump has of a collection.
func (e *mqEnv) restoring(to, extra string, docs []value.Doc) value.Doc {
	e.t.Helper()
	list := make([]value.Value, 0, len(docs))
	for _, d := range docs {
		list = append(list, value.Document(d))
	}
	return e.ok(`{"mqRestore": "`+to+`"`+extra+`}`, "messages", value.NewArray(list...))
}

// shown are the documents of a collection as a dump has them.
func (e *mqEnv) shown(coll string) (docs []value.Doc) {
	e.t.Helper()
	for v := range e.ok(`{"find": "` + coll + `", "sort": {"_id": 1}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		docs = append(docs, v.Doc().Clone())
	}
	return docs
}

func texts(docs []value.Doc) string {
	var out []string
	for _, d := range docs {
		out = append(out, d.String())
	}
	return strings.Join(out, "\n")
}

// What readers see of a queue in all states can be restored, and is then seen again; what
// was locked can be received at once.
func TestMQRestore(t *testing.T) {
	e := inStates(t)
	main, dead := e.shown("q"), e.shown("q.deadletterqueue")
	if len(main) != 5 || len(dead) != 2 {
		t.Fatalf("%d messages, %d dead letters", len(main), len(dead))
	}
	e.ok(`{"drop": "q"}`)
	e.create(`{"lockDuration": 30}`)
	e.restoring("q", "", main)
	e.restoring("q", `, "subQueue": "deadLetter"`, dead)
	if got, want := texts(e.shown("q")), texts(main); got != want {
		t.Errorf("restored\n%s\nof\n%s", got, want)
	}
	if got, want := texts(e.shown("q.deadletterqueue")), texts(dead); got != want {
		t.Errorf("restored\n%s\nof\n%s", got, want)
	}
	if got := e.ok(`{"mqStats": "q"}`).String(); !strings.HasPrefix(got, "{ active: 3, locked: 0, deferred: 1, scheduled: 1, expiredPending: 0, deadLettered: 2") {
		t.Errorf("counts: %s", got)
	}
	if got := e.ok(`{"mqSend": "q", "messages": [{}]}`).Lookup("sequenceNumbers").Doc().Index(0).Int64(); got != 8 {
		t.Errorf("the next number is %d", got)
	}
	expectNumbers(t, "received", e.numbersOf(`{"mqReceive": "q", "maxMessages": 9}`), 1, 3, 4, 8)
	expectNumbers(t, "deferred", e.numbersOf(`{"mqReceive": "q", "sequenceNumbers": [2]}`), 2)
	e.ok(`{"validate": "q"}`)

	// Again: each is refused, and nothing changes.
	reply := e.restoring("q", "", main)
	if list := reply.Lookup("writeErrors").Doc(); reply.Lookup("n").Int32() != 0 || list.Len() != 5 || list.Index(0).Doc().Lookup("code").Int32() != 11000 {
		t.Errorf("again: %s", reply)
	}
}

// A message that no reader can have seen is refused, and the others are stored.
func TestMQRestoreRefuses(t *testing.T) {
	e := newMQEnv(t)
	e.create(`{}`)
	const whole = `"sequenceNumber": {"$numberLong": "9"}, "enqueuedTimeUtc": {"$date": 1767225600000}, "timeToLive": {"$numberLong": "1000"}, "state": "active", "deliveryCount": 0`
	for _, tt := range []struct {
		mq   string
		code int32
	}{
		{`1`, 14}, {`{}`, 2}, {`{` + whole + `, "x": 1}`, 2}, {`{` + whole + `, "lockToken": 1}`, 2}, {`{` + whole + `, "deadLetterReason": 1}`, 14},
		{strings.Replace(`{`+whole+`}`, `"active"`, `"lost"`, 1), 2}, {strings.Replace(`{`+whole+`}`, `"active"`, `"scheduled"`, 1), 2},
		{strings.Replace(`{`+whole+`}`, `"9"`, `"0"`, 1), 2}, {`{` + whole + `, "deadLetterSource": "q"}`, 2},
		{`{` + whole + `, "scheduledEnqueueTimeUtc": {"$date": 0}}`, 2},
	} {
		reply := e.ok(`{"mqRestore": "q", "messages": [{"_id": 1, "_mq": ` + tt.mq + `}]}`)
		if got := reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); got != tt.code {
			t.Errorf("%s answered %s", tt.mq, reply)
		}
	}
	if reply := e.ok(`{"mqRestore": "q", "messages": [{"_id": 1}, {"_id": 2, "_mq": {` + whole + `}}]}`); reply.Lookup("n").Int32() != 1 {
		t.Errorf("one of two: %s", reply)
	}
	e.ok(`{"create": "plain"}`)
	e.fails(20, "not a message queue", `{"mqRestore": "plain", "messages": [{"_id": 1}]}`)
	e.fails(2, "'duskdb import'", `{"mqSend": "q", "messages": [{"_mq": {"sequenceNumber": 1}}]}`)
	e.fails(72, "'duskdb import'", `{"create": "z.deadletterqueue", "messageQueue": {"deadLetterOf": "z"}}`)
}
