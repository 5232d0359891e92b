package wire

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// anyDoc draws bytes with the shape of a document; wire looks no deeper.
var anyDoc = rapid.Custom(func(t *rapid.T) value.Doc {
	inner := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "elements")
	d := appendInt32(nil, int32(5+len(inner)))
	return append(append(d, inner...), 0)
})

var anyMsg = rapid.Custom(func(t *rapid.T) *Msg {
	m := &Msg{
		Header:     Header{RequestID: rapid.Int32().Draw(t, "requestID"), ResponseTo: rapid.Int32().Draw(t, "responseTo")},
		Flags:      Flags(rapid.Uint32().Draw(t, "flags")) & (knownRequired | ^Flags(requiredFlags)),
		Body:       rapid.SampledFrom([]value.Doc{value.EmptyDoc, anyDoc.Draw(t, "body")}).Draw(t, "empty or not"),
		Compressor: rapid.SampledFrom(append(compressors, Uncompressed)).Draw(t, "compressor"),
	}
	// Names that random bytes of the body cannot contain as a field.
	for _, id := range []string{"documents~of~the~sequence", "updates~of~the~sequence"}[:rapid.IntRange(0, 2).Draw(t, "sequences")] {
		m.Sequences = append(m.Sequences, NewSequence(id, rapid.SliceOfN(anyDoc, 0, 20).Draw(t, id)...))
	}
	return m
})

// TestRoundTripProperty: what is written is read, however the bytes arrive
// and whatever message came before.
func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := rapid.SliceOfN(anyMsg, 1, 5).Draw(t, "messages")
		var stream []byte
		for _, m := range msgs {
			stream = append(stream, encode(m)...)
		}
		r := NewReader(bytes.NewReader(stream))
		if rapid.Bool().Draw(t, "byte by byte") {
			r = NewReader(&oneByOne{stream})
		}
		for _, want := range msgs {
			got, err := r.ReadMessage()
			if err != nil {
				t.Fatalf("%v", err)
			}
			sameMsg(t, want, got.(*Msg))
		}
		if _, err := r.ReadMessage(); err == nil {
			t.Fatalf("one message too many")
		}
	})
}

// TestTruncationProperty: no proper prefix of a message is a message, and a
// message cut short with its header adjusted is never accepted silently with
// other documents than were sent whole.
func TestTruncationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMsg.Draw(t, "message")
		b := encode(m)
		n := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := readOne(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a message", n, len(b))
		}
	})
}

// TestCorruptionProperty: with a checksum, no changed byte goes unnoticed.
func TestCorruptionProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMsg.Draw(t, "message")
		m.Flags |= ChecksumPresent
		m.Compressor = Uncompressed
		b := encode(m)
		i := rapid.IntRange(HeaderSize+4, len(b)-1).Draw(t, "position")
		b[i] ^= rapid.ByteMin(1).Draw(t, "change")
		if _, err := readOne(b); err == nil {
			t.Fatalf("a change of byte %d goes unnoticed", i)
		}
	})
}
