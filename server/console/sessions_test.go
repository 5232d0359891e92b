package console

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

var ann, root = user{"admin", "ann"}, user{"admin", "root"}

func (s *sessions) has(x *session) bool {
	found, _ := s.of(x.cookie, x.token)
	return found == x
}

// A session ends when it has not been used for half an hour, and its streams with it.
func TestSessionsEndWhenIdle(t *testing.T) {
	c := clock.NewManual(time.UnixMilli(0))
	s := newSessions(c)
	x := s.open(ann, nil, "")
	for range 3 {
		c.Advance(maxIdle)
		if !s.has(x) {
			t.Fatal("a session in use has ended")
		}
	}
	c.Advance(maxIdle + time.Millisecond)
	if s.has(x) || x.ctx.Err() == nil {
		t.Error("an idle session has not ended")
	}
}

// Neither the cookie alone nor the token alone is the session.
func TestSessionsNeedBothSecrets(t *testing.T) {
	s := newSessions(clock.NewManual(time.UnixMilli(0)))
	x, y := s.open(ann, nil, ""), s.open(root, nil, "")
	for _, c := range []struct {
		cookie, token string
		known         bool
	}{{x.cookie, "", true}, {x.cookie, "x", true}, {x.cookie, y.token, true}, {"", x.token, false}, {"x", x.token, false}, {"", "", false}, {x.token, x.cookie, false}} {
		if got, known := s.of(c.cookie, c.token); got != nil || known != c.known {
			t.Errorf("%+v: %v %v", c, got, known)
		}
	}
	if got, known := s.of(x.cookie, x.token); got != x || !known {
		t.Errorf("both: %v %v", got, known)
	}
}

// The tabs of a browser have sessions of their own with one cookie; a logout ends all of them.
func TestSessionsOfTabs(t *testing.T) {
	s := newSessions(clock.NewManual(time.UnixMilli(0)))
	x := s.open(ann, nil, "made up by a stranger")
	y := s.open(root, nil, x.cookie)
	if x.cookie == "made up by a stranger" || x.cookie != y.cookie || x.token == y.token {
		t.Errorf("cookies %q and %q", x.cookie, y.cookie)
	}
	s.replace(x)
	if !s.has(y) {
		t.Error("the other tab lost its session")
	}
	other := s.open(ann, nil, "")
	s.forget(y.cookie)
	if s.has(y) || !s.has(other) {
		t.Error("a logout is not of one browser")
	}
}

// A user who has too many sessions loses the one that has not been used for longest; others
// lose none, however many log in.
func TestSessionsAreLimitedByUser(t *testing.T) {
	c := clock.NewManual(time.UnixMilli(0))
	s := newSessions(c)
	other, first := s.open(root, nil, ""), s.open(ann, nil, "")
	var second *session
	for i := range 10 * maxSessions {
		c.Advance(time.Millisecond)
		if x := s.open(ann, nil, ""); i == 0 {
			second = x
		}
		if !s.has(first) { // it is in use
			t.Fatalf("the session in use has ended after %d more", i)
		}
		if len(s.by) > maxPerUser+1 {
			t.Fatalf("%d sessions", len(s.by))
		}
	}
	if s.has(second) || second.ctx.Err() == nil {
		t.Error("the oldest has not ended")
	}
	if !s.has(other) {
		t.Error("another user has lost a session")
	}
	for i := range 10 * maxSessions { // users without number
		c.Advance(time.Millisecond)
		s.open(user{"admin", string(rune('a' + i))}, nil, "")
		if len(s.by) > maxSessions {
			t.Fatalf("%d sessions", len(s.by))
		}
		if s.open(ann, nil, ""); i < maxSessions && !s.has(other) {
			t.Fatalf("a user with one session has lost it after %d", i)
		}
	}
	s.close()
	if len(s.by) != 0 {
		t.Errorf("%d sessions are left", len(s.by))
	}
}

func TestCookieName(t *testing.T) {
	r := httptest.NewRequest("GET", "http://localhost:8080/", nil)
	for host, want := range map[string]string{"localhost:8080": "duskdb_console_8080", "localhost": "duskdb_console", "[::1]:1": "duskdb_console_1"} {
		r.Host = host
		if got := cookieName(r, false); got != want {
			t.Errorf("%s: %s", host, got)
		}
		if c := cookie(r, true, "x"); c.Name != "__Host-"+want || !c.Secure || c.Path != "/" || c.Domain != "" {
			t.Errorf("%s with TLS: %s", host, c)
		}
	}
}

// Logins that wait for their answer cannot keep others out: the one that has waited for
// longest ends.
func TestLoginsAreLimited(t *testing.T) {
	l := newLogins()
	var left []int
	crowded := make([]func() bool, maxLogins+2)
	done := make([]func(), maxLogins+2)
	for i := range maxLogins + 1 {
		crowded[i], done[i] = l.enter(func() { left = append(left, i) })
	}
	if len(left) != 1 || left[0] != 0 || !crowded[0]() || crowded[1]() {
		t.Errorf("%v ended", left)
	}
	done[0]()
	done[1]()
	i := maxLogins + 1
	if crowded[i], done[i] = l.enter(func() { left = append(left, i) }); len(left) != 1 {
		t.Errorf("%v ended although there was room", left)
	}
	for _, fn := range done[2:] {
		fn()
	}
	if l.open.Len() != 0 {
		t.Errorf("%d logins are left", l.open.Len())
	}
}
