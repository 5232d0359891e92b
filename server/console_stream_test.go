package server

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A stream of events goes on for longer than a request may take to arrive.
func TestConsoleStreamOutlivesTheReadTimeout(t *testing.T) {
	t.Parallel()
	s, err := New(Config{DBPath: Memory, TestClock: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	const readTime = 200 * time.Millisecond
	if s.console, err = s.serveConsole(readTime); err != nil {
		t.Fatal(err)
	}
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
