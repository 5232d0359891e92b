package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// keyOf is the key of a session of nobody.
func keyOf(n byte) session.Key { return session.Key{ID: [16]byte{n}} }

// Sessions live from use to use: the time-out counts from the last one, as the manual
// says of localLogicalSessionTimeoutMinutes.
func TestRegistryExpiresWhatIsUnused(t *testing.T) {
	t.Parallel()
	r, now := session.NewRegistry(), harness.TestStart
	var ended []*session.Session
	r.OnEnd = func(s *session.Session) {
		if s.TryCheckOut() {
			t.Error("the session is ended without its turn")
		}
		ended = append(ended, s)
	}
	a, b := used(r, keyOf(1), now), used(r, keyOf(2), now)
	if a == b || a.Number != -1 || a.State != session.TxnNone || a.InTransaction() {
		t.Errorf("new sessions %+v, %+v", a, b)
	}
	later := now.Add(session.Timeout - time.Millisecond)
	if r.Expire(later, session.Timeout); len(r.List()) != 2 {
		t.Errorf("%d sessions before the time-out", len(r.List()))
	}
	if again := used(r, keyOf(2), later); again != b || r.LastUse(b) != later || r.LastUse(a) != now {
		t.Errorf("used again: %p, at %v", again, r.LastUse(b))
	}
	if r.Expire(now.Add(session.Timeout), session.Timeout); len(ended) != 1 || ended[0] != a {
		t.Errorf("ended %v", ended)
	}
	if list := r.List(); len(list) != 1 || list[0] != b {
		t.Errorf("left %v", list)
	}
	if used(r, keyOf(1), later) == a {
		t.Error("an ended session is used again")
	}
	if r.CloseAll(context.Background()); len(r.List()) != 0 || len(ended) != 3 {
		t.Errorf("%d sessions after all were closed, %d ended", len(r.List()), len(ended))
	}
	if !b.TryCheckOut() {
		t.Error("the turn is not given back")
	}
}

// A session that is ended waits for the command that has its turn.
func TestEndWaitsForTurn(t *testing.T) {
	t.Parallel()
	r := session.NewRegistry()
	s := used(r, keyOf(1), harness.TestStart)
	if err := s.CheckOut(context.Background()); err != nil {
		t.Fatal(err)
	}
	done, busy := make(chan struct{}), true
	r.OnEnd = func(*session.Session) {
		if busy {
			t.Error("ended beside a command")
		}
	}
	go func() {
		defer close(done)
		if ended := r.End(func(x *session.Session) bool { return x.Key.ID == [16]byte{1} }); len(ended) != 1 || ended[0] != s {
			t.Errorf("ended %v", ended)
		}
	}()
	for len(r.List()) > 0 { // forgotten at once, so that nobody else gets it
		if s.TryCheckOut() {
			t.Fatal("two have the turn")
		}
	}
	busy = false
	s.CheckIn()
	<-done
}

// A command whose client goes away, or whose time is up, waits no longer.
func TestCheckOutIsInterrupted(t *testing.T) {
	t.Parallel()
	s := used(session.NewRegistry(), keyOf(1), harness.TestStart)
	if !s.TryCheckOut() || s.TryCheckOut() {
		t.Fatal("the turn is one")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit"))
	if err := s.CheckOut(ctx); shown(err) != "MaxTimeMSExpired: operation exceeded time limit" {
		t.Errorf("checked out with %v", err)
	}
	s.CheckIn()
	if err := s.CheckOut(ctx); err != nil {
		t.Errorf("a free turn: %v", err)
	}
}

// Sessions and states in messages, as logical_session_id.h and transaction_participant.h
// of mongod name them.
func TestNamesInMessages(t *testing.T) {
	t.Parallel()
	s := used(session.NewRegistry(), session.Key{ID: bytesA}, harness.TestStart)
	if got := s.String(); got != "00010203-0405-0607-0809-0a0b0c0d0e0f - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - " {
		t.Error(got)
	}
	for state, want := range map[session.State]string{
		session.TxnNone: "None", session.TxnRetryable: "ExecutedRetryableWrite", session.TxnInProgress: "InProgress",
		session.TxnCommitted: "Committed", session.TxnAborted: "AbortedWithoutPrepare",
	} {
		if state.String() != "TransactionState::"+want {
			t.Errorf("%d: %s, want %s", state, state, want)
		}
	}
}

// used is Use of a registry that is not full.
func used(r *session.Registry, key session.Key, now time.Time) *session.Session {
	s, err := r.Use(key, now)
	if err != nil {
		panic(err)
	}
	return s
}

// A registry that is full refuses new sessions, and none of those that it has.
func TestTooManySessions(t *testing.T) {
	r := session.NewRegistry()
	r.Max = 2
	first := used(r, keyOf(1), harness.TestStart)
	used(r, keyOf(2), harness.TestStart)
	if _, err := r.Use(keyOf(3), harness.TestStart); !mongoerr.Is(err, mongoerr.TooManyLogicalSessions) {
		t.Errorf("the third: %v", err)
	}
	if used(r, keyOf(1), harness.TestStart) != first {
		t.Error("the first is another one")
	}
	r.End(func(s *session.Session) bool { return s == first })
	used(r, keyOf(3), harness.TestStart)
}

// The parameter maxSessions is the limit.
func TestMaxSessions(t *testing.T) {
	h := harness.NewWith(t, kernel.Options{Parameters: map[string]string{"maxSessions": "3"}})
	for range 3 {
		h.OK(`{startSession: 1}`)
	}
	h.Fails(int32(mongoerr.TooManyLogicalSessions), `{startSession: 1}`)
	h.Fails(int32(mongoerr.TooManyLogicalSessions), `{find: "c", lsid: {id: {"$binary": {base64: "AAAAAAAAAAAAAAAAAAAAAA==", subType: "04"}}}}`)
	h.OK(`{find: "c"}`)
}
