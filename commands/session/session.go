package session

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Timeout is how long an unused session lives, as hello announces it.
const Timeout = 30 * time.Minute

// Session is a logical session.
type Session struct {
	Key      Key       // the id and user of the session
	lastUsed time.Time // guarded by the registry
	Record   RecordKey // the key of its record in config.transactions
	RecordID value.Doc // the same as the record's _id

	// turn holds one token: the right to use the fields below.
	// Commands that carry a txnNumber take it, so that they run one after
	// the other. Only the goroutine that has the token may use these fields.
	turn     chan struct{}
	Number   int64                       // highest txnNumber seen, -1 before any
	State    State                       // the state of that number
	Restored bool                        // whether its record has been read
	Stored   Stored                      // the stored state, as far as it is known
	Txn      atomic.Pointer[Transaction] // open transaction; any goroutine may load it
	History  *RetryHistory               // the outcomes of that number's retryable write
}

func newSession(key Key) *Session {
	s := &Session{Key: key, Number: -1, turn: make(chan struct{}, 1), Record: key.Record()}
	s.RecordID = s.Record.Doc()
	s.turn <- struct{}{}
	return s
}

// CheckOut waits for the turn.
func (s *Session) CheckOut(ctx context.Context) error {
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

// TryCheckOut takes the turn if it is free.
func (s *Session) TryCheckOut() bool {
	select {
	case <-s.turn:
		return true
	default:
		return false
	}
}

// CheckIn gives the turn back.
func (s *Session) CheckIn() { s.turn <- struct{}{} }

// InTransaction reports whether a transaction is open.
func (s *Session) InTransaction() bool { return s.Txn.Load() != nil }

// Registry holds the live sessions.
type Registry struct {
	mu         sync.Mutex
	sessions   map[Key]*Session
	Max        int                  // maximum number of sessions, 0: no limit; set before the first is used
	TxnEnded   *broadcast.Broadcast // signalled whenever a transaction ends
	StoredUses map[string]StoredUse // the sessions that this server has stored; used only by the code that stores them
	OnEnd      func(*Session)       // called with the turn when a session is forgotten
}

// StoredUse is a session as this server stored it.
type StoredUse struct {
	Used time.Time // the last use, by the clock given to Use
	Doc  value.Doc
}

// NewRegistry returns a registry without sessions.
func NewRegistry() *Registry {
	return &Registry{sessions: map[Key]*Session{}, Max: DefaultMax, TxnEnded: broadcast.New(), OnEnd: func(*Session) {}}
}

// DefaultMax is the default of the parameter maxSessions.
const DefaultMax = 1_000_000

// Use finds or makes a session and notes its use.
func (r *Registry) Use(key Key, now time.Time) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[key]
	if s == nil {
		s = newSession(key)
		if r.Max > 0 && len(r.sessions) >= r.Max {
			return nil, mongoerr.Newf(mongoerr.TooManyLogicalSessions, "Unable to add session ID %s into the cache because the number of active sessions is too high", s)
		}
		r.sessions[key] = s
	}
	s.lastUsed = now
	return s, nil
}

// End forgets sessions and aborts their transactions.
func (r *Registry) End(match func(*Session) bool) (ended []*Session) {
	r.mu.Lock()
	for key, s := range r.sessions {
		if match(s) {
			delete(r.sessions, key)
			ended = append(ended, s)
		}
	}
	r.mu.Unlock()
	for _, s := range ended {
		if s.CheckOut(context.Background()) == nil {
			r.OnEnd(s)
			s.CheckIn()
		}
	}
	return ended
}

// List returns the live sessions.
func (r *Registry) List() []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		out = append(out, s)
	}
	return out
}

// CloseAll ends all sessions.
func (r *Registry) CloseAll(context.Context) {
	r.End(func(*Session) bool { return true })
}

// Expire ends sessions that were not used for a while.
func (r *Registry) Expire(now time.Time, timeout time.Duration) {
	r.End(func(s *Session) bool { return now.Sub(s.lastUsed) >= timeout })
}

// LastUse is when a session was used last.
func (r *Registry) LastUse(s *Session) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.lastUsed
}

// Grant is a privilege that a command needed and had.
type Grant struct {
	On     auth.Pattern // the resource
	Action auth.Action  // the action on that resource
}

// String returns the session as messages show it: its id, the digest of its user, and the
// additional fields of internal sessions.
func (s *Session) String() string {
	id := s.Key.ID
	return fmt.Sprintf("%x-%x-%x-%x-%x - %s -  - ", id[:4], id[4:6], id[6:8], id[8:10], id[10:], base64.StdEncoding.EncodeToString(s.Record.UID[:]))
}
