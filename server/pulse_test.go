package server

import (
	"sync/atomic"
	"testing"
)

// TestPulse: it beats while requests are counted, ends without requests, and begins again.
func TestPulse(t *testing.T) {
	t.Parallel()
	p, done, ended := newPulse(), make(chan struct{}), make(chan struct{})
	var beats, served, limit atomic.Int64
	go func() {
		defer close(ended)
		p.run(done, func() int64 {
			beats.Add(1)
			if served.Load() < limit.Load() {
				served.Add(1)
			}
			return served.Load()
		})
	}()
	for range 2 {
		limit.Add(3)
		before := beats.Load()
		for range 10 {
			p.felt() // once is enough, more do no harm
		}
		waitFor(t, func() bool { return !p.beats.Load() })
		if got := beats.Load() - before; served.Load() != limit.Load() || got != 4 {
			t.Errorf("%d beats for %d requests, expected one more than requests", got, served.Load())
		}
	}
	p.felt()
	close(done)
	<-ended
	p.felt() // does not wait
}

// TestPulseOfServer: a server's pulse begins with requests and ends after them.
func TestPulseOfServer(t *testing.T) {
	t.Parallel()
	if !pollerRemembers {
		t.Skip("sockets are used in the ordinary way")
	}
	s := serveConfig(t, Config{})
	c := dial(t, s)
	waitFor(t, func() bool {
		c.ok(t, pingCommand)
		return s.pulse.beats.Load()
	})
	waitFor(t, func() bool { return !s.pulse.beats.Load() })
}
