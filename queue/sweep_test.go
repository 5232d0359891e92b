package queue

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

func TestSweepInBatches(t *testing.T) {
	const n = 1234
	for _, dead := range []bool{false, true} {
		e := newEnv(t)
		e.create("q", fmt.Sprintf(`{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": %v}`, dead))
		var docs []value.Doc
		for i := range n {
			docs = append(docs, value.NewDoc("_id", value.Int32(int32(i))))
		}
		_, err := e.broker.Send(e.ctx, e.store, ref("q"), docs, e.now())
		e.must(err)
		e.at(9.999)
		if r := e.sweep(); r != (ttl.Removed{}) {
			t.Errorf("removed too early: %+v", r)
		}
		e.at(10)
		want := ttl.Removed{MessagesDropped: n}
		if dead {
			want = ttl.Removed{MessagesDeadLettered: n}
		}
		if r := e.sweep(); r != want {
			t.Errorf("removed %+v, want %+v", r, want)
		}
		if a, b := e.metrics.ExpiredDropped.Load(), e.metrics.ExpiredDeadLettered.Load(); a != want.MessagesDropped || b != want.MessagesDeadLettered {
			t.Errorf("counted %d, %d", a, b)
		}
		if st := e.stats("q"); st.Active+st.ExpiredPending != 0 || st.DeadLettered != want.MessagesDeadLettered {
			t.Errorf("left %+v", st)
		}
	}
}

func TestIdle(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"autoDeleteOnIdle": 300}`)
	activities := []func(){
		func() { e.send("q", fmt.Sprintf(`{"_id": %d}`, e.now())) },
		func() { e.peek("q") },
		func() { e.none(dlq) },
		func() { e.must(e.complete("q", e.one("q"))) },
		func() { e.none("q") },
		func() { e.must(e.modify("q", `{"lockDuration": 5}`)) },
	}
	now := 0.0
	for i, activity := range activities {
		now += 299.999
		e.at(now)
		activity()
		if got, want := e.stats("q").IdleDeadline, e.now()+300_000; got != want {
			t.Errorf("activity %d: deadline %+d, want %+d", i, got-t0, want-t0)
		}
	}
	e.at(now + 299.999)
	if e.sweep(); !exists(e, "q") {
		t.Fatal("deleted too early")
	}
	if e.stats("q").LastActivity != t0+int64(now*1000) {
		t.Error("looking at statistics is no activity")
	}
	e.at(now + 300)
	if e.sweep(); exists(e, "q") {
		t.Fatal("not deleted")
	}
	if e.metrics.QueuesAutoDeleted.Load() != 1 {
		t.Error("not counted")
	}
}

func TestIdleClockWaitsForScheduled(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"autoDeleteOnIdle": 300}`)
	e.send("q", `{"_id": 1, "_mq": {"timeToLive": 5, "scheduledEnqueueTimeUtc": {"$date": 1767226600000}}}`) // at 1000
	e.at(999)
	e.sweep()
	if st := e.stats("q"); st.IdleDeadline != 0 || st.Scheduled != 1 {
		t.Errorf("%+v", st)
	}
	e.at(1299.999)
	if e.sweep(); !exists(e, "q") {
		t.Error("the clock did not start with the activation")
	}
	e.at(1300)
	if e.sweep(); exists(e, "q") {
		t.Error("not deleted")
	}
}

func TestStats(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 10, "maxDeliveryCount": 2}`)
	for i := range 6 {
		e.sendFor(i, float64(20+i))
	}
	e.send("q", `{"_id": 10, "_mq": {"timeToLive": 50, "scheduledEnqueueTimeUtc": {"$date": 1767225615000}}}`, // at 15
		`{"_id": 11, "_mq": {"timeToLive": 5, "scheduledEnqueueTimeUtc": {"$date": 1767225615000}}}`)
	e.deferIt("q", e.one("q"))
	e.abandon("q", e.one("q"))
	e.one("q") // its second delivery
	expect := func(active, locked, deferred, scheduled, expired, dead int64) {
		t.Helper()
		got := e.stats("q")
		got.LastActivity = 0
		want := Stats{Active: active, Locked: locked, Deferred: deferred, Scheduled: scheduled, ExpiredPending: expired, DeadLettered: dead}
		if got != want {
			t.Errorf("at %d: %+v, want %+v", (e.now()-t0)/1000, got, want)
		}
	}
	expect(4, 1, 1, 2, 0, 0)
	e.at(10) // the lock of the second message lapses: its second failure
	expect(4, 0, 1, 2, 0, 1)
	e.at(15)
	expect(6, 0, 1, 0, 0, 1)
	e.at(23) // what expires at 20 is deferred, at 21 dead; the scheduled one went at 20
	expect(3, 0, 1, 0, 3, 1)
	e.sweep()
	expect(3, 0, 1, 0, 0, 1)
	e.at(100)
	expect(0, 0, 1, 0, 3, 1)
	if last := e.stats("q").LastActivity; last != t0+15_000 {
		t.Errorf("last activity %+d", last-t0)
	}
}
