package replication_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/value"
)

func TestStepDown(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	id := h.OK(`{"find": "c", "batchSize": 1}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 3}]}`, 1, true))
	if r := h.Admin(`{"replSetStepDown": 60, "force": true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	r := h.HelloAfter(0)
	if r.Lookup("isWritablePrimary").Bool() || !r.Lookup("secondary").Bool() || r.Has("primary") || r.Has("electionId") ||
		r.Lookup("setName").Str() != "rs" || r.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != 1 {
		t.Errorf("hello says %s", r)
	}
	const secondary = `"$readPreference": {"mode": "secondaryPreferred"}`
	for command, code := range map[string]int32{
		`{"insert": "c", "documents": [{}]}`:                               10107,
		`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}`: 10107,
		`{"create": "d"}`: 10107,
		`{"aggregate": "c", "pipeline": [{"$match": {}}, {"$out": "d"}], "cursor": {}, ` + secondary + `}`: 10107,
		harness.InTxnArgs(`{"find": "c", `+secondary+`}`, 2, true):                                         10107,
		`{"find": "c"}`:  13435,
		`{"count": "c"}`: 13435,
		`{"aggregate": "c", "pipeline": [], "cursor": {}, "$readPreference": {"mode": "primary"}}`: 13435,
		`{"find": "c", ` + secondary + `}`:                                       0,
		`{"aggregate": "c", "pipeline": [], "cursor": {}, ` + secondary + `}`:    0,
		fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, id): 0,
		`{"ping": 1}`: 0,
	} {
		r := h.Run(command)
		if code != 0 && (r.Lookup("code").Int32() != code || r.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != 1) || code == 0 && r.Lookup("ok").Double() != 1 {
			t.Errorf("%s answered %s, want %d", command, r, code)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{replSetStepDown: 60, force: true}`, Code: 10107, Text: "not primary so can't step down"},
		{DB: "admin", Command: `{replSetMaintenance: true}`, Code: 96, Text: ""},
		{DB: "admin", Command: `{replSetSyncFrom: "other:1"}`, Code: 74, Text: `Could not find member "other:1" in replica set`},
		{DB: "admin", Command: `{runExpirationPass: 1}`, Code: 10107, Text: "not primary"},
	})
	if !(write.ExpiryHost{Svc: h.Svc}).Locked() {
		t.Error("a secondary runs expiration passes")
	}
	if r := h.Admin(`{"replSetGetStatus": 1}`); r.Lookup("myState").Int32() != 2 {
		t.Errorf("answered %s", r)
	}
	if r := h.Admin(`{"replSetFreeze": 0}`); r.Lookup("info").Str() != "unfreezing" {
		t.Errorf("answered %s", r)
	}
	h.OK(`{"insert": "c", "documents": [{"_id": 4}]}`)
	if r := h.HelloAfter(1); !r.Lookup("isWritablePrimary").Bool() || !r.Has("primary") {
		t.Errorf("hello says %s", r)
	}
	if r := h.EndTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("the transaction survived: %s", r)
	}
}

// The period is one of the server's clock, and freezing makes it longer.
func TestStepDownEnds(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	advance := func(d time.Duration) {
		if err := h.Clock.Advance(d); err != nil {
			t.Fatal(err)
		}
	}
	h.Admin(`{"replSetStepDown": 60, "force": true}`)
	advance(59 * time.Second)
	if !h.Svc.Leader.SteppedDown.Load() {
		t.Error("primary too early")
	}
	advance(time.Second)
	if r := h.HelloAfter(1); !r.Lookup("isWritablePrimary").Bool() {
		t.Errorf("hello says %s", r)
	}
	h.Admin(`{"replSetStepDown": 10, "force": true}`)
	if r := h.Admin(`{"replSetFreeze": 100}`); !r.Lookup("ok").Truthy() {
		t.Error(r)
	}
	advance(50 * time.Second)
	if !h.Svc.Leader.SteppedDown.Load() {
		t.Error("primary although frozen")
	}
	advance(50 * time.Second)
	if r := h.HelloAfter(3); !r.Lookup("isWritablePrimary").Bool() {
		t.Errorf("hello says %s", r)
	}
}

// What writes, or waits to write, is interrupted.
func TestStepDownInterrupts(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	h.OK(`{"create": "q", "messageQueue": {}}`)
	reply := make(chan value.Doc)
	waiter := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	go func() { reply <- waiter.Run(`{"mqReceive": "q", "maxWaitTimeMS": 60000}`) }()
	for waits := false; !waits; {
		h.Svc.Ops.Each(func(op *kernel.Operation) { waits = waits || op.Name == "mqReceive" })
	}
	h.Admin(`{"replSetStepDown": 60, "force": true}`)
	if r := <-reply; r.Lookup("code").Int32() != 11602 {
		t.Errorf("answered %s", r)
	}
}

// A client with exhaust hello receives one reply for the change, and the next one after
// the next change.
func TestStepDownStreams(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	next := harness.Relaxed(fmt.Sprintf(`{"hello": 1, "topologyVersion": {"processId": {"$oid": "%s"}, "counter": {"$numberLong": "0"}}, "maxAwaitTimeMS": 60000, "$db": "admin"}`, h.Svc.ProcessID.Hex()))
	for counter := int64(1); counter <= 3; counter++ {
		if counter%2 == 1 {
			h.Admin(`{"replSetStepDown": 60, "force": true}`)
		} else {
			h.Admin(`{"replSetFreeze": 0}`)
		}
		out, response := harness.Answer(h.Svc, t.Context(), h.Conn, &kernel.Request{Body: next, Exhaust: true}, nil)
		reply := value.Doc(out)
		if reply.Lookup("secondary").Bool() != (counter%2 == 1) || reply.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != counter {
			t.Fatalf("hello says %s", reply)
		}
		next = response.Next
		if got := next.Lookup("topologyVersion").Doc().Lookup("counter").Int64(); got != counter {
			t.Fatalf("the next hello begins at %d", got)
		}
	}
}
