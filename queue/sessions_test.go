package queue

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// accept locks a session, the next one if it has no name.
func (e *env) accept(id string) Accepted {
	e.t.Helper()
	got, ok, err := e.tryAccept(id)
	if e.must(err); !ok {
		e.t.Fatalf("no session %q at %+d", id, e.now()-t0)
	}
	return got
}

func (e *env) tryAccept(id string) (Accepted, bool, error) {
	got, ok, err := e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("q"), ID: id, Named: id != ""}, e.now())
	return got, ok, err
}

func (e *env) receiveIn(s Accepted, n int) ([]value.Doc, error) {
	return e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: n, Session: &s.Token}, e.now())
}

// next receives the next message of a session and returns its _id.
func (e *env) next(s Accepted) value.Doc {
	e.t.Helper()
	docs, err := e.receiveIn(s, 1)
	if e.must(err); len(docs) != 1 {
		e.t.Fatalf("received %d messages of session %q", len(docs), s.ID)
	}
	return docs[0]
}

func (e *env) lock(s Accepted) SessionLock { return SessionLock{ref("q"), s.Token} }

func sessionQueue(t *testing.T) *env {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true, "lockDuration": 30, "maxDeliveryCount": 3}`)
	e.send("q", `{"_id": 1, "_mq": {"sessionId": "b"}}`, `{"_id": 2, "_mq": {"sessionId": "a"}}`, `{"_id": 3, "_mq": {"sessionId": "b"}}`, `{"_id": 4, "_mq": {"sessionId": "a"}}`)
	return e
}

// One receiver gets the messages of a session, in order; the next session is the one with
// the oldest message.
func TestSessions(t *testing.T) {
	e := sessionQueue(t)
	b := e.accept("")
	if b.ID != "b" || b.Until != t0+30_000 || !b.State.IsMissing() {
		t.Errorf("accepted %+v", b)
	}
	_, _, err := e.tryAccept("b")
	e.fails(err, mongoerr.SessionCannotBeLocked, "'b' is locked")
	a := e.accept("")
	if _, ok, _ := e.tryAccept(""); ok || a.ID != "a" {
		t.Errorf("accepted %+v and a third", a)
	}
	first := e.next(b)
	expectMQ(t, first, `{"sessionId": "b", "sequenceNumber": {"$numberLong": "1"}, "lockedUntilUtc": {"$date": 1767225630000}}`)
	if got := e.next(b).Lookup("_id").Int32(); got != 3 {
		t.Errorf("the second is %d", got)
	}
	if docs, err := e.receiveIn(b, 1); err != nil || len(docs) != 0 {
		t.Errorf("%v, %v", docs, err)
	}
	e.abandon("q", first) // is served again
	if got := e.next(b).Lookup("_id").Int32(); got != 1 {
		t.Errorf("after abandon: %d", got)
	}
	docs, err := e.receiveIn(a, 10)
	if e.must(err); len(docs) != 2 {
		t.Errorf("session a: %v", docs)
	}
}

func TestSessionRefusals(t *testing.T) {
	e := sessionQueue(t)
	_, err := e.trySend("q", `{"_id": 9}`)
	e.fails(err, mongoerr.BadValue, "requires sessions")
	_, err = e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "mqAcceptSession")
	s := e.accept("a")
	m := e.next(s)
	_, err = e.broker.RenewLock(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "mqRenewSession")
	e.fails(e.modify("q", `{"requiresSession": false}`), mongoerr.InvalidOptions, "cannot be changed")
	e.must(e.modify("q", `{"requiresSession": true}`))
	wrong := s
	wrong.Token[3]++
	_, err = e.receiveIn(wrong, 1)
	e.fails(err, mongoerr.SessionLockLost, "")
	e.create("p", `{}`)
	_, _, err = e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("p")}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "does not have sessions")
	_, err = e.trySend("q", `{"_id": 9, "_mq": {"sessionId": 5}}`)
	e.fails(err, mongoerr.TypeMismatch, "_mq.sessionId")
	_, err = e.trySend("q", `{"_id": 9, "_mq": {"sessionId": ""}}`)
	e.fails(err, mongoerr.BadValue, "1 to 128")
}

// The lock of a session covers its messages: its end is a failed delivery of each, its
// release is not.
func TestSessionLock(t *testing.T) {
	e := sessionQueue(t)
	s := e.accept("b")
	e.next(s)
	e.at(20)
	until, err := e.broker.RenewSession(e.ctx, e.store, e.lock(s), e.now())
	if e.must(err); until != t0+50_000 {
		t.Errorf("renewed until %+d", until-t0)
	}
	e.at(49)
	m := e.next(s)
	e.must(e.complete("q", m))
	e.at(50)
	_, err = e.receiveIn(s, 1)
	e.fails(err, mongoerr.SessionLockLost, "")
	e.fails(e.broker.ReleaseSession(e.ctx, e.store, e.lock(s), e.now()), mongoerr.SessionLockLost, "")
	again := e.accept("b")
	expectMQ(t, e.next(again), `{"sequenceNumber": {"$numberLong": "1"}, "deliveryCount": 2}`)
	e.must(e.broker.ReleaseSession(e.ctx, e.store, e.lock(again), e.now()))
	expectMQ(t, e.next(e.accept("b")), `{"sequenceNumber": {"$numberLong": "1"}, "deliveryCount": 2}`)
}

// The state of a session stays until it is removed, without messages and over a restart.
func TestSessionState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	e := newEnvAt(t, path)
	e.create("q", `{"requiresSession": true, "lockDuration": 30}`)
	s := e.accept("empty") // a session may be accepted before its first message
	state := value.Document(value.MustJSON(`{"step": 2}`))
	e.must(e.broker.SetSessionState(e.ctx, e.store, e.lock(s), state, e.now()))
	e.must(e.engine.Close())
	e.open(path)
	got, err := e.broker.SessionState(e.ctx, e.store, e.lock(s), e.now())
	if e.must(err); !value.Equal(got, state) {
		t.Errorf("state %s", got)
	}
	e.at(31)
	e.sweep()
	s = e.accept("empty")
	if !value.Equal(s.State, state) {
		t.Errorf("state %s", s.State)
	}
	e.must(e.broker.SetSessionState(e.ctx, e.store, e.lock(s), value.Null(), e.now()))
	big := value.String(string(make([]byte, maxSessionState)))
	e.fails(e.broker.SetSessionState(e.ctx, e.store, e.lock(s), big, e.now()), mongoerr.BSONObjectTooLarge, "")
	e.must(e.broker.ReleaseSession(e.ctx, e.store, e.lock(s), e.now()))
	list, err := e.broker.Sessions(e.ctx, e.store, ref("q"), "", 10, e.now())
	if e.must(err); len(list) != 0 {
		t.Errorf("sessions are left: %v", list)
	}
}

// Messages that nobody has received expire also in a locked session; those that are locked
// expire with the session's lock. Dead letters keep their session.
func TestSessionExpiry(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true, "lockDuration": 30, "defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": true}`)
	e.send("q", `{"_id": 1, "_mq": {"sessionId": "a"}}`, `{"_id": 2, "_mq": {"sessionId": "a"}}`)
	s := e.accept("a")
	e.next(s)
	e.at(10)
	if docs, err := e.receiveIn(s, 1); err != nil || len(docs) != 0 {
		t.Errorf("%v, %v", docs, err)
	}
	e.sweep()
	e.expectIDs(dlq, "2")
	expectMQ(t, e.peek(dlq)[0], `{"sessionId": "a", "deadLetterReason": "TTLExpiredException"}`)
	e.at(29)
	e.must(e.broker.ReleaseSession(e.ctx, e.store, e.lock(s), e.now()))
	e.expectIDs(dlq, "1", "2")
	e.one(dlq) // needs no session
}

