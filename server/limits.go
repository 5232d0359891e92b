package server

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits of the memory of large messages: an eighth of the memory limit, but
// enough for two of the largest and their decompressed forms.
const (
	leastInFlight   = 256 << 20
	mostInFlight    = 2 << 30
	defaultInFlight = 1 << 30
)

// inFlight is the memory budget for large messages of all connections.
type inFlight struct {
	ctx  context.Context
	free *semaphore.Weighted
	// replies is the limit for large replies that clients do not read.
	replies int64
	// large has a place for each large reply that is being written or sent.
	large   *semaphore.Weighted
	places  int64        // of large
	waiting atomic.Int64 // commands that wait for a place
	taken   atomic.Int64 // places that are taken
	// urgent is nil, or called when many places begin to be taken: the garbage should be
	// collected more often from then on.
	urgent func()
}

// manyReplies is the largest number of taken places at which garbage is collected as usual.
const manyReplies = 2

// largestReply is the memory that a large reply may take: its buffer grows as it is
// written.
const largestReply = 32 << 20

func newInFlight(ctx context.Context, memoryLimit int64) *inFlight {
	n := int64(defaultInFlight)
	if memoryLimit > 0 {
		n = min(max(memoryLimit/8, leastInFlight), mostInFlight)
	}
	replies := max(n/4, leastInFlight)
	places := replies / largestReply
	return &inFlight{ctx: ctx, free: semaphore.NewWeighted(n), replies: replies, large: semaphore.NewWeighted(places), places: places}
}

// sending reports whether a large reply is in memory.
func (f *inFlight) sending() bool {
	if !f.large.TryAcquire(f.places) {
		return true
	}
	f.large.Release(f.places)
	return false
}

// takeReply waits for the place of a large reply.
func (f *inFlight) takeReply(ctx context.Context) error {
	if !f.large.TryAcquire(1) {
		f.waiting.Add(1)
		defer f.waiting.Add(-1)
		if err := f.large.Acquire(ctx, 1); err != nil {
			return err
		}
	}
	if f.taken.Add(1) == manyReplies+1 && f.urgent != nil {
		f.urgent()
	}
	return nil
}

// giveReply gives a place back.
func (f *inFlight) giveReply() {
	f.taken.Add(-1)
	f.large.Release(1)
}

// pressed reports whether many places are taken.
func (f *inFlight) pressed() bool { return f.taken.Load() > manyReplies }

// Take waits for n bytes.
func (f *inFlight) Take(n int) error { return f.free.Acquire(f.ctx, int64(n)) }

// Give returns n bytes.
func (f *inFlight) Give(n int) { f.free.Release(int64(n)) }

// keepAlive detects within about three minutes that a client's machine is
// gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 120 * time.Second, Interval: 10 * time.Second, Count: 6}

// timeLimits are the time limits for clients that send or read too slowly.
type timeLimits struct {
	first   time.Duration // to begin the first message
	message time.Duration // to send the rest of a message
	rate    int64         // minimum rate of a longer message, in bytes per second
	reply   time.Duration // to read a reply
	pressed time.Duration // to read the next part of a reply, when memory is short
}

var defaultTimeLimits = timeLimits{first: 60 * time.Second, message: 60 * time.Second, rate: 16 << 10, reply: 120 * time.Second, pressed: 3 * time.Second}

// progress counts the bytes read and written on a connection. The connection
// updates the counters; the watcher owns the other fields, and checks whether
// the counters move.
type progress struct {
	received atomic.Int64 // bytes
	boundary atomic.Int64 // bytes up to the last whole message
	sending  atomic.Int64 // odd while a reply is being written
	sent     atomic.Int64 // bytes
	held     atomic.Int64 // memory of the reply that is being written
	cut      atomic.Bool  // the watcher has closed the connection

	at           time.Time // when the watcher saw the state below for the first time
	seenBoundary int64
	seenSending  int64
	seenWaiting  bool
	seenSent     int64
	sentAt       time.Time // when the watcher saw seenSent for the first time
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
	if sent := p.sent.Load(); sent != p.seenSent || p.sentAt.IsZero() || p.held.Load() == 0 {
		p.seenSent, p.sentAt = sent, now
	}
	return now.Sub(p.sentAt)
}

// overdue returns the reason for closing a connection that has exceeded a time
// limit, or "". While a command is running the client is not at fault.
func (p *progress) overdue(now time.Time, limit *timeLimits, running bool) string {
	received, boundary, sending := p.received.Load(), p.boundary.Load(), p.sending.Load()
	waiting := received > boundary && !running // for the rest of a message
	stuck := sending%2 == 1                    // in a reply
	if p.at.IsZero() || boundary != p.seenBoundary || sending != p.seenSending || waiting != p.seenWaiting {
		p.at, p.seenBoundary, p.seenSending, p.seenWaiting = now, boundary, sending, waiting
		return ""
	}
	took := now.Sub(p.at)
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
