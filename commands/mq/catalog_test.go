package mq_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// found returns the documents of a find's first batch.
func (e *mqEnv) found(command string) (docs []value.Doc) {
	e.t.Helper()
	for v := range e.ok(command).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		docs = append(docs, v.Doc())
	}
	return docs
}

// writeError returns the code of the only write error of a reply.
func writeError(reply value.Doc) int32 {
	return reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32()
}

// names returns the names that listCollections shows.
func (e *mqEnv) names() (names string) {
	e.t.Helper()
	for _, d := range e.found(`{"listCollections": 1, "nameOnly": true}`) {
		names += d.Lookup("name").Str() + " "
	}
	return names
}

func TestMQCreate(t *testing.T) {
	e := newMQEnv(t)
	const create = `{"create": "q", "messageQueue": {"lockDuration": 30, "autoDeleteOnIdle": "PT10M"}}`
	e.ok(create)
	e.ok(create) // the same again
	e.fails(48, "already exists", `{"create": "q", "messageQueue": {}}`)
	for _, d := range e.found(`{"listCollections": 1, "filter": {"name": "q"}}`) {
		want := `{ defaultMessageTimeToLive: "P10675199DT2H48M5.4775807S", deadLetteringOnMessageExpiration: false, lockDuration: "PT30S", maxDeliveryCount: 10, autoDeleteOnIdle: "PT10M" }`
		if got := d.Lookup("options").Doc().Lookup("messageQueue").String(); got != want {
			t.Errorf("listed %s", got)
		}
	}
	if got := e.found(`{"listIndexes": "q"}`); len(got) != 1 || got[0].Lookup("name").Str() != "_id_" {
		t.Errorf("indexes %v", got)
	}
	for _, o := range []string{
		`"timeseries": {"timeField": "t"}`, `"capped": true, "size": 1000`, `"validator": {"a": 1}`, `"documentTtl": {"default": 5}`,
		`"clusteredIndex": {"key": {"_id": 1}, "unique": true}`, `"expireAfterSeconds": 5`,
	} {
		e.fails(72, "is not allowed with 'messageQueue'", `{"create": "x", "messageQueue": {}, `+o+`}`)
	}
	for _, o := range []string{`{"lockDuration": "PT6M"}`, `{"autoDeleteOnIdle": 299}`, `{"maxDeliveryCount": 0}`, `{"defaultMessageTimeToLive": 0}`} {
		e.fails(2, "create.messageQueue", `{"create": "x", "messageQueue": `+o+`}`)
	}
	e.ok(`{"create": "x.deadletterqueue"}`)
	e.fails(48, "x.deadletterqueue", `{"create": "x", "messageQueue": {}}`)
	if got := e.ok(`{"mqStats": "q"}`).Lookup("idleDeadlineUtc").DateTime(); got != mqT0+600_000 {
		t.Errorf("idle deadline %+d", got-mqT0)
	}
}

func TestMQCollMod(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "q", "messageQueue": {"autoDeleteOnIdle": 300}}`)
	e.at(10)
	if got := e.ok(`{"collMod": "q", "messageQueue": {"lockDuration": "PT5S"}}`).String(); got != "{ ok: 1.0 }" {
		t.Errorf("reply %s", got)
	}
	if got := e.ok(`{"mqStats": "q"}`).Lookup("lastActivityUtc").DateTime(); got != mqT0+10_000 {
		t.Errorf("last activity %+d", got-mqT0)
	}
	e.ok(`{"create": "plain"}`)
	e.fails(72, "", `{"collMod": "plain", "messageQueue": {}}`)
	e.fails(72, "", `{"collMod": "q", "messageQueue": "off"}`)
	e.fails(72, "", `{"collMod": "q", "validator": {"a": 1}}`)
	e.fails(2, "", `{"collMod": "q", "messageQueue": {"lockDuration": 0}}`)
	e.ok(`{"createIndexes": "q", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`)
	e.fails(67, "", `{"collMod": "q", "index": {"name": "a_1", "expireAfterSeconds": 5}}`)
}

// Ordinary commands send, browse and remove messages; they do not change
// them.
func TestMQOrdinaryCommands(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "q", "messageQueue": {"lockDuration": 30}}`)
	if reply := e.ok(`{"insert": "q", "documents": [{"_id": 1, "a": 1}, {"_id": 1}, {"_id": 2, "_mq": {"timeToLive": 5}}], "ordered": false}`); reply.Lookup("n").Int32() != 2 || writeError(reply) != 11000 {
		t.Errorf("insert: %s", reply)
	}
	if got := writeError(e.ok(`{"insert": "q", "documents": [{"_mq": {"sequenceNumber": 1}}]}`)); got != 2 {
		t.Errorf("insert of _mq.sequenceNumber: %d", got)
	}
	m := e.one(mqReceive)
	docs := e.found(`{"find": "q", "filter": {"_mq.state": "active"}, "sort": {"_id": 1}}`)
	want := `{ sequenceNumber: 1, enqueuedTimeUtc: new Date(1767225600000), timeToLive: 922337203685477, state: "active", deliveryCount: 1 }`
	if len(docs) != 2 || docs[0].Lookup("_mq").String() != want {
		t.Errorf("find: %v", docs)
	}
	if got := e.found(`{"find": "q", "filter": {"_id": 1}}`); len(got) != 1 || !lockTokenOf(got[0]).IsMissing() {
		t.Errorf("find by _id: %v", got)
	}
	if got := e.found(`{"aggregate": "q", "pipeline": [{"$match": {"_mq.sequenceNumber": 2}}, {"$project": {"t": "$_mq.timeToLive"}}], "cursor": {}}`); len(got) != 1 || got[0].Lookup("t").Int64() != 5000 {
		t.Errorf("aggregate: %v", got)
	}
	if n := e.ok(`{"count": "q"}`).Lookup("n").Int32(); n != 2 {
		t.Errorf("count %d", n)
	}
	if got := writeError(e.ok(`{"update": "q", "updates": [{"q": {"_id": 99}, "u": {"$set": {"a": 2}}}]}`)); got != 20 {
		t.Errorf("update: %d", got)
	}
	if got := writeError(e.ok(`{"update": "q", "updates": [{"q": {"_id": 1}, "u": {"a": 2}, "upsert": true}]}`)); got != 20 {
		t.Errorf("replace: %d", got)
	}
	e.fails(20, "", `{"findAndModify": "q", "query": {"_id": 1}, "update": {"$set": {"a": 2}}}`)
	e.fails(20, "", `{"findAndModify": "q", "query": {"_id": 1}, "remove": true}`)
	e.fails(67, "", `{"createIndexes": "q", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 5}]}`)
	if got := writeError(e.ok(`{"insert": "q.deadletterqueue", "documents": [{}]}`)); got != 20 {
		t.Errorf("insert into the dead-letter queue: %d", got)
	}
	if n := e.ok(`{"delete": "q", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`).Lookup("n").Int32(); n != 1 {
		t.Errorf("deleted %d", n)
	}
	e.fails(90410, "", `{"mqComplete": "q"}`, "lockToken", lockTokenOf(m))
}

