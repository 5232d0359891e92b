package main

import (
	"net"
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

func dialNull(t *testing.T, z wire.Compressor) *session {
	t.Helper()
	s, err := dial(nullTarget(t).addr, z, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	return s
}

func TestNullReplies(t *testing.T) {
	for _, z := range []wire.Compressor{wire.Uncompressed, wire.Snappy, wire.Zlib, wire.Zstd} {
		s := dialNull(t, z)
		for _, c := range []struct {
			command string
			seqs    []wire.Sequence
			field   string
			want    value.Value
		}{
			{"ping", nil, "ok", value.Double(1)},
			{"whatever", nil, "ok", value.Double(1)},
			{"hello", nil, "maxWireVersion", value.Int32(25)},
			{"isMaster", nil, "ismaster", value.Bool(true)},
			{"update", nil, "nModified", value.Int32(1)},
			{"delete", nil, "n", value.Int32(1)},
			{"insert", nil, "n", value.Int32(1)},
			{"insert", []wire.Sequence{wire.NewSequence("documents", value.EmptyDoc, value.EmptyDoc)}, "n", value.Int32(2)},
		} {
			reply, err := s.command(value.NewDoc(c.command, value.Int32(1)), c.seqs...)
			if err != nil {
				t.Fatal(err)
			}
			if got := reply.Lookup(c.field); value.Compare(got, c.want) != 0 {
				t.Errorf("%v %s: %s is %v", z, c.command, c.field, got)
			}
		}
		for _, name := range []string{"find", "aggregate"} {
			reply, err := s.command(value.NewDoc(name, value.String("c")))
			if err != nil || wantDocument(reply) != nil || reply.Lookup("cursor").Doc().Lookup("id").Int64() != 0 {
				t.Errorf("%s: %x, %v", name, reply, err)
			}
		}
	}
}

func TestNullFireAndForget(t *testing.T) {
	s := dialNull(t, wire.Uncompressed)
	if _, err := s.Send(wire.MoreToCome, value.NewDoc("ping", value.Int32(1))); err != nil {
		t.Fatal(err)
	}
	// The next reply must be to the next request.
	if _, err := s.command(value.NewDoc("ping", value.Int32(1))); err != nil {
		t.Error(err)
	}
}

func TestNullQueryAndChecksum(t *testing.T) {
	conn, err := net.Dial("tcp", nullTarget(t).addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Two requests in one write get their replies in order.
	b := wire.BeginQuery(nil, 5, wire.SecondaryOK, "admin.$cmd")
	b = wire.FinishQuery(append(b, value.NewDoc("ismaster", value.Int32(1))...), 0)
	start := len(b)
	b = wire.BeginMsg(b, 6, 0, wire.ChecksumPresent)
	b = wire.FinishMsg(append(b, value.NewDoc("ping", value.Int32(1))...), start)
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReader(conn)
	m, err := r.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if reply := m.(*wire.Reply); reply.Header.ResponseTo != 5 || reply.Docs.Len() != 1 {
		t.Errorf("got %+v", reply)
	}
	if m, err = r.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	if reply := m.(*wire.Msg); reply.Header.ResponseTo != 6 || !reply.Has(wire.ChecksumPresent) {
		t.Errorf("got %+v", reply)
	}
}

func TestNullBadInput(t *testing.T) {
	for _, in := range []string{"GET / HTTP/1.1\r\n\r\n", "\x01\x00\x00\x00............", "x"} {
		conn, err := net.Dial("tcp", nullTarget(t).addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(in))
		_ = conn.(*net.TCPConn).CloseWrite()
		if n, _ := conn.Read(make([]byte, 10)); n != 0 {
			t.Errorf("%q is answered", in)
		}
		_ = conn.Close()
	}
}

func TestCommandName(t *testing.T) {
	for _, c := range []struct {
		doc  value.Doc
		want string
	}{
		{value.NewDoc("ping", value.Int32(1)), "ping"},
		{value.EmptyDoc, ""},
		{nil, ""},
		{value.Doc{7, 0, 0, 0, 16, 'a', 'b'}, ""},
	} {
		if got := string(commandName(c.doc)); got != c.want {
			t.Errorf("%x: %q", c.doc, got)
		}
	}
}
