package commands

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// sessionTimeout is how long an unused session lives, as hello announces it.
const sessionTimeout = 30 * time.Minute

// session is a logical session.
type session struct {
	key      sessionKey
	lastUsed time.Time // guarded by the registry
	record   recordKey // of its record in config.transactions
	recordID value.Doc // the same as the record's _id

	// turn holds one token: the right to work with the session's number.
	// Commands that carry a txnNumber take it, so that they run one after
	// the other; what follows belongs to whoever has it.
	turn     chan struct{}
	number   int64 // highest txnNumber seen, -1 before any
	state    txnState
	restored bool                        // its record has been read
	txn      atomic.Pointer[transaction] // open transaction; may be looked at by anyone
	history  *retryHistory               // what the retryable write of that number has done
}

func newSession(key sessionKey) *session {
	s := &session{key: key, number: -1, turn: make(chan struct{}, 1), record: key.record()}
	s.recordID = s.record.doc()
	s.turn <- struct{}{}
	return s
}

// checkOut waits for the turn.
func (s *session) checkOut(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	default:
	}
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return mongoerr.From(context.Cause(ctx))
	}
}

// tryCheckOut takes the turn if nobody has it.
func (s *session) tryCheckOut() bool {
	select {
	case <-s.turn:
		return true
	default:
		return false
	}
}

func (s *session) checkIn() { s.turn <- struct{}{} }

// inTransaction reports whether a transaction is open.
func (s *session) inTransaction() bool { return s.txn.Load() != nil }

// sessionRegistry holds the live sessions.
type sessionRegistry struct {
	mu       sync.Mutex
	sessions map[sessionKey]*session
	txnEnded *broadcast     // signalled whenever a transaction ends
	onEnd    func(*session) // called with the turn when a session is forgotten
}

func newSessionRegistry() *sessionRegistry {
	return &sessionRegistry{sessions: map[sessionKey]*session{}, txnEnded: newBroadcast(), onEnd: func(*session) {}}
}

// use finds or makes a session and notes its use.
func (r *sessionRegistry) use(key sessionKey, now time.Time) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[key]
	if s == nil {
		s = newSession(key)
		r.sessions[key] = s
	}
	s.lastUsed = now
	return s
}

// end forgets sessions and aborts their transactions.
func (r *sessionRegistry) end(match func(*session) bool) (ended []*session) {
	r.mu.Lock()
	for key, s := range r.sessions {
		if match(s) {
			delete(r.sessions, key)
			ended = append(ended, s)
		}
	}
	r.mu.Unlock()
	for _, s := range ended {
		if s.checkOut(context.Background()) == nil {
			r.onEnd(s)
			s.checkIn()
		}
	}
	return ended
}

// list returns the live sessions.
func (r *sessionRegistry) list() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*session, 0, len(r.sessions))
	for _, s := range r.sessions {
		out = append(out, s)
	}
	return out
}

func (r *sessionRegistry) closeAll(context.Context) {
	r.end(func(*session) bool { return true })
}

// expire ends sessions that were not used for a while.
func (r *sessionRegistry) expire(now time.Time, timeout time.Duration) {
	r.end(func(s *session) bool { return now.Sub(s.lastUsed) >= timeout })
}

// lastUse is when a session was used last.
func (r *sessionRegistry) lastUse(s *session) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.lastUsed
}
