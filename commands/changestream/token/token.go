package token

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"strings"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/value"
)

// A resume token is {_data: hex}, where hex are the bytes of an ordered key
// made of: cluster time, version (2), token type, number of the operation in
// its transaction, whether the event is an invalidation, the collection's
// UUID, what identifies the event, and of a fragment its number from 0. So
// tokens compare, as text, in the order of their events. A high-water mark
// names a time only: everything before it has been seen.

// Token is the content of a resume token.
type Token struct {
	TS             uint64    // cluster time
	Event          bool      // else a high-water mark
	Index          int       // position of the operation in its transaction
	FromInvalidate bool      // the event is an invalidation
	UUID           *[16]byte // UUID of the collection; nil if the event has no collection
	ID             value.Doc // {operationType, documentKey or operationDescription}
	Fragment       int       // number of the fragment of a split event, from 1; 0: the whole event
}

// Type bytes of the key, as in mongod's KeyString.
const (
	KeyEnd        = 4
	keyMinKey     = 10
	keyUndefined  = 15
	keyNull       = 20
	keyNumeric    = 30
	keyZero       = 41
	keyString     = 60
	keyObject     = 70
	keyArray      = 80
	keyBinary     = 90
	keyOID        = 100
	keyFalse      = 110
	keyTrue       = 111
	keyDate       = 120
	keyTimestamp  = 130
	keyRegex      = 140
	keyCode       = 160
	keyMaxKey     = 240
	tokenVersion  = 2
	tokenEventBit = 128
)

// Encode makes the token.
func (t *Token) Encode() value.Doc {
	k := append(make([]byte, 0, 96), keyTimestamp)
	k = binary.BigEndian.AppendUint64(k, t.TS)
	k = AppendKeyInt(k, tokenVersion)
	if t.Event {
		k = AppendKeyInt(k, tokenEventBit)
	} else {
		k = AppendKeyInt(k, 0)
	}
	k = AppendKeyInt(k, int64(t.Index))
	k = appendKeyBool(k, t.FromInvalidate)
	if t.UUID != nil {
		k = append(k, keyBinary, 16, 4)
		k = append(k, t.UUID[:]...)
	} else {
		k = append(k, keyNull)
	}
	if t.Event {
		k = appendKeyValue(k, value.Document(t.ID))
		if t.Fragment > 0 {
			k = AppendKeyInt(k, int64(t.Fragment-1))
		}
	}
	k = append(k, KeyEnd)
	data := value.String(strings.ToUpper(hex.EncodeToString(k)))
	if types := typesOf(t.ID, t.Fragment > 0); types != nil {
		return value.NewDoc("_data", data, "_typeBits", value.Binary(0, types))
	}
	return value.NewDoc("_data", data)
}

func appendKeyBool(k []byte, b bool) []byte {
	if b {
		return append(k, keyTrue)
	}
	return append(k, keyFalse)
}

// AppendKeyInt writes an integer in as few bytes as it needs. The type byte has the number
// of bytes and the sign. The lowest bit of the integer is 0: no fraction follows.
func AppendKeyInt(k []byte, n int64) []byte {
	switch n {
	case 0:
		return append(k, keyZero)
	case math.MinInt64:
		return appendKeyDouble(k, math.MinInt64)
	}
	u := uint64(max(n, -n)) << 1
	size := keyIntSize(u)
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], u)
	digits := b[8-size:]
	if n > 0 {
		return append(append(k, byte(keyZero+1+size)), digits...)
	}
	for i := range digits {
		digits[i] = ^digits[i]
	}
	return append(append(k, byte(keyZero-1-size)), digits...)
}

// appendKeyDouble writes a number that may have a fraction. A number of 1 or more is
// written as its integer part, whose lowest bit is 1 if a fraction follows, and so much of
// the fraction that both have eight bytes.
func appendKeyDouble(k []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(k, keyNumeric)
	case f == math.Trunc(f) && math.Abs(f) < 1<<63:
		return AppendKeyInt(k, int64(f))
	case f <= -1<<63:
		return binary.BigEndian.AppendUint64(append(k, keyNumeric+1), ^largeDouble(-f))
	case f >= 1<<63:
		return binary.BigEndian.AppendUint64(append(k, keyZero+10), largeDouble(f))
	case f <= -1 || f >= 1:
		return appendKeyFraction(k, f)
	case f < 0:
		return binary.BigEndian.AppendUint64(append(k, keyZero-1), ^smallDouble(-f))
	}
	return binary.BigEndian.AppendUint64(append(k, keyZero+1), smallDouble(f))
}

