package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

func TestHeaderLimits(t *testing.T) {
	for _, n := range []int32{-1 << 31, -1, 0, 15, MaxMessageSize + 1, 1<<31 - 1} {
		b := appendHeader(nil, Header{Length: n, OpCode: OpMsg})
		_, err := readOne(b)
		var e *Error
		if !errors.As(err, &e) || !e.Fatal || e.Code != CodeProtocolError ||
			!strings.HasSuffix(e.Message, "is invalid. Min 16 Max: 48000000") {
			t.Errorf("length %d: %v", n, err)
		}
	}
}

func TestEndOfInput(t *testing.T) {
	b := message(0, value.EmptyDoc)
	for n := range len(b) {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := readOne(b[:n]); !errors.Is(err, want) {
			t.Errorf("after %d bytes: %v, want %v", n, err, want)
		}
	}
}

func TestSlowNetwork(t *testing.T) {
	body := doc(t, bson.D{{Key: "x", Value: strings.Repeat("y", 10_000)}})
	r := NewReader(&oneByOne{append(message(0, body), message(ChecksumPresent, body)...)})
	for range 2 {
		m, err := r.ReadMessage()
		if err != nil || !bytes.Equal(m.(*Msg).Body, body) {
			t.Fatal(err)
		}
	}
	if _, err := r.ReadMessage(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestLiar announces the longest message and sends little: the reader must take memory in
// proportion to the bytes that it received.
func TestLiar(t *testing.T) {
	head := appendHeader(nil, Header{Length: MaxMessageSize, OpCode: OpMsg})
	for _, sent := range []int{0, 1000, 200_000} {
		b := append(bytes.Clone(head), make([]byte, sent)...)
		var before, after runtime.MemStats
		runtime.GC() // empties the pool of large buffers, twice for its victims
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := readOne(b)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes sent: %v", sent, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*sent)+200_000 {
			t.Errorf("%d bytes sent, %d taken", sent, took)
		}
	}
}

func TestLargestMessage(t *testing.T) {
	const docSize = 1 << 20
	s := Sequence{ID: "documents"}
	d := make([]byte, docSize)
	putInt32(d, docSize)
	b := message(0, value.EmptyDoc, s)
	room := MaxMessageSize - len(b)
	for ; room >= 2*docSize; room -= docSize {
		s.Append(d)
	}
	last := make([]byte, room)
	putInt32(last, int32(room))
	s.Append(last)
	if b = message(0, value.EmptyDoc, s); len(b) != MaxMessageSize {
		t.Fatalf("message of %d bytes", len(b))
	}
	r := NewReader(bytes.NewReader(append(b, message(0, value.EmptyDoc)...)))
	m, err := r.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*Msg).Sequences[0]; got.Len() != s.Len() || !bytes.Equal(got.Bytes(), s.Bytes()) {
		t.Errorf("%d documents, want %d", got.Len(), s.Len())
	}
	if _, err := r.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	if cap(r.frame.b) > keepCapacity {
		t.Errorf("an idle connection holds %d bytes", cap(r.frame.b))
	}
}

func TestHTTP(t *testing.T) {
	_, err := readOne([]byte("GET / HTTP/1.1\r\nHost: localhost:27017\r\n\r\n"))
	if !errors.Is(err, ErrHTTP) || !IsFatal(err) {
		t.Errorf("got %v", err)
	}
	head, text, _ := strings.Cut(HTTPReply, "\r\n\r\n")
	if !strings.Contains(head, "Content-Length: 85") || len(text) != 85 {
		t.Errorf("%q announces %d bytes", head, len(text))
	}
}

func TestRetiredOpCodes(t *testing.T) {
	for op, name := range map[OpCode]string{2001: "OP_UPDATE", 2002: "OP_INSERT", 2005: "OP_GET_MORE", 2006: "OP_DELETE", 2007: "OP_KILL_CURSORS", 42: "opcode 42"} {
		m, err := readOne(frame(op, make([]byte, 40)))
		if m != nil {
			t.Errorf("%v: got %v", op, m)
		}
		checkError(t, err, CodeUnsupportedOpCode, name+" is no longer supported. The client driver may require an upgrade.", true)
	}
}

// TestAfterRejection: a message that is refused, but not fatal, leaves the
// connection usable.
func TestAfterRejection(t *testing.T) {
	bad := frame(OpMsg, make([]byte, 4))
	r := NewReader(bytes.NewReader(append(bad, message(0, value.EmptyDoc)...)))
	if _, err := r.ReadMessage(); err == nil || IsFatal(err) {
		t.Fatalf("got %v", err)
	}
	if _, err := r.ReadMessage(); err != nil {
		t.Fatal(err)
	}
}

func TestBufferPool(t *testing.T) {
	b := GetBuffer()
	b.B = append(b.B, "left over"...)
	b.Put()
	if b = GetBuffer(); len(b.B) != 0 {
		t.Errorf("a pooled buffer holds %q", b.B)
	}
	b.B = make([]byte, 2*maxPooledBuffer)
	b.Put()
	if b = GetBuffer(); cap(b.B) > maxPooledBuffer {
		t.Errorf("a buffer of %d bytes was kept", cap(b.B))
	}
}

// TestComplete: a message is complete once its last byte is at hand.
func TestComplete(t *testing.T) {
	one, two := sized(10, Uncompressed), sized(20, Uncompressed)
	for n := range len(two) + 1 {
		r := NewReader(bytes.NewReader(append(bytes.Clone(one), two[:n]...)))
		if _, err := r.ReadMessage(); err != nil {
			t.Fatal(err)
		}
		if r.Complete() != (n == len(two)) || r.Pending() != n {
			t.Errorf("%d of %d bytes: complete %v, pending %d", n, len(two), r.Complete(), r.Pending())
		}
	}
}
