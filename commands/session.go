package commands

import (
	"context"
	"sync"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// sessionTimeout is how long an unused session lives, as hello announces it.
const sessionTimeout = 30 * time.Minute

// sessionKey identifies a logical session: the client's UUID, and the user
// it belongs to.
type sessionKey struct {
	id   [16]byte
	user string
}

// session is a logical session.
type session struct {
	key      sessionKey
	mu       sync.Mutex // held by the command that works in the session's transaction
	lastUsed time.Time  // guarded by the registry
	number   int64      // highest txnNumber seen
	txn      *transaction
}

// transaction is an open multi-document transaction.
type transaction struct {
	sends   queueChanges // call t.sends.committed() once it has committed
	number  int64
	tx      storage.Txn
	now     int64 // instant of the first statement
	started time.Time
}

// inTransaction reports whether a transaction is open.
func (s *session) inTransaction() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.txn != nil
}

// sessionRegistry holds the live sessions.
type sessionRegistry struct {
	mu       sync.Mutex
	sessions map[sessionKey]*session
	txnEnded *broadcast // signalled whenever a transaction ends
}

func newSessionRegistry() *sessionRegistry {
	return &sessionRegistry{sessions: map[sessionKey]*session{}, txnEnded: newBroadcast()}
}

// parseLSID reads an lsid document.
func parseLSID(d value.Doc, user string) (sessionKey, error) {
	key := sessionKey{user: user}
	id, ok := d.Get("id")
	if !ok {
		return key, mongoerr.New(40414, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field")
	}
	subtype, data := id.Binary()
	if id.Kind() != value.KindBinary || subtype != 4 || len(data) != 16 {
		return key, mongoerr.New(mongoerr.TypeMismatch, "BSON field 'OperationSessionInfo.lsid.id' is the wrong type 'binData', expected type 'UUID'")
	}
	copy(key.id[:], data)
	return key, nil
}

// use finds or makes a session and notes its use.
func (r *sessionRegistry) use(key sessionKey, now time.Time) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[key]
	if s == nil {
		s = &session{key: key, number: -1}
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
		s.mu.Lock()
		r.abort(s)
		s.mu.Unlock()
	}
	return ended
}

// abort ends the session's transaction, if any. s.mu is held.
func (r *sessionRegistry) abort(s *session) {
	if s.txn == nil {
		return
	}
	s.txn.tx.Abort()
	s.txn = nil
	r.txnEnded.signal()
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