func TestMQInsertWakes(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "q", "messageQueue": {}}`)
	other := &mqEnv{t: t, svc: e.svc, conn: e.svc.NewConn("other", "test"), clock: e.clock}
	got := make(chan value.Doc, 1)
	receive := func() {
		got <- other.run(`{"mqReceive": "q", "mode": "receiveAndDelete", "maxWaitTimeMS": 60000}`)
	}
	expect := func(fragment string) value.Doc {
		t.Helper()
		select {
		case reply := <-got:
			return reply
		case <-time.After(20 * time.Second):
			t.Fatal("the receiver was not woken by " + fragment)
			return nil
		}
	}
	go receive()
	e.ok(`{"insert": "q", "documents": [{"_id": 1}]}`)
	if reply := expect("an insert"); reply.Lookup("messages").Doc().Len() != 1 {
		t.Errorf("reply %s", reply)
	}
	go receive()
	e.ok(`{"drop": "q"}`)
	if reply := expect("a drop"); reply.Lookup("code").SafeInt64() != 26 {
		t.Errorf("reply %s", reply)
	}
}

// What a transaction sends wakes a receiver when it is committed, and not before.
func TestMQTransactionWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newMQEnv(t)
		e.ok(`{"create": "q", "messageQueue": {}}`)
		receiver := &mqEnv{t: t, svc: e.svc, conn: e.svc.NewConn("receiver", "test"), clock: e.clock}
		got := make(chan value.Doc, 1)
		go func() {
			got <- receiver.run(`{"mqReceive": "q", "mode": "receiveAndDelete", "maxWaitTimeMS": 60000}`)
		}()
		synctest.Wait()
		const inTransaction = `, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false`
		e.ok(`{"insert": "q", "documents": [{"_id": 1}], "startTransaction": true` + inTransaction + `}`)
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("received before the commit: %s", <-got)
		}
		commit := value.MustJSON(`{"commitTransaction": 1` + inTransaction + `, "$db": "admin"}`)
		if out, _ := harness.Answer(e.svc, t.Context(), e.conn, &kernel.Request{Body: commit}, nil); !value.Doc(out).Lookup("ok").Truthy() {
			t.Fatal(value.Doc(out))
		}
		synctest.Wait()
		if len(got) == 0 {
			t.Fatal("the commit does not wake the receiver")
		}
		if reply := <-got; reply.Lookup("messages").Doc().Len() != 1 {
			t.Errorf("reply %s", reply)
		}
	})
}

func TestMQDropAndRename(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "q", "messageQueue": {}}`)
	e.ok(`{"insert": "q", "documents": [{"_id": 1}]}`)
	e.fails(20, "", `{"drop": "q.deadletterqueue"}`)
	if got := e.names(); got != "q q.deadletterqueue " {
		t.Errorf("listed %s", got)
	}
	e.ok(`{"drop": "q"}`)
	if got := e.names(); got != "" {
		t.Errorf("left %s", got)
	}
	e.fails(26, "", mqReceive)
	e.ok(`{"create": "q", "messageQueue": {}}`)
	e.ok(`{"dropDatabase": 1}`)
	if got := e.names(); got != "" {
		t.Errorf("left %s", got)
	}
}

// Case 77 of the specification.
func TestMQIdle(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "q", "messageQueue": {"autoDeleteOnIdle": 300}}`)
	last := 0.0
	for _, command := range []string{
		`{"find": "q"}`, `{"count": "q"}`, `{"distinct": "q", "key": "a"}`, `{"aggregate": "q", "pipeline": [], "cursor": {}}`,
		`{"find": "q", "filter": {"_id": 1}}`, `{"insert": "q", "documents": [{"_id": 1}]}`,
	} {
		last += 299
		e.at(last)
		e.ok(command)
		if got := e.ok(`{"mqStats": "q"}`).Lookup("lastActivityUtc").DateTime(); got != e.clock.NowMillis() {
			t.Errorf("%s is no activity", command)
		}
	}
	e.at(last + 299)
	if e.sweep(); e.names() != "q q.deadletterqueue " {
		t.Error("dropped too early")
	}
	e.at(last + 300)
	if e.sweep(); e.names() != "" {
		t.Errorf("left %s", e.names())
	}
	e.fails(26, "", mqReceive)
}
