package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// noteReadings begins the notification of what sessions do with snapshots.
const noteReadings = "readings"

// What is told with one heartbeat, and in one notification, which has room for 8,000 bytes.
const (
	maxReadings  = 4096
	noteReadingN = 200
)

// readings are what sessions of this server do with numbered snapshots, on the way to the other
// servers. They go with the heartbeats, in notifications.
type readings struct {
	hear atomic.Pointer[func(storage.Reading)]

	mu   sync.Mutex
	list []storage.Reading
}

// TellReading notes something for the next heartbeat.
func (s *store) TellReading(r storage.Reading) {
	l := &s.members.readings
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxReadings { // otherwise snapshots end when they are old
		l.list = append(l.list, r)
	}
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

// tellReadings tells the other servers what sessions do with snapshots. What gets lost with the
// connection is not told again: the snapshots end when they are old.
func (m *members) tellReadings(ctx context.Context, c *conn, others int64) error {
	list := m.readings.take()
	if others == 0 || !m.notifies.Load() || len(list) == 0 {
		return nil
	}
	for len(list) > 0 {
		n := min(len(list), noteReadingN)
		c.queue(notifyOthers, []byte(m.channel), []byte(noteOf(m.s.id, list[:n])))
		list = list[n:]
	}
	return c.run(ctx, nil)
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

// heard takes a notification, unless it is this server's own.
func (l *readings) heard(server, note string) {
	words := strings.Fields(note)
	fn := l.hear.Load()
	if fn == nil || len(words) < 2 || words[0] != noteReadings || words[1] == server {
		return
	}
	for _, word := range words[2:] {
		var r storage.Reading
		word, r.Left = strings.CutSuffix(word, "-")
		if n, _ := fmt.Sscanf(word, "%x:%x", &r.Reader, &r.Number); n == 2 {
			(*fn)(r)
		}
	}
}
