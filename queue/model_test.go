package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// model is the simplest implementation of a queue by docs/semantics.md: a list of messages
// that every operation reads from the beginning.
type model struct {
	lock    int64
	most    int32
	dead    bool // expired messages are dead-lettered
	now     int64
	next    int64
	list    []*modelMessage
	letters []*modelMessage
}

type modelMessage struct {
	id          int32
	number      int64
	expires     int64 // 0: never
	ttl         int64
	due         int64 // when a scheduled message is due
	state       state
	failures    int32
	lockedUntil int64 // 0: not locked
	token       [16]byte
	reason      string
}

func (m *model) remove(x *modelMessage) {
	m.list = slices.DeleteFunc(m.list, func(o *modelMessage) bool { return o == x })
}

func (m *model) bury(x *modelMessage, reason string) {
	m.remove(x)
	x.reason, x.state, x.lockedUntil = reason, active, 0
	m.letters = append(m.letters, x)
	slices.SortFunc(m.letters, func(a, b *modelMessage) int { return int(a.number - b.number) })
}

func (m *model) expire(x *modelMessage) {
	if m.dead {
		m.bury(x, reasonExpired)
	} else {
		m.remove(x)
	}
}

// release ends a lock as of an instant and returns the outcome.
func (m *model) release(x *modelMessage, at int64) string {
	x.lockedUntil = 0
	if x.expires != 0 && x.expires <= at {
		m.expire(x)
		return outcomeExpired
	}
	if x.failures++; x.failures >= m.most {
		m.bury(x, reasonDeliveries)
		return outcomeDeadLettered
	}
	return outcomeActive
}

// activate gives numbers to scheduled messages in the order in which they
// are due.
func (m *model) activate() {
	var due []*modelMessage
	for _, x := range m.list {
		if x.state == scheduled && x.due <= m.now {
			due = append(due, x)
		}
	}
	slices.SortStableFunc(due, func(a, b *modelMessage) int { return int(a.due - b.due) })
	for _, x := range due {
		m.remove(x)
		x.number, x.state = m.next, active
		m.next++
		if x.ttl != 0 {
			x.expires = x.due + x.ttl
		}
		m.list = append(m.list, x)
	}
}

// settle applies the effects of the passed time to the messages.
func (m *model) settle() {
	m.activate()
	for _, x := range slices.Clone(m.list) {
		if x.lockedUntil != 0 && x.lockedUntil <= m.now {
			m.release(x, x.lockedUntil)
		}
	}
	for _, x := range slices.Clone(m.list) {
		if x.state == active && x.lockedUntil == 0 && x.expires != 0 && x.expires <= m.now {
			m.expire(x)
		}
	}
	for _, x := range m.letters {
		if x.lockedUntil != 0 && x.lockedUntil <= m.now {
			x.lockedUntil = 0
		}
	}
}

func ready(list []*modelMessage) *modelMessage {
	for _, x := range list {
		if x.state == active && x.lockedUntil == 0 {
			return x
		}
	}
	return nil
}

// held finds a message whose lock has not lapsed, picked by the test.
func held(t *rapid.T, list []*modelMessage, now int64) *modelMessage {
	var all []*modelMessage
	for _, x := range list {
		if x.lockedUntil > now {
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return rapid.SampledFrom(all).Draw(t, "held")
}

// A queue under any sequence of commands, moves of the clock, sweeps and
// restarts agrees with the model.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		e := newEnv(t)
		defer func() { _ = e.engine.Close() }()
		m := &model{lock: 10_000, now: t0, next: 1,
			most: rapid.Int32Range(1, 3).Draw(r, "max deliveries"), dead: rapid.Bool().Draw(r, "dead letters")}
		e.create("q", fmt.Sprintf(`{"lockDuration": 10, "maxDeliveryCount": %d, "deadLetteringOnMessageExpiration": %v}`, m.most, m.dead))
		x := &modelTest{e: e, m: m}
		r.Repeat(map[string]func(*rapid.T){
			"send": x.send, "receive": x.receive, "receiveDead": x.receiveDead, "complete": x.complete, "abandon": x.abandon,
			"defer": x.deferOne, "byNumber": x.byNumber, "deadLetter": x.deadLetter, "renew": x.renew, "cancel": x.cancel,
			"clock": x.clock, "sweep": x.sweep, "reopen": x.reopen, "": x.compare,
		})
	})
}

