package value

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Index keys. AppendKey writes v so that bytes.Compare of two keys agrees
// with Compare of the values, and no key is a prefix of another: keys of
// compound indexes are simply concatenated.
//
//	[rank]                                  MinKey, missing, null, MaxKey
//	[rank][class][8 bytes][suffix]          numbers, see appendNumberKey
//	[rank][escaped bytes][00 01]            strings: 00 is written 00 FF
//	[rank]{[rank][name 00][value]}[00]      objects and arrays
//	[rank][4 bytes length][subtype][bytes]  binary data
//	[rank][fixed width]                     ObjectId, bool, date, timestamp
//
// Ranks start at 1 in keys, so 0 can end a list.

// AppendKey appends the key of v.
func AppendKey(dst []byte, v Value) []byte { return AppendKeyWith(dst, v, nil) }

// AppendKeyDesc appends the key of v for a descending field: all bytes
// inverted.
func AppendKeyDesc(dst []byte, v Value, c Collator) []byte {
	start := len(dst)
	dst = AppendKeyWith(dst, v, c)
	InvertKey(dst[start:])
	return dst
}

// InvertKey turns an ascending key into a descending one, and back.
func InvertKey(key []byte) {
	for i := range key {
		key[i] = ^key[i]
	}
}

// KeyRank is the first byte of the keys of type k.
func KeyRank(k Kind) byte { return byte(kinds[k].rank) + 1 }

// AppendKeyWith is AppendKey with strings replaced by their collation keys.
func AppendKeyWith(dst []byte, v Value, c Collator) []byte {
	dst = append(dst, KeyRank(v.kind))
	switch v.kind {
	case KindInt32, KindInt64, KindDouble, KindDecimal:
		return appendNumberKey(dst, v)
	case KindString, KindSymbol:
		if c != nil {
			return appendEscaped(dst, c.AppendKey(nil, bytesString(v.b)))
		}
		return appendEscaped(dst, v.b)
	case KindDocument, KindArray:
		return appendDocKey(dst, v.b, c)
	case KindBinary:
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.binarySize()))
		dst = append(dst, v.sub)
		return append(dst, v.b...)
	case KindObjectID:
		return append(dst, v.b...)
	case KindBool:
		return append(dst, byte(v.num))
	case KindDateTime:
		return binary.BigEndian.AppendUint64(dst, v.num^(1<<63))
	case KindTimestamp:
		return binary.BigEndian.AppendUint64(dst, v.num)
	case KindCode:
		return appendEscaped(dst, v.b)
	case KindRegex:
		return append(dst, v.b...) // two C strings
	case KindDBPointer:
		dst = binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(v.b))
		return append(dst, v.b[4:]...)
	case KindCodeScope:
		code, scope := v.CodeScope()
		return appendDocKey(appendEscaped(dst, stringBytes(code)), scope, nil)
	}
	return dst
}

func appendDocKey(dst []byte, d Doc, c Collator) []byte {
	it := d.Iter()
	for it.Next() {
		dst = append(dst, KeyRank(it.kind))
		dst = append(dst, it.key...)
		dst = append(dst, 0)
		dst = AppendKeyWith(dst, it.Value(), c)
	}
	return append(dst, 0)
}

// appendEscaped writes bytes so that no encoding is a prefix of another.
func appendEscaped(dst, b []byte) []byte {
	for _, c := range b {
		if c == 0 {
			dst = append(dst, 0, 0xff)
			continue
		}
		dst = append(dst, c)
	}
	return append(dst, 0, 1)
}

// Number classes in key order.
const (
	classNaN = 1 + iota
	classNegInf
	classNegative
	classZero
	classPositive
	classPosInf
)

// numberClass returns the class of a number in the order of keys: NaN,
// infinities, negative, zero, positive.
func numberClass(v Value) byte {
	switch v.kind {
	case KindInt32, KindInt64:
		return signClass(v.Int64() < 0, v.num == 0)
	case KindDouble:
		f := v.Double()
		switch {
		case math.IsNaN(f):
			return classNaN
		case math.IsInf(f, -1):
			return classNegInf
		case math.IsInf(f, 1):
			return classPosInf
		}
		return signClass(f < 0, f == 0)
	}
	d := v.Decimal()
	switch {
	case d.IsNaN():
		return classNaN
	case d.IsInf() < 0:
		return classNegInf
	case d.IsInf() > 0:
		return classPosInf
	}
	return signClass(d.Negative(), d.IsZero())
}

func signClass(negative, zero bool) byte {
	switch {
	case zero:
		return classZero
	case negative:
		return classNegative
	}
	return classPositive
}

// appendNumberKey writes the class and, for finite numbers, the magnitude as
// the double next toward zero, then 00 if that is exact, else 01 and the
// number's decimal digits, to distinguish numbers with the same double. All of
// it is inverted for negative numbers.
func appendNumberKey(dst []byte, v Value) []byte {
	class := numberClass(v)
	dst = append(dst, class)
	if class != classNegative && class != classPositive {
		return dst
	}
	start := len(dst)
	f, exact := truncatedDouble(v)
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(f))
	if exact {
		dst = append(dst, 0)
	} else {
		dst = appendDigits(append(dst, 1), v)
	}
	if class == classNegative {
		InvertKey(dst[start:])
	}
	return dst
}

// truncatedDouble is the largest double not above |v|.
func truncatedDouble(v Value) (f float64, exact bool) {
	switch v.kind {
	case KindDouble:
		return math.Abs(v.Double()), true
	case KindInt32, KindInt64:
		n := v.Int64()
		u := uint64(n)
		if n < 0 {
			u = -u
		}
		f = float64(u)
		if f >= 1<<64 || uint64(f) > u {
			f = math.Nextafter(f, 0)
		}
		return f, uint64(f) == u
	}
	if n, ok := v.Decimal().Int64(); ok {
		return truncatedDouble(Int64(n))
	}
	x := exactMagnitude(v)
	x.m.Abs(x.m)
	f = math.Abs(v.Decimal().Float64())
	if math.IsInf(f, 0) {
		return math.MaxFloat64, false
	}
	order := exactMagnitude(Double(f)).compare(x)
	if order > 0 {
		f = math.Nextafter(f, 0)
	}
	return f, order == 0
}

// appendIntegerDigits is appendDigits for an integer.
func appendIntegerDigits(dst []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	var room [20]byte
	digits := strconv.AppendUint(room[:0], u, 10)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(digits)-1+1<<14))
	dst = append(dst, bytes.TrimRight(digits, "0")...)
	return append(dst, 0)
}

// appendDigits writes the exponent of the first digit and the significant
// digits without trailing zeros: the same for equal numbers of any type.
func appendDigits(dst []byte, v Value) []byte {
	if v.kind == KindInt32 || v.kind == KindInt64 {
		return appendIntegerDigits(dst, v.Int64())
	}
	x := exactMagnitude(v)
	digits := new(big.Int).Abs(x.m).String()
	adjusted := len(digits) - 1 + x.exp
	dst = binary.BigEndian.AppendUint16(dst, uint16(adjusted+1<<14))
	dst = append(dst, strings.TrimRight(digits, "0")...)
	return append(dst, 0)
}
