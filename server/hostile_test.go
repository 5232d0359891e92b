package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// frame is a message with any header.
func frame(length int32, opcode wire.OpCode, body ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(length))
	b = append(b, 7, 0, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(opcode))
	return append(b, body...)
}

// whole is a message whose length is right.
func whole(opcode wire.OpCode, body ...byte) []byte {
	return frame(int32(16+len(body)), opcode, body...)
}

// msg is an OP_MSG of these sections, without flags.
func msg(sections ...byte) []byte {
	return whole(wire.OpMsg, append([]byte{0, 0, 0, 0}, sections...)...)
}

// body is a section of kind 0.
func body(doc []byte) []byte { return append([]byte{0}, doc...) }

// deep is a document of n levels, which no builder makes.
func deep(n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(5+(n-1-i)*8))
		if i < n-1 {
			b = append(b, 3, 'a', 0)
		}
	}
	return append(b, make([]byte, n)...)
}

// bomb is a compressed message that announces a size.
func bomb(z wire.Compressor, size int32, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(wire.OpMsg))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return whole(wire.OpCompressed, append(append(b, byte(z)), data...)...)
}

// hostileInputs are messages that no client sends.
func hostileInputs() map[string][]byte {
	ping := request(pingCommand)
	big := wire.FinishMsg(append(wire.BeginMsg(nil, 1, 0, 0), value.NewDoc("ping", value.String(strings.Repeat("\x00", 40<<20)), "$db", value.String("admin"))...), 0)
	return map[string][]byte{
		"nothing":               {},
		"half a header":         ping[:9],
		"length 0":              frame(0, wire.OpMsg),
		"length 15":             frame(15, wire.OpMsg),
		"length -1":             frame(-1, wire.OpMsg),
		"length 48 MB and 1":    frame(48_000_001, wire.OpMsg),
		"length 2 GB":           frame(1<<31-1, wire.OpMsg),
		"announces 48 MB":       frame(48_000_000, wire.OpMsg, make([]byte, 100)...),
		"unknown opcode":        whole(4711, 1, 2, 3),
		"OP_REPLY":              whole(1, make([]byte, 25)...),
		"OP_INSERT":             whole(2002, make([]byte, 30)...),
		"OP_QUERY, short":       whole(wire.OpQuery, 0, 0, 0),
		"OP_QUERY, no name end": whole(wire.OpQuery, bytes.Repeat([]byte{'x'}, 500)...),
		"no sections":           msg(),
		"unknown section":       msg(9, 1, 2, 3),
		"unknown flags":         whole(wire.OpMsg, append([]byte{0xff, 0xff, 0, 0}, body(pingCommand)...)...),
		"two bodies":            msg(append(body(pingCommand), body(pingCommand)...)...),
		"sequence alone":        msg(1, 10, 0, 0, 0, 'd', 'o', 'c', 's', 0),
		"sequence too long":     msg(append(body(pingCommand), 1, 0xff, 0, 0, 0, 'd', 0)...),
		"sequence negative":     msg(append(body(pingCommand), 1, 0xff, 0xff, 0xff, 0xff, 'd', 0)...),
		"sequence without name": msg(append(body(pingCommand), 1, 8, 0, 0, 0, 'd', 'd', 'd', 'd')...),
		"document too long":     msg(body([]byte{0xff, 0, 0, 0, 0})...),
		"document too short":    msg(body([]byte{4, 0, 0, 0, 0})...),
		"document not closed":   msg(body([]byte{6, 0, 0, 0, 1, 1})...),
		"string length":         msg(body([]byte{17, 0, 0, 0, 2, 'a', 0, 0xff, 0xff, 0xff, 0x7f, 'x', 0, 0, 0, 0, 0})...),
		"unknown type":          msg(body([]byte{8, 0, 0, 0, 0x42, 'a', 0, 0})...),
		"10,000 levels":         msg(body(deep(10_000))...),
		"name of 1 MB":          msg(body(append(append([]byte{5, 0, 16, 0, 10}, bytes.Repeat([]byte{'n'}, 1<<20)...), 0))...),
		"array names":           msg(body(value.NewDoc("insert", value.NewArray(value.Null()), "$db", value.Int32(1)))...),
		"empty command":         msg(body(value.EmptyDoc)...),
		"huge ping":             big,
		"bad checksum":          whole(wire.OpMsg, append(append([]byte{1, 0, 0, 0}, body(pingCommand)...), 1, 2, 3, 4)...),
		"snappy bomb":           bomb(wire.Snappy, 48_000_000-16, 0x80, 0x80, 0x80, 0x17, 0, 0),
		"zlib garbage":          bomb(wire.Zlib, 1<<20, 0x78, 0x9c, 1, 2, 3),
		"zstd garbage":          bomb(wire.Zstd, 1<<20, 0x28, 0xb5, 0x2f, 0xfd, 0, 0),
		"zlib bomb":             wire.AppendCompressed(nil, big, wire.Zlib),
		"negative size":         bomb(wire.Snappy, -5, 1),
		"unknown compressor":    bomb(77, 10, 1),
		"compressed twice":      wire.AppendCompressed(nil, wire.AppendCompressed(nil, ping, wire.Zlib), wire.Zlib),
		"HTTP":                  []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"TLS":                   {0x16, 3, 1, 0, 0xc4, 1, 0, 0, 0xc0, 3, 3},
		"zeros":                 make([]byte, 1000),
		"cut off":               ping[:len(ping)-3],
	}
}