// largeDouble is a number from 2^63 as a key has it. Its lowest bit is free for
// decimals that are a little more; its highest one is theirs that no double comes to,
// and that of infinity.
func largeDouble(f float64) uint64 {
	if math.IsInf(f, 1) {
		return math.MaxUint64
	}
	return math.Float64bits(f) << 1 &^ (1 << 63)
}

// smallDouble is a number below 1 as a key has it. Of most, two bits are free for
// decimals that are a little more, of the smallest one. The highest two bits tell which.
func smallDouble(f float64) uint64 {
	if f >= 0x1p-255 {
		return math.Float64bits(f) << 2
	}
	return math.Float64bits(f*0x1p256)<<1 + 1<<62
}

// appendKeyFraction writes a number beyond 1 with a fraction, which is below
// 2^53.
func appendKeyFraction(k []byte, f float64) []byte {
	whole, fraction := math.Modf(math.Abs(f))
	size := keyIntSize(uint64(whole)<<1 | 1)
	all := (uint64(whole)<<1|1)<<(64-8*size) | uint64(math.Ldexp(fraction, 64-8*size))
	if f < 0 {
		return binary.BigEndian.AppendUint64(append(k, byte(keyZero-1-size)), ^all)
	}
	return binary.BigEndian.AppendUint64(append(k, byte(keyZero+1+size)), all)
}

// keyIntSize is how many bytes the integer part of a number takes.
func keyIntSize(u uint64) int { return (bits.Len64(u) + 7) / 8 }

// appendKeyValue writes a value behind its type byte.
func appendKeyValue(k []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64:
		return AppendKeyInt(k, v.SafeInt64())
	case value.KindDouble:
		return appendKeyDouble(k, v.Double())
	case value.KindDecimal:
		return appendKeyDouble(k, v.AsDouble())
	case value.KindString, value.KindSymbol:
		return appendKeyText(append(k, keyString), v.Str())
	case value.KindDocument:
		k = append(k, keyObject)
		for name, e := range v.Doc().All() {
			k = append(k, keyType(e))
			k = appendKeyText(k, name)
			k = appendKeyValue(k, e)
		}
		return append(k, 0)
	case value.KindArray:
		k = append(k, keyArray)
		for e := range v.Doc().Values() {
			k = appendKeyValue(k, e)
		}
		return append(k, 0)
	case value.KindBinary:
		subtype, data := v.Binary()
		if k = append(k, keyBinary); len(data) < 255 {
			k = append(k, byte(len(data)))
		} else {
			k = binary.BigEndian.AppendUint32(append(k, 255), uint32(len(data)))
		}
		return append(append(k, subtype), data...)
	case value.KindObjectID:
		id := v.ObjectID()
		return append(append(k, keyOID), id[:]...)
	case value.KindBool:
		return appendKeyBool(k, v.Bool())
	case value.KindDateTime:
		return binary.BigEndian.AppendUint64(append(k, keyDate), uint64(v.DateTime())^1<<63)
	case value.KindTimestamp:
		return binary.BigEndian.AppendUint64(append(k, keyTimestamp), clustertime.Of(v))
	case value.KindRegex:
		pattern, options := v.Regex()
		return appendKeyText(appendKeyText(append(k, keyRegex), pattern), options)
	case value.KindMinKey:
		return append(k, keyMinKey)
	case value.KindMaxKey:
		return append(k, keyMaxKey)
	case value.KindUndefined:
		return append(k, keyUndefined)
	case value.KindCode:
		return appendKeyText(append(k, keyCode), v.Str())
	}
	return append(k, keyNull)
}

// appendKeyText writes text that ends with a zero; zeroes within are
// followed by 0xff.
func appendKeyText(k []byte, s string) []byte {
	for i := range len(s) {
		if k = append(k, s[i]); s[i] == 0 {
			k = append(k, 0xff)
		}
	}
	return append(k, 0)
}

// keyType is the class of a field's value, which stands before its name.
func keyType(v value.Value) byte {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDecimal:
		return keyNumeric
	case value.KindBool:
		return keyFalse
	}
	return appendKeyValue(nil, v)[0]
}
