package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// cookieName is the name of the cookie with the token of a session.
const cookieName = "duskdb_console"

// csrfHeader repeats the second token of a session in requests that act.
const csrfHeader = "X-CSRF-Token"

// session is a user who has logged in, or a client of a server without logins.
type session struct {
	user   string
	csrf   string
	secret *secret // nil without logins
	used   time.Time

	ctx context.Context
	end context.CancelFunc

	mu   sync.Mutex
	idle []*conn
}

// sessions are bounded in number and in idle time.
type sessions struct {
	clock clock.Clock
	mu    sync.Mutex
	by    map[string]*session
}

func newSessions(c clock.Clock) *sessions { return &sessions{clock: c, by: map[string]*session{}} }

func newToken() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

var errFull = errors.New("too many sessions; log out elsewhere, or try again later")

// open starts a session and returns its token.
func (s *sessions) open(user string, k *secret) (token string, x *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.by) >= maxSessions {
		return "", nil, errFull
	}
	x = &session{user: user, csrf: newToken(), secret: k, used: s.clock.Now()}
	x.ctx, x.end = context.WithCancel(context.Background())
	token = newToken()
	s.by[token] = x
	return token, x, nil
}

// sweep ends the sessions that have been idle for too long. The caller holds mu.
func (s *sessions) sweep() {
	now := s.clock.Now()
	for token, x := range s.by {
		if now.Sub(x.used) > maxIdle {
			delete(s.by, token)
			x.close()
		}
	}
}

// of finds the session of a request; nil if it has none.
func (s *sessions) of(r *http.Request) *session {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	x := s.by[cookie.Value]
	if x != nil {
		x.used = s.clock.Now()
	}
	return x
}

// forget ends the session of a request.
func (s *sessions) forget(r *http.Request) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return
	}
	s.mu.Lock()
	x := s.by[cookie.Value]
	delete(s.by, cookie.Value)
	s.mu.Unlock()
	if x != nil {
		x.close()
	}
}

func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, x := range s.by {
		delete(s.by, token)
		x.close()
	}
}

// acts reports whether a request proves that it was made by a page of the console.
func (x *session) acts(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(x.csrf)) == 1
}

// take returns an idle connection, or nil if all are in use.
func (x *session) take() *conn {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.idle) == 0 {
		return nil
	}
	c := x.idle[len(x.idle)-1]
	x.idle = x.idle[:len(x.idle)-1]
	return c
}

// keep keeps a connection for the next call.
func (x *session) keep(c *conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ctx.Err() != nil || len(x.idle) >= keptPerLogin {
		c.close()
		return
	}
	x.idle = append(x.idle, c)
}

func (x *session) close() {
	x.end()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.idle {
		c.close()
	}
	x.idle = nil
}