// Deferred messages are received by number within their session.
func TestSessionDeferred(t *testing.T) {
	e := sessionQueue(t)
	a, b := e.accept("a"), e.accept("b")
	m := e.next(b)
	if out := e.deferIt("q", m); out != "deferred" {
		t.Errorf("outcome %s", out)
	}
	number := func(s Accepted) error {
		_, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Numbers: []int64{1}, Session: &s.Token}, e.now())
		return err
	}
	e.fails(number(a), mongoerr.MessageNotFound, "")
	e.must(number(b))
}

// A receiver finds a free session behind many messages of locked ones.
func TestNextSessionBehindMany(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true}`)
	var docs []value.Doc
	for i := range sessionScan + 10 {
		docs = append(docs, value.NewDoc("_id", value.Int32(int32(i)), Field, value.Document(value.NewDoc("sessionId", value.String("busy")))))
	}
	docs = append(docs, value.MustJSON(`{"_id": "x", "_mq": {"sessionId": "free"}}`))
	_, err := e.broker.Send(e.ctx, e.store, ref("q"), docs, e.now())
	e.must(err)
	e.accept("busy")
	if s := e.accept(""); s.ID != "free" {
		t.Errorf("accepted %q", s.ID)
	}
	if _, ok, err := e.tryAccept(""); ok || err != nil {
		t.Errorf("a third session: %v", err)
	}
}

func TestListSessions(t *testing.T) {
	e := sessionQueue(t)
	e.accept("c")
	s := e.accept("b")
	e.must(e.broker.SetSessionState(e.ctx, e.store, e.lock(s), value.Int32(1), e.now()))
	e.next(s)
	list, err := e.broker.Sessions(e.ctx, e.store, ref("q"), "", 10, e.now())
	e.must(err)
	want := []SessionInfo{{ID: "a", Active: 2}, {ID: "b", Until: t0 + 30_000, HasState: true, Active: 1}, {ID: "c", Until: t0 + 30_000}}
	if !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
	if list, err = e.broker.Sessions(e.ctx, e.store, ref("q"), "a", 1, e.now()); err != nil || !slices.Equal(list, want[1:2]) {
		t.Errorf("%+v, %v", list, err)
	}
}

// Messages without a session are dead letters of a subscription that requires one.
func TestSubscriptionSessions(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "q", `{"topic": "t", "requiresSession": true}`)
	e.send("t", `{"_id": 1}`, `{"_id": 2, "_mq": {"sessionId": "a"}}`)
	expectMQ(t, e.peek(dlq)[0], `{"deadLetterReason": "Session ID is null."}`)
	expectMQ(t, e.next(e.accept("")), `{"sessionId": "a"}`)
}

// Receivers that wait are woken by what concerns them: a message of their session, a session
// that becomes free by its release or by the end of its lock, the end of their own lock.
func TestSessionWaits(t *testing.T) {
	e := sessionQueue(t)
	a, b := e.accept("a"), e.accept("b")
	for _, s := range []Accepted{a, b} {
		docs, err := e.receiveIn(s, 2)
		if e.must(err); len(docs) != 2 {
			t.Fatalf("session %s: %v", s.ID, docs)
		}
		for _, d := range docs {
			e.must(e.complete("q", d))
		}
	}
	type result struct {
		docs []value.Doc
		err  error
	}
	wait := func(s Accepted) chan result {
		ch := make(chan result, 1)
		go func() {
			docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1, Wait: MaxWait, Session: &s.Token}, e.now())
			ch <- result{docs, err}
		}()
		return ch
	}
	inA, inB := wait(a), wait(b)
	next := make(chan Accepted, 1)
	go func() {
		s, _, _ := e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("q"), Wait: MaxWait}, e.now())
		next <- s
	}()
	e.settled(3)
	e.send("q", `{"_id": 10, "_mq": {"sessionId": "b"}}`)
	if r := <-inB; r.err != nil || len(r.docs) != 1 {
		t.Errorf("b: %v", r)
	}
	e.settled(2)
	e.send("q", `{"_id": 11, "_mq": {"sessionId": "b"}}`) // held, so that nobody gets it
	e.must(e.broker.ReleaseSession(e.ctx, e.store, e.lock(b), e.now()))
	if s := <-next; s.ID != "b" {
		t.Errorf("accepted %q", s.ID)
	}
	e.settled(1)
	e.at(30) // the end of the lock of a
	if r := <-inA; !mongoerr.Is(r.err, mongoerr.SessionLockLost) {
		t.Errorf("a: %v", r)
	}
}

// settled waits until so many receivers wait for messages.
func (e *env) settled(n int) {
	e.t.Helper()
	var q *runtimeState
	e.must(e.broker.view(e.ctx, e.store, ref("q"), e.now(), func(en *entity) error { q = en.state; return nil }))
	for e.ctx.Err() == nil {
		q.main.mu.Lock()
		waiting := 0
		for _, x := range q.main.list {
			if x.due != never {
				waiting++
			}
		}
		q.main.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// What a receiver of the next session has passed is passed again when a session is released,
// when a lock ends, and after an abort.
func TestNextSessionBehindHeld(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true, "lockDuration": 30}`)
	const n = 3000
	for i := range n {
		e.send("q", fmt.Sprintf(`{"_id": %d, "_mq": {"sessionId": "s%05d"}}`, i, i))
	}
	var held []Accepted
	for i := range n - 1 {
		s := e.accept("")
		if want := fmt.Sprintf("s%05d", i); s.ID != want {
			t.Fatalf("accepted %q, want %q", s.ID, want)
		}
		held = append(held, s)
	}
	if got := e.state("q").head.at(e.now()).number; got != n-1 {
		t.Errorf("the head is at %d", got)
	}
	e.must(e.broker.ReleaseSession(e.ctx, e.store, e.lock(held[7]), e.now()))
	if s := e.accept(""); s.ID != "s00007" {
		t.Errorf("accepted %q", s.ID)
	}
	if s := e.accept(""); s.ID != "s02999" {
		t.Errorf("accepted %q", s.ID)
	}
	if _, ok, err := e.tryAccept(""); ok || err != nil {
		t.Errorf("accepted another: %v", err)
	}
	e.at(30)
	if s := e.accept(""); s.ID != "s00000" {
		t.Errorf("accepted %q", s.ID)
	}

	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	s := txnStore{txn, e.broker.Changes()}
	for _, want := range []string{"s00001", "s00002"} {
		got, _, err := e.broker.AcceptSession(e.ctx, s, Accept{Ref: ref("q")}, e.now())
		if err != nil || got.ID != want {
			t.Errorf("accepted %q, %v", got.ID, err)
		}
	}
	txn.Abort()
	if s := e.accept(""); s.ID != "s00001" {
		t.Errorf("accepted %q after an abort", s.ID)
	}
}

// state is the state of a queue in memory.
func (e *env) state(name string) (q *runtimeState) {
	e.must(e.broker.view(e.ctx, e.store, ref(name), e.now(), func(o *entity) error { q = o.state; return nil }))
	return q
}
