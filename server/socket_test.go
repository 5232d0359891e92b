package server

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// TestSendNow: what does not fit into the socket is left, and nothing is sent outside of each,
// or of a long reply.
func TestSendNow(t *testing.T) {
	t.Parallel()
	var none *socket
	if n := none.sendNow([]byte("x")); n != 0 {
		t.Errorf("without a socket: sent %d", n)
	}
	if n := (&socket{inside: true}).sendNow(make([]byte, shortReply+1)); n != 0 {
		t.Errorf("a long reply: sent %d", n)
	}
	if n := (&socket{}).sendNow([]byte("x")); n != 0 {
		t.Errorf("outside: sent %d", n)
	}
}

// TestSendsRest: short replies fill a socket whose client does not read yet; what does not fit
// is sent when it does.
func TestSendsRest(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{nc: nc, stream: nc, source: source{Reader: nc, socket: newSocket(nc)}}
	if c.source.socket == nil {
		t.Skip("sockets are used in the ordinary way")
	}
	reply, sent := make([]byte, 1000), 0
	for i := range reply {
		reply[i] = byte(i)
	}
	got := make(chan []byte)
	err = c.source.socket.each(func() bool {
		n := len(reply)
		for n == len(reply) {
			n = c.source.socket.sendNow(reply)
			sent += n
		}
		go func() {
			b, _ := io.ReadAll(client)
			got <- b
		}()
		for _, rest := range [][]byte{reply[n:], reply, reply} {
			if err := c.send(rest); err != nil {
				t.Error(err)
			}
			sent += len(rest)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	_ = nc.Close()
	b := <-got
	if len(b) != sent || len(b)%len(reply) != 0 {
		t.Fatalf("received %d bytes of %d", len(b), sent)
	}
	for ; len(b) > 0; b = b[len(reply):] {
		if !bytes.Equal(b[:len(reply)], reply) {
			t.Fatal("a reply arrived damaged")
		}
	}
}
