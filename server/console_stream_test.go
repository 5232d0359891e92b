package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/duskdb/duskdb/value"
)

// withConsole starts a server with a console.
func withConsole(t *testing.T, readTime time.Duration) *Server {
	t.Helper()
	s, err := New(Config{DBPath: Memory, TestClock: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	s.timeLimits.scarce = time.Hour // tests move the time
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if s.console, err = s.serveConsole(readTime); err != nil {
		t.Fatal(err)
	}
	return s
}

// A stream of events goes on for longer than a request may take to arrive.
func TestConsoleStreamOutlivesTheReadTimeout(t *testing.T) {
	t.Parallel()
	const readTime = 200 * time.Millisecond
	s := withConsole(t, readTime)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.ConsoleURL()+"api/events?db=test", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	began := time.Now()
	for signs := 0; signs < 3 || time.Since(began) < 4*readTime; { // about one a second
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended after %s: %v", time.Since(began), err)
		}
		if strings.HasPrefix(line, ":") {
			signs++
		}
	}
	body := strings.NewReader(`{"db": "test", "command": {"insert": "c", "documents": [{"_id": "later"}]}}`)
	insert, err := client.Post(s.ConsoleURL()+"api/command", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	_ = insert.Body.Close()
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data: ") && strings.Contains(line, `"later"`) {
			return
		}
	}
}

// findLarge asks the console for the document of storeLarge.
func findLarge(t *testing.T, s *Server, client *http.Client) *http.Response {
	t.Helper()
	body := strings.NewReader(`{"db": "test", "command": {"find": "large"}}`)
	res, err := client.Post(s.ConsoleURL()+"api/command?json=canonical", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// storeLarge stores a document of several megabytes.
func storeLarge(t *testing.T, s *Server) {
	t.Helper()
	dial(t, s).ok(t, value.MustJSON(`{"aggregate": 1, "pipeline": [{"$documents": [{"_id": 1, "a": {"$range": [0, 1000000]}}]}, {"$out": "large"}], "cursor": {}, "$db": "test"}`))
}

// A client of the console that gets a part of a reply must not take it for the whole.
func TestConsoleRepliesThatEndEarly(t *testing.T) {
	t.Parallel()
	s := withConsole(t, time.Minute)
	storeLarge(t, s)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res := findLarge(t, s, client)
	if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	s.each(func(c *conn) { _ = c.nc.Close() })
	if n, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Errorf("after %d of 25 MB the reply ended without an error", n)
	}
}

// Large replies of the console have the slots of all large replies: what its clients do not
// read is held once, by the server, and they are disconnected while others wait.
func TestConsoleReplyPlaces(t *testing.T) {
	t.Parallel()
	s := withConsole(t, time.Minute)
	storeLarge(t, s)
	const deaf, slots = 5, 2
	s.inFlight.slots = semaphore.NewWeighted(slots)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range 2 * slots { // those that read leave their slot to the next
		if _, err := io.Copy(io.Discard, findLarge(t, s, client).Body); err != nil {
			t.Fatal(err)
		}
	}
	for range deaf {
		c, err := net.Dial("tcp", s.console.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		const body = `{"db": "test", "command": {"find": "large"}}`
		fmt.Fprintf(c, "POST /api/command?json=canonical HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	waitFor(t, func() bool { return s.inFlight.waiting.Load() == deaf-slots })
	held := 0
	s.each(func(c *conn) {
		if c.progress.held.Load() > 0 {
			held++
		}
	})
	if held > slots {
		t.Errorf("%d large replies are in memory, want %d", held, slots)
	}
	if res, err := client.Post(s.ConsoleURL()+"api/command", "application/json", strings.NewReader(`{"db": "test", "command": {"count": "large"}}`)); err != nil || res.StatusCode != 200 {
		t.Errorf("a small command: %v %v", res, err)
	} else {
		_ = res.Body.Close()
	}
	now := time.Now()
	waitFor(t, func() bool {
		now = now.Add(2 * time.Hour)
		s.checkReplies(now)
		return s.inFlight.waiting.Load() == 0
	})
}
