package token

import (
	"encoding/binary"
	"math"

	"github.com/duskdb/duskdb/value"
)

// The key of a token encodes equal numbers of different types in the same way, so that
// they compare as equal. The types are in a separate field, _typeBits: two bits for each
// number and one for each string, in their order. If all numbers are int32, no bit is
// set, and the field is left out.

// keyTypes are the type bits of a key.
type keyTypes struct {
	bits []byte
	n    int
	set  bool
}

// tokenFields is how many numbers stand in a token before what identifies the
// event; all are int32.
const tokenFields = 3

// typesOf returns the _typeBits of a token for an event or a fragment of it, or
// nil if no bit is set.
func typesOf(id value.Doc, fragment bool) []byte {
	var t keyTypes
	for range tokenFields {
		t.add(0, 2)
	}
	t.walk(id)
	if fragment {
		t.add(0, 2)
	}
	switch {
	case !t.set:
		return nil
	case len(t.bits) == 1 && t.bits[0] < 0x80:
		return t.bits
	case len(t.bits) < 0x80:
		return append([]byte{0x80 | byte(len(t.bits))}, t.bits...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte{0x80}, uint32(len(t.bits))), t.bits...)
}

// add adds the lowest n bits of a code, the highest of them first.
func (t *keyTypes) add(code byte, n int) {
	for n--; n >= 0; n-- {
		if t.n%8 == 0 {
			t.bits = append(t.bits, 0)
		}
		if code>>n&1 != 0 {
			t.bits[t.n/8] |= 1 << (t.n % 8)
			t.set = true
		}
		t.n++
	}
}

func (t *keyTypes) walk(d value.Doc) {
	for v := range d.Values() {
		switch v.Kind() {
		case value.KindInt32:
			t.add(0, 2)
		case value.KindInt64:
			t.add(1, 2)
		case value.KindDouble:
			if f := v.Double(); f == 0 && math.Signbit(f) {
				t.add(0b11000, 5)
			} else {
				t.add(2, 2)
			}
		case value.KindDecimal:
			t.add(3, 2)
		case value.KindString:
			t.add(0, 1)
		case value.KindSymbol:
			t.add(1, 1)
		case value.KindDocument, value.KindArray:
			t.walk(v.Doc())
		}
	}
}
