package server

import (
	"context"
	"testing"
	"time"
)

// TestOverdue follows one connection over time. A step is the state of the connection,
// and the reason for which the watcher must close it, if any.
func TestOverdue(t *testing.T) {
	limit := timeLimits{first: 60 * time.Second, message: 60 * time.Second, rate: 100, reply: 120 * time.Second}
	type step struct {
		at                 int // seconds
		received, boundary int64
		sending            int64
		running            bool
		want               string
	}
	const never, slow, deaf = "it never sent a message", "it sends a message too slowly", "it does not take in its replies"
	for name, steps := range map[string][]step{
		"silent":          {{at: 0}, {at: 60}, {at: 61, want: never}},
		"idle":            {{at: 0, received: 10, boundary: 10, sending: 2}, {at: 9999, received: 10, boundary: 10, sending: 2}},
		"a byte a second": {{at: 0, received: 1}, {at: 30, received: 31}, {at: 61, received: 62, want: slow}},
		"slow but steady": {{at: 0, received: 1}, {at: 61, received: 61 * 100}, {at: 600, received: 600 * 100}},
		"stalls":          {{at: 0, received: 5000, boundary: 100}, {at: 50, received: 5000, boundary: 100}, {at: 61, received: 5000, boundary: 100, want: slow}},
		"many messages":   {{at: 0, received: 12, boundary: 10}, {at: 61, received: 22, boundary: 20}, {at: 122, received: 32, boundary: 30}},
		"long command":    {{at: 0, received: 12, boundary: 10, running: true}, {at: 600, received: 12, boundary: 10, running: true}},
		"deaf":            {{at: 0, received: 9, boundary: 9, sending: 3}, {at: 120, received: 9, boundary: 9, sending: 3}, {at: 121, received: 9, boundary: 9, sending: 3, want: deaf}},
		"listens slowly":  {{at: 0, received: 9, boundary: 9, sending: 3}, {at: 119, received: 9, boundary: 9, sending: 5}, {at: 130, received: 9, boundary: 9, sending: 5}},
	} {
		var p progress
		for _, s := range steps {
			p.received.Store(s.received)
			p.boundary.Store(s.boundary)
			p.sending.Store(s.sending)
			if got := p.overdue(time.Unix(int64(s.at)+1, 0), &limit, s.running); got != s.want {
				t.Errorf("%s, second %d: %q, want %q", name, s.at, got, s.want)
			}
		}
	}
}

func TestInFlight(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newInFlight(ctx, 1<<20) // the least
	if err := f.Take(minInFlight - 100); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() { waited <- f.Take(200) }()
	f.Give(minInFlight - 100)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	go func() { waited <- f.Take(minInFlight) }()
	cancel()
	if err := <-waited; err == nil {
		t.Error("Take returns no error although the server stops")
	}
}
