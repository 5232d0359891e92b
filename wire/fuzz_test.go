package wire

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// FuzzReader feeds a connection with random bytes. A message that is accepted must be
// written back to the same bytes.
func FuzzReader(f *testing.F) {
	body := doc(f, bson.D{{Key: "insert", Value: "c"}, {Key: "$db", Value: "d"}})
	f.Add(unhex(f, pingHex))
	f.Add(unhex(f, isMasterHex))
	f.Add(message(ChecksumPresent|ExhaustAllowed, body, NewSequence("documents", body, value.EmptyDoc)))
	f.Add(FinishReply(append(BeginReply(nil, 1, 2, 0), body...), 0))
	for _, z := range compressors {
		f.Add(AppendCompressed(nil, message(MoreToCome, body), z))
	}
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		for {
			m, err := r.ReadMessage()
			if err != nil && IsFatal(err) {
				return
			}
			if m == nil {
				t.Fatalf("an error that is not fatal, %v, without a message", err)
			}
			if err == nil {
				touch(t, m)
			}
		}
	})
}

// touch reads all of a message that was accepted.
func touch(t *testing.T, m Message) {
	switch m := m.(type) {
	case *Msg:
		if len(m.Body) < 5 {
			t.Fatalf("body of %d bytes", len(m.Body))
		}
		sameMsg(t, m, readMsg(t, encode(m)))
		_ = m.Validate()
	case *Query:
		m.Database()
		if cmd, _ := m.Command(); len(cmd) < 5 {
			t.Fatalf("command of %d bytes", len(cmd))
		}
		_ = m.Validate()
	case *Reply:
		countDocs(t, m.Docs)
	}
}

// encode writes a message again, in the order body, sequences.
func encode(m *Msg) []byte {
	b := BeginMsg(nil, m.Header.RequestID, m.Header.ResponseTo, m.Flags)
	b = append(b, m.Body...)
	for _, s := range m.Sequences {
		b = AppendSequence(b, s)
	}
	return AppendCompressed(nil, FinishMsg(b, 0), m.Compressor)
}

func sameMsg(t interface{ Fatalf(string, ...any) }, a, b *Msg) {
	if a.Header.RequestID != b.Header.RequestID || a.Header.ResponseTo != b.Header.ResponseTo ||
		a.Flags != b.Flags || a.Compressor != b.Compressor || !bytes.Equal(a.Body, b.Body) || len(a.Sequences) != len(b.Sequences) {
		t.Fatalf("wrote %+v, read %+v", a, b)
	}
	for i, s := range a.Sequences {
		countDocs(t, s)
		if s.ID != b.Sequences[i].ID || s.Len() != b.Sequences[i].Len() || !bytes.Equal(s.Bytes(), b.Sequences[i].Bytes()) {
			t.Fatalf("wrote %+v, read %+v", s, b.Sequences[i])
		}
	}
}

func countDocs(t interface{ Fatalf(string, ...any) }, s Sequence) {
	n := 0
	for d := range s.Docs() {
		if len(d) < 5 || d[len(d)-1] != 0 {
			t.Fatalf("document %x", d)
		}
		n++
	}
	if n != s.Len() {
		t.Fatalf("%d documents, announced %d", n, s.Len())
	}
}

// FuzzMsg varies flags and sections under a header that is right.
func FuzzMsg(f *testing.F) {
	for _, s := range []string{pingHex} {
		f.Add(uint32(0), unhex(f, s)[HeaderSize+4:])
	}
	f.Add(uint32(1<<16), message(0, value.EmptyDoc, NewSequence("a.b", value.EmptyDoc))[HeaderSize+4:])
	f.Fuzz(func(t *testing.T, flags uint32, sections []byte) {
		b := appendHeader(nil, Header{OpCode: OpMsg})
		b = append(appendInt32(b, int32(flags)), sections...)
		if m, err := readOne(FinishMsg(b, 0)); err == nil {
			touch(t, m)
		}
	})
}

// FuzzQuery varies an OP_QUERY under a header that is right.
func FuzzQuery(f *testing.F) {
	f.Add(unhex(f, isMasterHex)[HeaderSize:])
	f.Add(FinishQuery(append(BeginQuery(nil, 1, 0, "a.$cmd"),
		doc(f, bson.D{{Key: "$query", Value: bson.D{{Key: "hello", Value: 1}}}, {Key: "$readPreference", Value: bson.D{}}})...), 0)[HeaderSize:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		if m, err := readOne(frame(OpQuery, payload)); err == nil {
			touch(t, m)
		}
	})
}

// FuzzReply varies an OP_REPLY under a header that is right.
func FuzzReply(f *testing.F) {
	f.Add(FinishReply(append(BeginReply(nil, 1, 2, 0), value.EmptyDoc...), 0)[HeaderSize:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		if m, err := readOne(frame(OpReply, payload)); err == nil {
			touch(t, m)
		}
	})
}

// FuzzDecompress gives random bytes to each decompressor and checks that it writes no
// more than the announced size, and reports an error if it writes less.
func FuzzDecompress(f *testing.F) {
	src := []byte(strings.Repeat("dusk", 100))
	for _, z := range compressors {
		f.Add(byte(z), uint16(len(src)), codecs[z].compress(nil, src))
		f.Add(byte(z), uint16(0), codecs[z].compress(nil, nil))
	}
	f.Fuzz(func(t *testing.T, z byte, size uint16, data []byte) {
		c := codecs[int(z)%len(codecs)]
		dst := bytes.Repeat([]byte{0xa5}, int(size)+64)
		err := c.decompress(dst[:size], data)
		if !bytes.Equal(dst[size:], bytes.Repeat([]byte{0xa5}, 64)) {
			t.Fatalf("%s wrote beyond %d bytes", c.name, size)
		}
		if err != nil {
			return
		}
		again := make([]byte, size)
		if err := c.decompress(again, c.compress(nil, dst[:size])); err != nil || !bytes.Equal(again, dst[:size]) {
			t.Fatalf("%s: %v", c.name, err)
		}
	})
}
