package server

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// keepAlive detects within about three minutes that a client's machine is
// gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 120 * time.Second, Interval: 10 * time.Second, Count: 6}

// timeLimits are the time limits for clients that send or read too slowly.
type timeLimits struct {
	first   time.Duration // time to begin the first message
	message time.Duration // time to send the rest of a message
	rate    int64         // minimum rate of a longer message, in bytes per second
	reply   time.Duration // time to read a reply
	scarce  time.Duration // time to read the next part of a reply when memory is short
}

var defaultTimeLimits = timeLimits{
	first: 60 * time.Second, message: 60 * time.Second, rate: 16 << 10,
	reply: 120 * time.Second, scarce: 3 * time.Second,
}

// progress tells the watcher what a connection does: how many bytes it has read and written,
// and since when a command has been running. The connection writes the counters.
type progress struct {
	received atomic.Int64 // bytes
	boundary atomic.Int64 // bytes up to the last whole message
	began    atomic.Int64 // start of the running command, in unix nanoseconds; 0: none is running
	sending  atomic.Int64 // odd while a reply is being written
	sent     atomic.Int64 // bytes of the large replies that were written
	held     atomic.Int64 // memory of the large reply that is being written

	cut  atomic.Bool // whether the watcher has closed the connection
	last observation
}

// observation is what the watcher has seen of a connection. Nobody else uses it.
type observation struct {
	since    time.Time // the time since which the three fields below are unchanged
	boundary int64
	sending  int64
	waiting  bool // whether the rest of a message was to come

	sentSince time.Time // the time since which sent is unchanged
	sent      int64
}

// counting counts the bytes that are read.
type counting struct {
	io.Reader
	n *atomic.Int64
}

// Read reads and counts.
func (c counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// stalled returns how long a reply has made no progress.
func (p *progress) stalled(now time.Time) time.Duration {
	if sent := p.sent.Load(); sent != p.last.sent || p.last.sentSince.IsZero() || p.held.Load() == 0 {
		p.last.sent, p.last.sentSince = sent, now
	}
	return now.Sub(p.last.sentSince)
}

// overdue returns the reason for closing a connection that has exceeded a time
// limit, or "". While a command is running the client is not at fault.
func (p *progress) overdue(now time.Time, limit *timeLimits, running bool) string {
	received, boundary, sending := p.received.Load(), p.boundary.Load(), p.sending.Load()
	waiting := received > boundary && !running // for the rest of a message
	stuck := sending%2 == 1                    // in a reply
	l := &p.last
	if l.since.IsZero() || boundary != l.boundary || sending != l.sending || waiting != l.waiting {
		l.since, l.boundary, l.sending, l.waiting = now, boundary, sending, waiting
		return ""
	}
	took := now.Sub(l.since)
	switch {
	case stuck && took > limit.reply:
		return "it does not take in its replies"
	case stuck:
	case received == 0 && !running && took > limit.first:
		return "it never sent a message"
	case waiting && took > limit.message && float64(received-boundary) < took.Seconds()*float64(limit.rate):
		return "it sends a message too slowly"
	}
	return ""
}
