package wire

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// doc marshals d with the driver's encoder.
func doc(t testing.TB, d bson.D) value.Doc {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unhex decodes hexadecimal with blanks and newlines in it.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message builds an OP_MSG with the given flags.
func message(flags Flags, body value.Doc, seqs ...Sequence) []byte {
	b := BeginMsg(nil, 7, 0, flags)
	b = append(b, body...)
	for _, s := range seqs {
		b = AppendSequence(b, s)
	}
	return FinishMsg(b, 0)
}

// frame builds a message of any opcode from raw parts.
func frame(op OpCode, parts ...[]byte) []byte {
	b := appendHeader(nil, Header{RequestID: 7, OpCode: op})
	for _, p := range parts {
		b = append(b, p...)
	}
	return finish(b, 0)
}

// readOne reads one message from b.
func readOne(b []byte) (Message, error) { return NewReader(bytes.NewReader(b)).ReadMessage() }

func readMsg(t testing.TB, b []byte) *Msg {
	t.Helper()
	m, err := readOne(b)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Msg)
}

// oneByOne yields its bytes one at a time, as the worst network does.
type oneByOne struct{ b []byte }

func (r *oneByOne) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p[0], r.b = r.b[0], r.b[1:]
	return 1, nil
}

// pipe is a connection whose two directions are buffers.
type pipe struct {
	io.Reader
	io.Writer
}
