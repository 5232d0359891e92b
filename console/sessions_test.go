package console

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// with is a request with the cookie of a session.
func with(token string) *http.Request {
	r := httptest.NewRequest("GET", "/api/session", nil)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: token})
	return r
}

// A session ends when it has not been used for half an hour, and its streams with it.
func TestSessionsEndWhenIdle(t *testing.T) {
	c := clock.NewManual(time.UnixMilli(0))
	s := newSessions(c)
	token, x, err := s.open("ann", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Advance(maxIdle)
		if s.of(with(token)) != x {
			t.Fatal("a session in use has ended")
		}
	}
	c.Advance(maxIdle + time.Millisecond)
	if s.of(with(token)) != nil || x.ctx.Err() == nil {
		t.Error("an idle session has not ended")
	}
	if s.of(with("unknown")) != nil {
		t.Error("a session for an unknown token")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	c := clock.NewManual(time.UnixMilli(0))
	s := newSessions(c)
	for range maxSessions {
		if _, _, err := s.open("ann", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.open("ann", nil); err == nil {
		t.Error("one session too many")
	}
	c.Advance(maxIdle + time.Millisecond)
	if _, _, err := s.open("ann", nil); err != nil {
		t.Errorf("idle sessions keep their places: %v", err)
	}
	s.close()
	if len(s.by) != 0 {
		t.Errorf("%d sessions are left", len(s.by))
	}
}
