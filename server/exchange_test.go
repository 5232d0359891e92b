package server

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestConverse: messages arrive in pieces, several at once, and longer than the buffer.
func TestConverse(t *testing.T) {
	t.Parallel()
	s := serveConfig(t, Config{})
	c := dial(t, s)
	long := value.MustJSON(`{"ping": "` + strings.Repeat("x", 100_000) + `", "$db": "admin"}`)
	short, two := request(pingCommand), append(request(pingCommand), request(pingCommand)...)
	full := request(value.MustJSON(`{"ping": "` + strings.Repeat("x", 4096-len(short)-1) + `", "$db": "admin"}`))
	for name, pieces := range map[string][][]byte{
		"one":                  {short},
		"in pieces":            {short[:3], short[3:20], short[20:]},
		"two at once":          {two},
		"one and a half":       {two[:len(short)+7], two[len(short)+7:]},
		"longer than a buffer": {request(long)},
		"the same in pieces":   {request(long)[:5000], request(long)[5000:]},
		"after a short one":    {append(bytes.Clone(short), request(long)...)},
		"before a short one":   {append(request(long), short...)},
		"as long as a buffer":  {full, full},
		"many":                 {bytes.Repeat(short, 500)},
	} {
		want := 0
		for _, piece := range pieces {
			if _, err := c.Write(piece); err != nil {
				t.Fatal(err)
			}
			want += bytes.Count(piece, []byte("ping"))
			proc.Pause(time.Millisecond) // so that the pieces may arrive apart
		}
		in := c.Conn
		_ = in.SetReadDeadline(time.Now().Add(30 * time.Second))
		for got := range want {
			if err := readReply(in); err != nil {
				t.Fatalf("%s: %v after %d replies of %d", name, err, got, want)
			}
		}
	}
	_ = c.Close()
	waitFor(t, func() bool { return s.Service().Snapshot().Connections.Current == 0 })
}

// readReply reads one message.
func readReply(r io.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	_, err := io.CopyN(io.Discard, r, n-int64(len(head)))
	return err
}

// TestClosesWithLastRequest: a client closes its side at once after its last request, which
// the server reads together with the end, or after the end has arrived. It gets its reply,
// and the server ends the connection.
func TestClosesWithLastRequest(t *testing.T) {
	t.Parallel()
	s := serveConfig(t, Config{})
	other := dial(t, s)
	c := dial(t, s)
	other.ok(t, value.MustJSON(`{"fsync": 1, "lock": true, "$db": "admin"}`))
	insert := value.MustJSON(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`)
	if _, err := c.Write(request(insert)); err != nil {
		t.Fatal(err)
	}
	served := s.connOf(c)
	waitFor(t, func() bool { return served.progress.began.Load() != 0 })
	if _, err := c.Write(request(pingCommand)); err != nil {
		t.Fatal(err)
	}
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	waitFor(t, func() bool { return hungUp(served.nc) })
	other.ok(t, value.MustJSON(`{"fsyncUnlock": 1, "$db": "admin"}`))
	for range 2 {
		if err := readReply(c); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { return s.Service().Snapshot().Connections.Current == 1 })
	if !closed(c) {
		t.Error("the client sees no end")
	}
}

// connOf is the server's end of a client's connection.
func (s *Server) connOf(c *testClient) (found *conn) {
	s.each(func(sc *conn) {
		if sc.nc.RemoteAddr().String() == c.Conn.LocalAddr().String() {
			found = sc
		}
	})
	return found
}
