package value

import (
	"encoding/binary"
	"math"
)

// A key does not contain what is irrelevant for the order: whether a number is
// an int or a double, the digits of a decimal, whether a string is a symbol.
// Its tail does, so that the values can be decoded from key and tail together.
// The tail has one byte per scalar, in the order of the key, without the zeros
// at its end; most tails are empty. No tail contains the byte ff at its
// beginning, so that key and tail lie before all other keys that follow.
//
// The meaning of a scalar's byte:
const (
	tailUsual   byte = iota // the narrowest type: int, long, double; string
	tailInt64               // a long that fits an int
	tailDouble              // a double without a fraction
	tailMinus0              // -0.0
	tailDecimal             // the 16 bytes of the decimal follow
	tailNaN                 // the 8 bytes of an unusual NaN follow
	tailSymbol
	tailMissing // the null in the key stands for a missing field
	tailRecord  // only the record has the value
)

// usualNaN are the bits of the NaN that computations return.
const usualNaN = 0x7ff8000000000000

// maxTail is the largest size of a tail; a longer one is replaced by
// tailRecord.
const maxTail = 96

// KeyTail collects the tail of a key whose values are added one by one.
type KeyTail struct {
	codes []byte
	used  int // up to and including the last code that is not usual
}

// Reset begins a tail that is appended to dst.
func (t *KeyTail) Reset(dst []byte) { t.codes, t.used = dst, len(dst) }

// Add records the part of v that its key does not contain.
func (t *KeyTail) Add(v Value) {
	switch v.kind {
	case KindDocument, KindArray:
		for e := range Doc(v.b).Values() {
			t.Add(e)
		}
		return
	case KindDecimal:
		t.codes = append(append(t.codes, tailDecimal), v.b...)
		t.used = len(t.codes)
		return
	}
	c := tailOf(v)
	t.code(c)
	if c == tailNaN {
		t.codes = binary.LittleEndian.AppendUint64(t.codes, v.num)
		t.used = len(t.codes)
	}
}

// AddMissing records that the field of the next null is missing, and whether
// only the record shows how.
func (t *KeyTail) AddMissing(unclear bool) {
	if unclear {
		t.code(tailRecord)
		return
	}
	t.code(tailMissing)
}

// KeyTells reports whether v can be decoded from its key without a tail.
func KeyTells(v Value) bool {
	switch v.kind {
	case KindDecimal:
		return false
	case KindDocument, KindArray:
		for e := range Doc(v.b).Values() {
			if !KeyTells(e) {
				return false
			}
		}
		return true
	}
	return tailOf(v) == tailUsual
}

func (t *KeyTail) code(c byte) {
	t.codes = append(t.codes, c)
	if c != tailUsual {
		t.used = len(t.codes)
	}
}

// Bytes returns the tail, after the start bytes that it was appended to.
func (t *KeyTail) Bytes(start int) []byte {
	if t.used-start > maxTail {
		return append(t.codes[:start], tailRecord)
	}
	return t.codes[:t.used]
}

// tailOf returns the tail byte of a scalar.
func tailOf(v Value) byte {
	switch v.kind {
	case KindInt64:
		if n := v.Int64(); n == int64(int32(n)) {
			return tailInt64
		}
	case KindDouble:
		f := v.Double()
		switch {
		case math.IsNaN(f):
			if v.num != usualNaN {
				return tailNaN
			}
		case f == 0 && math.Signbit(f):
			return tailMinus0
		case fitsInt64(f):
			return tailDouble
		}
	case KindSymbol:
		return tailSymbol
	case Missing:
		return tailMissing
	case KindCodeScope:
		return tailRecord
	}
	return tailUsual
}

// fitsInt64 reports whether a double is a whole number in the range of a
// long.
func fitsInt64(f float64) bool { return f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63 }
