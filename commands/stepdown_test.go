package commands

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/value"
)

// hello asks what the member is once its topology is newer than counter.
func (h *harness) helloAfter(counter int64) value.Doc {
	h.Helper()
	return h.admin(fmt.Sprintf(`{"hello": 1, "topologyVersion": {"processId": {"$oid": "%s"}, "counter": {"$numberLong": "%d"}}, "maxAwaitTimeMS": 60000}`,
		h.svc.ProcessID.Hex(), counter))
}

func TestStepDown(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	id := h.ok(`{"find": "c", "batchSize": 1}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 3}]}`, 1, true))
	if r := h.admin(`{"replSetStepDown": 60, "force": true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	r := h.helloAfter(0)
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
		inTxnArgs(`{"find": "c", `+secondary+`}`, 2, true):                                                 10107,
		`{"find": "c"}`:  13435,
		`{"count": "c"}`: 13435,
		`{"aggregate": "c", "pipeline": [], "cursor": {}, "$readPreference": {"mode": "primary"}}`: 13435,
		`{"find": "c", ` + secondary + `}`:                                       0,
		`{"aggregate": "c", "pipeline": [], "cursor": {}, ` + secondary + `}`:    0,
		fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, id): 0,
		`{"ping": 1}`: 0,
	} {
		r := h.run(command)
		if code != 0 && (r.Lookup("code").Int32() != code || r.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != 1) || code == 0 && r.Lookup("ok").Double() != 1 {
			t.Errorf("%s answered %s, want %d", command, r, code)
		}
	}
	h.refuses([]refusal{
		{"admin", `{replSetStepDown: 60, force: true}`, 10107, "not primary so can't step down"},
		{"admin", `{replSetMaintenance: true}`, 96, ""},
		{"admin", `{replSetSyncFrom: "other:1"}`, 74, `Could not find member "other:1" in replica set`},
		{"admin", `{runExpirationPass: 1}`, 10107, "not primary"},
	})
	if !(write.ExpiryHost{Svc: h.svc}).Locked() {
		t.Error("a secondary runs expiration passes")
	}
	if r := h.admin(`{"replSetGetStatus": 1}`); r.Lookup("myState").Int32() != 2 {
		t.Errorf("answered %s", r)
	}
	if r := h.admin(`{"replSetFreeze": 0}`); r.Lookup("info").Str() != "unfreezing" {
		t.Errorf("answered %s", r)
	}
	h.ok(`{"insert": "c", "documents": [{"_id": 4}]}`)
	if r := h.helloAfter(1); !r.Lookup("isWritablePrimary").Bool() || !r.Has("primary") {
		t.Errorf("hello says %s", r)
	}
	if r := h.endTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("the transaction survived: %s", r)
	}
}

// The period is one of the server's clock, and freezing makes it longer.
func TestStepDownEnds(t *testing.T) {
	h := newHarness(t).asMember()
	advance := func(d time.Duration) {
		if err := h.clock.Advance(d); err != nil {
			t.Fatal(err)
		}
	}
	h.admin(`{"replSetStepDown": 60, "force": true}`)
	advance(59 * time.Second)
	if !h.svc.Leader.Aside.Load() {
		t.Error("primary too early")
	}
	advance(time.Second)
	if r := h.helloAfter(1); !r.Lookup("isWritablePrimary").Bool() {
		t.Errorf("hello says %s", r)
	}
	h.admin(`{"replSetStepDown": 10, "force": true}`)
	if r := h.admin(`{"replSetFreeze": 100}`); !r.Lookup("ok").Truthy() {
		t.Error(r)
	}
	advance(50 * time.Second)
	if !h.svc.Leader.Aside.Load() {
		t.Error("primary although frozen")
	}
	advance(50 * time.Second)
	if r := h.helloAfter(3); !r.Lookup("isWritablePrimary").Bool() {
		t.Errorf("hello says %s", r)
	}
}

// What writes, or waits to write, is interrupted.
func TestStepDownInterrupts(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{"create": "q", "messageQueue": {}}`)
	reply := make(chan value.Doc)
	waiter := &harness{TB: t, svc: h.svc, clock: h.clock, conn: h.svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	go func() { reply <- waiter.run(`{"mqReceive": "q", "maxWaitTimeMS": 60000}`) }()
	for waits := false; !waits; {
		h.svc.Ops.Each(func(op *kernel.Operation) { waits = waits || op.Name == "mqReceive" })
	}
	h.admin(`{"replSetStepDown": 60, "force": true}`)
	if r := <-reply; r.Lookup("code").Int32() != 11602 {
		t.Errorf("answered %s", r)
	}
}

// A client that lets hello be answered again and again is told of the change
// once, and then waits for the next.
func TestStepDownStreams(t *testing.T) {
	h := newHarness(t).asMember()
	next := relaxed(fmt.Sprintf(`{"hello": 1, "topologyVersion": {"processId": {"$oid": "%s"}, "counter": {"$numberLong": "0"}}, "maxAwaitTimeMS": 60000, "$db": "admin"}`, h.svc.ProcessID.Hex()))
	for counter := int64(1); counter <= 3; counter++ {
		if counter%2 == 1 {
			h.admin(`{"replSetStepDown": 60, "force": true}`)
		} else {
			h.admin(`{"replSetFreeze": 0}`)
		}
		out, response := answer(h.svc, t.Context(), h.conn, &kernel.Request{Body: next, Exhaust: true}, nil)
		reply := value.Doc(out)
		if reply.Lookup("secondary").Bool() != (counter%2 == 1) || reply.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != counter {
			t.Fatalf("hello says %s", reply)
		}
		next = value.Doc(response.Next)
		if got := next.Lookup("topologyVersion").Doc().Lookup("counter").Int64(); got != counter {
			t.Fatalf("the next hello begins at %d", got)
		}
	}
}
