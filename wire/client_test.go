package wire

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// echo answers n requests with their own body and sequences, in the form of the request.
func echo(conn net.Conn, n int) error {
	defer conn.Close()
	r := NewReader(conn)
	for range n {
		m, err := r.ReadMessage()
		if err != nil {
			return err
		}
		msg := m.(*Msg)
		if msg.Has(MoreToCome) {
			continue
		}
		reply := *msg
		reply.Header = Header{RequestID: 1000, ResponseTo: msg.Header.RequestID}
		if _, err := conn.Write(encode(&reply)); err != nil {
			return err
		}
	}
	return nil
}

func TestClientRoundTrip(t *testing.T) {
	here, there := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- echo(there, 6) }()
	c := NewClient(here)
	body := doc(t, bson.D{{Key: "insert", Value: "c"}})
	for _, z := range append(compressors, Uncompressed) {
		c.SetCompressor(z)
		m, err := c.RoundTrip(body, NewSequence("documents", body, body))
		if err != nil {
			t.Fatal(err)
		}
		if m.Compressor != z || !bytes.Equal(m.Body, body) || m.Sequences[0].Len() != 2 {
			t.Errorf("%v: got %+v", z, m)
		}
	}
	if id, err := c.Send(MoreToCome, body); err != nil || id != 6 {
		t.Errorf("sent %d, %v", id, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.RoundTrip(body); err == nil {
		t.Error("a closed connection replies")
	}
}

// TestClientReplies feeds a client with replies that were prepared.
func TestClientReplies(t *testing.T) {
	reply := func(requestID, responseTo int32, f Flags) []byte {
		return FinishMsg(append(BeginMsg(nil, requestID, responseTo, f), value.EmptyDoc...), 0)
	}
	for _, c := range []struct {
		name  string
		in    []byte
		reads int
		err   string
	}{
		{"one", reply(50, 1, 0), 1, ""},
		{"exhaust", append(append(reply(50, 1, MoreToCome), reply(51, 50, MoreToCome)...), reply(52, 51, 0)...), 3, ""},
		{"another request's", reply(50, 2, 0), 1, "the reply answers request 2, not 1"},
		{"none", nil, 1, "unexpected EOF"},
		{"OP_REPLY", FinishReply(append(BeginReply(nil, 50, 1, 0), value.EmptyDoc...), 0), 1, "the reply is OP_REPLY, not OP_MSG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := NewClient(pipe{bytes.NewReader(c.in), io.Discard})
			if _, err := client.Send(ExhaustAllowed, value.EmptyDoc); err != nil {
				t.Fatal(err)
			}
			var err error
			for range c.reads {
				_, err = client.Receive()
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

func TestClientMessageTooLong(t *testing.T) {
	c := NewClient(pipe{strings.NewReader(""), io.Discard})
	if _, err := c.Send(0, make([]byte, MaxMessageSize)); err == nil {
		t.Error("sent a message that is too long")
	}
}

// TestClientStream: the document of a reply is read while it arrives, and the next reply after it.
func TestClientStream(t *testing.T) {
	here, there := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- echo(there, 4) }()
	c := NewClient(here)
	body := doc(t, bson.D{{Key: "insert", Value: "c"}, {Key: "s", Value: strings.Repeat("x", 1<<20)}})
	for range 2 {
		if _, err := c.Send(0, body); err != nil {
			t.Fatal(err)
		}
		r, err := c.Stream()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if m, err := c.RoundTrip(body); err != nil || !bytes.Equal(m.Body, body) {
		t.Errorf("after a stream: %v", err)
	}
	c.SetCompressor(Snappy)
	if _, err := c.Send(0, body); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(); err == nil {
		t.Error("a compressed reply was streamed")
	}
	_ = here.Close()
	<-done
	if _, err := c.Stream(); err == nil {
		t.Error("a reply from a closed connection")
	}
}
