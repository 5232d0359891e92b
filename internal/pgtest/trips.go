package pgtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// Trips is a proxy before a database that counts round trips.
type Trips struct {
	listener net.Listener
	to       string
	n        atomic.Int64
	beats    atomic.Int64
}

// Count starts a proxy before the database of a URI, and returns the URI of the proxy.
func Count(tb testing.TB, uri string) (*Trips, string) {
	tb.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	t := &Trips{listener: l, to: u.Host}
	go t.accept()
	u.Host = l.Addr().String()
	return t, u.String()
}

// N is the number of round trips of commands. It leaves out the end of a transaction that
// only reads, because nobody waits for it, and the connection of the server's beats.
func (t *Trips) N() int64 { return t.n.Load() }

// All is the number of round trips with those of the beats.
func (t *Trips) All() int64 { return t.n.Load() + t.beats.Load() }

func (t *Trips) accept() {
	for {
		client, err := t.listener.Accept()
		if err != nil {
			return
		}
		go t.serve(client)
	}
}

func (t *Trips) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	db, err := net.Dial("tcp", t.to)
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	go func() {
		defer func() { _ = client.Close() }()
		_, _ = io.Copy(client, db)
	}()
	c := requests{statements: map[string]string{}}
	b := make([]byte, 64<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if trips := c.take(b[:n]); c.listens {
			t.beats.Add(trips)
		} else {
			t.n.Add(trips)
		}
		if _, err := db.Write(b[:n]); err != nil {
			return
		}
	}
}

// requests reads what a client sends.
type requests struct {
	rest       []byte
	begun      bool              // the first message, which has no type, is over
	statements map[string]string // texts of the prepared statements, by name
	waits      bool              // for the answer to what it has sent
	listens    bool              // it listens to notifications, as only the heartbeat's connection does
}

// take returns how many requests end in a part of what is sent.
func (c *requests) take(b []byte) (n int64) {
	c.rest = append(c.rest, b...)
	for {
		kind, head := byte(0), 0
		if c.begun {
			head = 1
		}
		if len(c.rest) < head+4 {
			return n
		}
		size := head + int(binary.BigEndian.Uint32(c.rest[head:]))
		if len(c.rest) < size {
			return n
		}
		if c.begun {
			kind = c.rest[0]
		}
		if c.message(kind, c.rest[head+4:size]) {
			n++
		}
		c.begun = true
		c.rest = append(c.rest[:0], c.rest[size:]...)
	}
}

// message reports whether a message ends a request whose answer is waited for.
func (c *requests) message(kind byte, body []byte) bool {
	text := func() string {
		s, rest, _ := bytes.Cut(body, []byte{0})
		body = rest
		return string(s)
	}
	switch kind {
	case 'P':
		name := text()
		sql := text()
		c.statements[name] = sql
		c.listens = c.listens || strings.HasPrefix(sql, "listen ")
		c.waits = true
	case 'B':
		text() // the portal
		c.waits = c.waits || c.statements[text()] != "rollback"
	case 'Q':
		return true
	case 'S':
		waits := c.waits
		c.waits = false
		return waits
	}
	return false
}