type modelTest struct {
	e  *env
	m  *model
	id int32
}

func (x *modelTest) send(t *rapid.T) {
	x.m.activate() // what was due before comes before
	x.id++
	one := &modelMessage{id: x.id, number: x.m.next, state: active}
	mq := value.NewBuilder()
	if seconds := rapid.Int32Range(0, 20).Draw(t, "ttl"); seconds > 0 {
		one.ttl = int64(seconds) * 1000
		one.expires = x.m.now + one.ttl
		mq.Int32("timeToLive", seconds)
	}
	if ms := rapid.Int64Range(0, 40).Draw(t, "delay") * 500; ms > 10_000 {
		one.state, one.due = scheduled, x.m.now+ms
		mq.Date("scheduledEnqueueTimeUtc", one.due)
	}
	d := value.NewDoc("_id", value.Int32(x.id), Field, value.Document(mq.Doc()))
	numbers, err := x.e.broker.Send(x.e.ctx, x.e.store, ref("q"), []value.Doc{d}, x.e.now())
	if err != nil || numbers[0] != x.m.next {
		t.Fatalf("numbers %v, %v; want %d", numbers, err, x.m.next)
	}
	x.m.next++
	x.m.list = append(x.m.list, one)
}

func (x *modelTest) receive(t *rapid.T)     { x.take(t, "q") }
func (x *modelTest) receiveDead(t *rapid.T) { x.take(t, dlq) }

func (x *modelTest) take(t *rapid.T, name string) {
	x.m.settle()
	list := x.m.list
	if name == dlq {
		list = x.m.letters
	}
	want := ready(list)
	docs := x.e.receive(name, 1)
	if want == nil {
		if len(docs) != 0 {
			t.Fatalf("received %v from %s, want nothing", docs, name)
		}
		return
	}
	if len(docs) != 1 || mq(docs[0], "sequenceNumber").Int64() != want.number || docs[0].Lookup("_id").Int32() != want.id {
		t.Fatalf("received %v from %s, want %+v", docs, name, want)
	}
	if got := mq(docs[0], "deliveryCount").Int32(); got != want.failures+1 {
		t.Fatalf("delivery count %d, want %d", got, want.failures+1)
	}
	want.lockedUntil, want.token = x.m.now+x.m.lock, tokenOf(docs[0])
}

// holder picks a held message of the queue or of its dead-letter queue.
func (x *modelTest) holder(t *rapid.T) (*modelMessage, string) {
	if one := held(t, x.m.list, x.m.now); one != nil {
		return one, "q"
	}
	if one := held(t, x.m.letters, x.m.now); one != nil {
		return one, dlq
	}
	t.Skip("nothing is locked")
	return nil, ""
}

func (x *modelTest) complete(t *rapid.T) {
	one, name := x.holder(t)
	if err := x.e.broker.Complete(x.e.ctx, x.e.store, Lock{ref(name), one.token}, x.e.now()); err != nil {
		t.Fatal(err)
	}
	x.m.remove(one)
	x.m.letters = slices.DeleteFunc(x.m.letters, func(o *modelMessage) bool { return o == one })
	err := x.e.broker.Complete(x.e.ctx, x.e.store, Lock{ref(name), one.token}, x.e.now())
	if !mongoerr.Is(err, mongoerr.MessageLockLost) {
		t.Fatalf("completed twice: %v", err)
	}
}

func (x *modelTest) abandon(t *rapid.T) {
	one, name := x.holder(t)
	got, err := x.e.broker.Abandon(x.e.ctx, x.e.store, Lock{ref(name), one.token}, nil, x.e.now())
	want := outcomeActive
	if name == dlq {
		one.lockedUntil = 0
	} else {
		want = x.m.release(one, x.m.now)
	}
	if err != nil || got != want {
		t.Fatalf("outcome %s, %v; want %s", got, err, want)
	}
}

func (x *modelTest) deferOne(t *rapid.T) {
	one, name := x.holder(t)
	_, got, err := x.e.broker.Defer(x.e.ctx, x.e.store, Lock{ref(name), one.token}, x.e.now())
	want := outcomeDeferred
	one.state, one.lockedUntil = deferred, 0
	if name == "q" {
		if one.failures++; one.failures >= x.m.most {
			x.m.bury(one, reasonDeliveries)
			want = outcomeDeadLettered
		}
	}
	if err != nil || got != want {
		t.Fatalf("outcome %s, %v; want %s", got, err, want)
	}
}

