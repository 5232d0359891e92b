package value

import (
	"encoding/binary"
	"math"
)

// A key forgets what does not count for the order: whether a number was an
// int or a double, the digits of a decimal, whether a string was a symbol.
// Its tail keeps that, so that key and tail together give the values back.
// The tail has one byte per scalar, in the order of the key, without the
// zeros at its end; most tails are empty. No tail contains the byte ff at its
// beginning, so that key and tail lie before all other keys that follow.
//
// What a scalar's byte tells:
const (
	tailUsual   byte = iota // the narrowest type: int, long, double; string
	tailInt64               // a long that fits an int
	tailDouble              // a double without a fraction
	tailMinus0              // -0.0
	tailDecimal             // the 16 bytes of the decimal follow
	tailNaN                 // the 8 bytes of an unusual NaN follow
	tailSymbol
	tailMissing // the null of the key stands for no field
	tailRecord  // only the record tells
)

// usualNaN are the bits of the NaN that computations make.
const usualNaN = 0x7ff8000000000000

// maxTail is how long a tail may grow before it says no more than that the
// record must be asked.
const maxTail = 96

// KeyTail collects the tail of a key whose values are added one by one.
type KeyTail struct {
	codes []byte
	used  int // up to and with the last code that is not usual
}

// Reset begins a tail that is appended to dst.
func (t *KeyTail) Reset(dst []byte) { t.codes, t.used = dst, len(dst) }

// Add notes what the key of v forgets.
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

// AddMissing notes that the field of the next null is missing, and whether
// only the record knows how.
func (t *KeyTail) AddMissing(unclear bool) {
	if unclear {
		t.code(tailRecord)
		return
	}
	t.code(tailMissing)
}

// KeyTells reports whether the key of v needs no tail.
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

// Bytes is the tail behind what it was appended to, which was start bytes
// long.
func (t *KeyTail) Bytes(start int) []byte {
	if t.used-start > maxTail {
		return append(t.codes[:start], tailRecord)
	}
	return t.codes[:t.used]
}

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