// TestHostile sends each input alone and after a good request, and then
// hangs up, while a normal client is served.
func TestHostile(t *testing.T) {
	s := serveConfig(t, Config{})
	good := dial(t, s)
	for name, input := range hostileInputs() {
		for _, before := range [][]byte{nil, request(pingCommand)} {
			c := dial(t, s)
			go func() {
				_, _ = c.Write(append(slices.Clone(before), input...))
				_ = c.Conn.(*net.TCPConn).CloseWrite()
			}()
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
			out, err := io.ReadAll(c)
			if isTimeout(err) {
				t.Errorf("%s: the connection stays open", name)
			}
			if before != nil && len(out) == 0 {
				t.Errorf("%s: the good request before it was not answered", name)
			}
			good.ok(t, pingCommand)
		}
	}
	if m := s.Service().Snapshot(); m.Panics != 0 {
		t.Errorf("%d commands panicked", m.Panics)
	}
	waitFor(t, func() bool { return s.Service().Snapshot().Connections.Current == 1 })
}

// TestCrowd: many idle clients, and many that send a byte now and then, do not keep a
// normal client waiting. DUSKDB_CROWD makes it ten times as many.
func TestCrowd(t *testing.T) {
	idle, trickling := 200, 20
	if os.Getenv("DUSKDB_CROWD") != "" {
		idle, trickling = 2000, 200
	}
	s := serveConfig(t, Config{})
	good := dial(t, s)
	var slow []*testClient
	for range idle {
		dial(t, s)
	}
	for range trickling {
		slow = append(slow, dial(t, s))
	}
	connections := func() int64 { return s.Service().Snapshot().Connections.Current }
	waitFor(t, func() bool { return connections() == int64(idle+trickling+1) }) // accepted, not only dialled
	input := request(value.NewDoc("insert", value.String("c"), "documents", value.NewArray(), "$db", value.String("test")))
	var took []time.Duration
	for i := range min(len(input)-1, 60) {
		for _, c := range slow {
			if _, err := c.Write(input[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			began := time.Now()
			good.ok(t, pingCommand)
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	t.Logf("ping p50 %v, p99 %v", took[len(took)/2], took[len(took)*99/100])
	if n := connections(); n != int64(idle+trickling+1) {
		t.Errorf("%d connections", n)
	}
}

// TestLargeMessagesTakeTurns: more large messages than the budget has room
// for are all served.
func TestLargeMessagesTakeTurns(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	s.inFlight = newInFlight(s.ctx, 1)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	input := request(value.NewDoc("ping", value.String(strings.Repeat("x", 15<<20)), "$db", value.String("admin")))
	var wg sync.WaitGroup
	for range 20 { // 300 MB, the budget has 256
		c := dial(t, s)
		wg.Go(func() {
			if _, err := c.Write(input); err != nil {
				t.Error(err)
				return
			}
			if m, err := wire.NewReader(c).ReadMessage(); err != nil || !m.(*wire.Msg).Body.Lookup("ok").Truthy() {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
	wg.Wait()
}

// FuzzServe: no bytes that a client sends make the server panic, or hang when
// the client has gone.
func FuzzServe(f *testing.F) {
	for _, input := range hostileInputs() {
		if len(input) < 4096 {
			f.Add(input)
		}
	}
	for _, name := range commands.Names() {
		if name != "shutdown" {
			f.Add(request(value.NewDoc(name, value.Int32(1), "$db", value.String("admin"))))
			f.Add(request(value.NewDoc(name, value.String("c"), "$db", value.String("test"))))
		}
	}
	var s *Server
	runs := 0
	f.Cleanup(func() {
		if s != nil {
			_ = s.Close(context.Background())
		}
	})
	f.Fuzz(func(t *testing.T, input []byte) {
		if runs++; s == nil || runs%5000 == 0 { // what it has stored must not add up
			if s != nil {
				_ = s.Close(t.Context())
			}
			var err error
			if s, err = New(Config{Log: zerolog.Nop()}); err != nil {
				t.Fatal(err)
			}
		}
		client, server := net.Pipe()
		done := make(chan struct{})
		c := newConn(s, server, false)
		go func() {
			defer close(done)
			c.run()
		}()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		_, _ = client.Write(input)
		_ = client.Close()
		c.cancel(errClientGone)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the connection does not end")
		}
		if s.Service().Panics() != 0 {
			t.Fatal("a command panicked")
		}
	})
}