func (x *modelTest) byNumber(t *rapid.T) {
	x.m.settle()
	n := rapid.Int64Range(1, x.m.next).Draw(t, "number")
	var want *modelMessage
	for _, one := range x.m.list {
		if one.number == n && one.state == deferred && one.lockedUntil == 0 {
			want = one
		}
	}
	if want != nil && want.expires != 0 && want.expires <= x.m.now {
		x.m.expire(want)
		want = nil
	}
	d, err := x.e.number("q", n)
	if want == nil {
		if !mongoerr.Is(err, mongoerr.MessageNotFound) {
			t.Fatalf("received %v, %v", d, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want.lockedUntil, want.token = x.m.now+x.m.lock, tokenOf(d)
}

func (x *modelTest) deadLetter(t *rapid.T) {
	one := held(t, x.m.list, x.m.now)
	if one == nil {
		t.Skip("nothing is locked")
	}
	if err := x.e.broker.DeadLetter(x.e.ctx, x.e.store, Lock{ref("q"), one.token}, "r", "", x.e.now()); err != nil {
		t.Fatal(err)
	}
	x.m.bury(one, "r")
}

func (x *modelTest) renew(t *rapid.T) {
	one, name := x.holder(t)
	until, err := x.e.broker.RenewLock(x.e.ctx, x.e.store, Lock{ref(name), one.token}, x.e.now())
	one.lockedUntil = x.m.now + x.m.lock
	if err != nil || until != one.lockedUntil {
		t.Fatalf("locked until %d, %v; want %d", until, err, one.lockedUntil)
	}
}

func (x *modelTest) cancel(t *rapid.T) {
	n := rapid.Int64Range(1, x.m.next).Draw(t, "number")
	var want *modelMessage
	for _, one := range x.m.list {
		if one.number == n && one.state == scheduled && one.due > x.m.now {
			want = one
		}
	}
	err := x.e.broker.CancelScheduled(x.e.ctx, x.e.store, ref("q"), n, x.e.now())
	if want == nil != mongoerr.Is(err, mongoerr.MessageNotFound) {
		t.Fatalf("cancel %d: %v, want %+v", n, err, want)
	}
	if want != nil {
		x.m.remove(want)
	}
}

func (x *modelTest) clock(t *rapid.T) {
	x.m.now += rapid.Int64Range(0, 30).Draw(t, "half seconds") * 500
	x.e.at(float64(x.m.now-t0) / 1000)
}

func (x *modelTest) sweep(*rapid.T) {
	x.e.sweep()
	x.m.settle()
}

// reopen starts a server over the same data: it knows only what is stored.
func (x *modelTest) reopen(*rapid.T) {
	x.e.broker.Close()
	x.e.broker = NewBroker(x.e.clock, x.e.clock, &x.e.metrics)
}

// compare compares the whole state, as if all due messages had been processed.
func (x *modelTest) compare(t *rapid.T) {
	var want Stats
	later := *x.m
	later.list, later.letters = nil, nil
	for _, one := range x.m.list {
		c := *one
		later.list = append(later.list, &c)
	}
	for _, one := range x.m.letters {
		c := *one
		later.letters = append(later.letters, &c)
	}
	later.dead = false // what expires is counted, not moved
	before := len(later.list) + len(later.letters)
	later.settle()
	want.ExpiredPending = int64(before - len(later.list) - len(later.letters))
	want.DeadLettered = int64(len(later.letters))
	for _, one := range later.list {
		switch {
		case one.lockedUntil > later.now:
			want.Locked++
		case one.state == deferred:
			want.Deferred++
		case one.state == scheduled:
			want.Scheduled++
		default:
			want.Active++
		}
	}
	got := x.e.stats("q")
	got.LastActivity = 0
	if got != want {
		t.Fatalf("stats %+v, want %+v", got, want)
	}
	if n := len(x.e.peek("q")) + len(x.e.peek(dlq)); n != before {
		t.Fatalf("%d messages stored, want %d", n, before)
	}
}
