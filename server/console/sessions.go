package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// A session has two secrets. The cookie cannot be read by scripts, but browsers send it to
// every port of a host name. The token is in the reply to the login and nowhere else; the page
// keeps it for its tab and sends it in a header, which pages of other ports and sites cannot.
// Only both together are the session.

// csrfHeader is the header with the token of a session.
const csrfHeader = "X-CSRF-Token"

// cookieName is the name of the cookie for the port that the browser sees: consoles on other
// ports of the host have their own. With the prefix __Host- no page without TLS, and none of
// another name, can set it.
func cookieName(r *http.Request, secure bool) string {
	name := "duskdb_console"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "_" + port
	}
	if secure {
		name = "__Host-" + name
	}
	return name
}

// cookie is the cookie with a secret; "": without it, for a browser to forget it.
func cookie(r *http.Request, secure bool, secret string) *http.Cookie {
	c := &http.Cookie{Name: cookieName(r, secure), Value: secret, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

// session is a user who has logged in.
type session struct {
	user   user
	cookie string // cookie of the browser; its tabs have sessions of their own
	token  string
	secret *secret
	used   time.Time

	ctx context.Context
	end context.CancelFunc

	mu   sync.Mutex
	idle []*conn
}

// user is who has logged in.
type user struct{ db, name string }

// sessions are limited in number, by user, and in idle time.
type sessions struct {
	clock clock.Clock
	mu    sync.Mutex
	by    map[string]*session // sessions by token
}

func newSessions(c clock.Clock) *sessions { return &sessions{clock: c, by: map[string]*session{}} }

func newSecretText() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// open starts a session. It belongs to a browser that has a cookie if others of it do.
func (s *sessions) open(u user, k *secret, cookie string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	s.makeRoom(u)
	if !s.known(cookie) {
		cookie = newSecretText()
	}
	x := &session{user: u, cookie: cookie, token: newSecretText(), secret: k, used: s.clock.Now()}
	x.ctx, x.end = context.WithCancel(context.Background())
	s.by[x.token] = x
	return x
}

// makeRoom ends a session of a user who has as many as one may have, or one of those who
// have the most if there are too many of all: the one that has not been used for longest. The
// caller holds mu.
func (s *sessions) makeRoom(u user) {
	count, highest := map[user]int{}, 0
	for _, x := range s.by {
		count[x.user]++
		highest = max(highest, count[x.user])
	}
	own := count[u] >= maxPerUser
	if !own && len(s.by) < maxSessions {
		return
	}
	var oldest *session
	for _, x := range s.by {
		ends := x.user == u
		if !own {
			ends = count[x.user] == highest
		}
		if ends && (oldest == nil || x.used.Before(oldest.used)) {
			oldest = x
		}
	}
	s.remove(oldest)
}

// sweep ends the sessions that have been idle for too long. The caller holds mu.
func (s *sessions) sweep() {
	now := s.clock.Now()
	for _, x := range s.by {
		if now.Sub(x.used) > maxIdle {
			s.remove(x)
		}
	}
}

// remove ends a session. The caller holds mu.
func (s *sessions) remove(x *session) {
	delete(s.by, x.token)
	x.close()
}

// known reports whether a session has a cookie. The caller holds mu.
func (s *sessions) known(cookie string) bool {
	for _, x := range s.by {
		if same(x.cookie, cookie) {
			return true
		}
	}
	return false
}

// same compares secrets in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// of finds the session of a cookie and a token, and notes its use; nil if they belong to no
// session together. known reports whether the cookie belongs to some session.
func (s *sessions) of(cookie, token string) (x *session, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if x = s.by[token]; x == nil || !same(x.cookie, cookie) {
		return nil, s.known(cookie)
	}
	x.used = s.clock.Now()
	return x, true
}

// replace ends a session whose page must log in again, or does.
func (s *sessions) replace(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(x)
}

// forget ends the sessions of a browser.
func (s *sessions) forget(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.by {
		if same(x.cookie, cookie) {
			s.remove(x)
		}
	}
}

func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.by {
		s.remove(x)
	}
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
