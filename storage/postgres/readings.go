package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/storage"
)

// noteReadings begins the notification of what sessions do with snapshots.
const noteReadings = "readings"

// The greatest numbers of readings that wait to be told, and of those in one notification, which has
// room for 8,000 bytes.
const (
	maxReadings  = 4096
	noteReadingN = 200
)

// tellEvery is the shortest time between two notifications: many sessions may read snapshots.
const tellEvery = beat / 10

// readings are what sessions of this server do with numbered snapshots, on the way to the other
// servers. They go in notifications over the connection of the heartbeats, between these.
type readings struct {
	hear atomic.Pointer[func(storage.Reading)]
	told time.Duration // when something was told last; only the goroutine of the beats uses it

	mu   sync.Mutex
	list []storage.Reading
	wake context.CancelFunc // ends the wait for something to tell; may be nil
}

// TellReading notes something to be told soon.
func (s *store) TellReading(r storage.Reading) {
	l := &s.members.readings
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxReadings { // otherwise snapshots end when they are old
		l.list = append(l.list, r)
	}
	if l.wake != nil {
		l.wake()
	}
}

// awaiting returns a context that ends when there is something to tell.
func (l *readings) awaiting(ctx context.Context, now time.Duration) (context.Context, context.CancelFunc) {
	if rest := l.rest(now); rest > 0 {
		return context.WithTimeout(ctx, rest)
	}
	ctx, end := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wake = end; len(l.list) > 0 {
		end()
	}
	return ctx, end
}

// rest is the time until the next notification may be sent.
func (l *readings) rest(now time.Duration) time.Duration {
	if l.told == 0 {
		return 0
	}
	return l.told + tellEvery - now
}

// HearReadings takes what to do with the readings of other servers.
func (s *store) HearReadings(fn func(storage.Reading)) { s.members.readings.hear.Store(&fn) }

// take returns what is to be told.
func (l *readings) take() (list []storage.Reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, l.list = l.list, nil
	return list
}

// tellReadings tells the other servers what sessions do with snapshots, unless it has just done so.
// What gets lost with the connection is not told again: the snapshots end when they are old.
func (m *members) tellReadings(c *conn) {
	if m.readings.rest(m.now()) > 0 {
		return
	}
	list := m.readings.take()
	if m.others.Load() == 0 || len(list) == 0 {
		return
	}
	for len(list) > 0 {
		n := min(len(list), noteReadingN)
		c.queue(notifyOthers, []byte(m.channel), []byte(noteOf(m.s.id, list[:n])))
		list = list[n:]
	}
	ctx, end := context.WithTimeout(m.s.life, lifetime/2)
	defer end()
	_ = c.run(ctx, nil)
	m.readings.told = m.now()
}

// noteOf is the notification of readings.
func noteOf(server string, list []storage.Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", noteReadings, server)
	for _, r := range list {
		end := ""
		if r.Left {
			end = "-"
		}
		fmt.Fprintf(&b, " %x:%x%s", r.Reader, r.Number, end)
	}
	return b.String()
}

// heard takes a notification of readings, unless it is this server's own. It returns false for
// another one.
func (l *readings) heard(server, note string) bool {
	words := strings.Fields(note)
	if len(words) < 2 || words[0] != noteReadings {
		return false
	}
	fn := l.hear.Load()
	if fn == nil || words[1] == server {
		return true
	}
	for _, word := range words[2:] {
		var r storage.Reading
		word, r.Left = strings.CutSuffix(word, "-")
		if n, _ := fmt.Sscanf(word, "%x:%x", &r.Reader, &r.Number); n == 2 {
			(*fn)(r)
		}
	}
	return true
}
