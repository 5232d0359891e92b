package value

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Value is one BSON value. Values are small and passed by copy. A Value that
// was read from a Doc aliases the Doc's bytes and is valid as long as they
// are. The zero Value is Missing.
type Value struct {
	kind Kind
	sub  byte   // binary subtype
	num  uint64 // scalars: int, long, double bits, bool, date, timestamp
	b    []byte // string bytes, document, array, binary data, raw payload
}

// Constructors, one for each type.

// Int32 makes an int.
func Int32(v int32) Value { return Value{kind: KindInt32, num: uint64(int64(v))} }

// Int64 makes a long.
func Int64(v int64) Value { return Value{kind: KindInt64, num: uint64(v)} }

// Double makes a double.
func Double(v float64) Value { return Value{kind: KindDouble, num: math.Float64bits(v)} }

// Bool makes a bool.
func Bool(v bool) Value {
	if v {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Null makes a null.
func Null() Value { return Value{kind: KindNull} }

// Undefined makes the deprecated undefined.
func Undefined() Value { return Value{kind: KindUndefined} }

// MinKey and MaxKey make the two ends of the order.
func MinKey() Value { return Value{kind: KindMinKey} }

// MaxKey makes the value above all others.
func MaxKey() Value { return Value{kind: KindMaxKey} }

// DateTime makes a date from milliseconds since the Unix epoch.
func DateTime(ms int64) Value { return Value{kind: KindDateTime, num: uint64(ms)} }

// Timestamp makes an internal timestamp: seconds and ordinal.
func Timestamp(t, i uint32) Value {
	return Value{kind: KindTimestamp, num: uint64(t)<<32 | uint64(i)}
}

// String makes a string. It does not copy s.
func String(s string) Value { return Value{kind: KindString, b: stringBytes(s)} }

// StringFromBytes makes a string that aliases b.
func StringFromBytes(b []byte) Value { return Value{kind: KindString, b: b} }

// Symbol makes a deprecated symbol.
func Symbol(s string) Value { return Value{kind: KindSymbol, b: stringBytes(s)} }

// Code makes JavaScript code without scope.
func Code(s string) Value { return Value{kind: KindCode, b: stringBytes(s)} }

// Document makes an embedded document that aliases d.
func Document(d Doc) Value { return Value{kind: KindDocument, b: d} }

// Array makes an array from a document with the keys "0", "1", ….
func Array(d Doc) Value { return Value{kind: KindArray, b: d} }

// Binary makes binary data of a subtype; it aliases data.
func Binary(subtype byte, data []byte) Value {
	return Value{kind: KindBinary, sub: subtype, b: data}
}

// ObjectID makes an ObjectId value; it aliases nothing.
func ObjectID(id OID) Value { return Value{kind: KindObjectID, b: append([]byte(nil), id[:]...)} }

// Regex makes a regular expression from pattern and options.
func Regex(pattern, options string) Value {
	b := make([]byte, 0, len(pattern)+len(options)+2)
	b = append(append(b, pattern...), 0)
	b = append(append(b, options...), 0)
	return Value{kind: KindRegex, b: b}
}

// DecimalValue makes a decimal128.
func DecimalValue(d Decimal) Value {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint64(b, d.Lo)
	binary.LittleEndian.PutUint64(b[8:], d.Hi)
	return Value{kind: KindDecimal, b: b}
}

// Accessors. Each is meaningful only for its own type; for another type it
// returns the zero value, and never panics.

// Kind is the value's type.
func (v Value) Kind() Kind { return v.kind }

// IsMissing reports whether there is no value at all.
func (v Value) IsMissing() bool { return v.kind == Missing }

// IsNullish reports whether v is missing, null or undefined: what MongoDB's
// expressions call nullish.
func (v Value) IsNullish() bool {
	return v.kind == Missing || v.kind == KindNull || v.kind == KindUndefined
}

// IsNumber reports whether v is int, long, double or decimal.
func (v Value) IsNumber() bool { return v.kind.IsNumber() }

// Int32 returns an int.
func (v Value) Int32() int32 { return int32(v.num) }

// Int64 returns an int or a long.
func (v Value) Int64() int64 { return int64(v.num) }

// Double returns a double.
func (v Value) Double() float64 {
	if v.kind != KindDouble {
		return 0
	}
	return math.Float64frombits(v.num)
}

// Bool returns a bool.
func (v Value) Bool() bool { return v.kind == KindBool && v.num != 0 }

// DateTime returns a date in milliseconds since the Unix epoch.
func (v Value) DateTime() int64 { return int64(v.num) }

// Timestamp returns the seconds and the ordinal of a timestamp.
func (v Value) Timestamp() (t, i uint32) { return uint32(v.num >> 32), uint32(v.num) }

// Str returns a string, symbol or code without copying; it is valid as long
// as the bytes the value was read from.
func (v Value) Str() string {
	switch v.kind {
	case KindString, KindSymbol, KindCode:
		return bytesString(v.b)
	}
	return ""
}

// Bytes returns the bytes behind a string, symbol, code, document, array or
// binary value. They must not be changed.
func (v Value) Bytes() []byte { return v.b }

// Doc returns an embedded document or an array as a document.
func (v Value) Doc() Doc {
	if v.kind == KindDocument || v.kind == KindArray {
		return Doc(v.b)
	}
	return nil
}

// binarySize is the length that orders binary data. The old subtype repeats
// its length in front of the data, and that counts.
func (v Value) binarySize() int {
	if v.sub == 2 {
		return 4 + len(v.b)
	}
	return len(v.b)
}

// Binary returns the subtype and the data of a binary value.
func (v Value) Binary() (subtype byte, data []byte) {
	if v.kind != KindBinary {
		return 0, nil
	}
	return v.sub, v.b
}

// ObjectID returns an ObjectId.
func (v Value) ObjectID() (id OID) {
	if v.kind == KindObjectID {
		copy(id[:], v.b)
	}
	return id
}

// Regex returns the pattern and the options of a regular expression.
func (v Value) Regex() (pattern, options string) {
	if v.kind != KindRegex {
		return "", ""
	}
	n := cstringLen(v.b)
	rest := v.b[n+1:]
	return bytesString(v.b[:n]), bytesString(rest[:cstringLen(rest)])
}

// Decimal returns a decimal128.
func (v Value) Decimal() Decimal {
	if v.kind != KindDecimal {
		return Decimal{}
	}
	return Decimal{Lo: binary.LittleEndian.Uint64(v.b), Hi: binary.LittleEndian.Uint64(v.b[8:])}
}

// DBPointer returns the namespace and the id of a deprecated DBPointer.
func (v Value) DBPointer() (ns string, id OID) {
	if v.kind != KindDBPointer || len(v.b) < 17 {
		return "", id
	}
	n := len(v.b) - 12
	copy(id[:], v.b[n:])
	return bytesString(v.b[4 : n-1]), id
}

// CodeScope returns code and scope of JavaScript with scope.
func (v Value) CodeScope() (code string, scope Doc) {
	if v.kind != KindCodeScope || len(v.b) < 14 {
		return "", nil
	}
	n := int(binary.LittleEndian.Uint32(v.b[4:]))
	return bytesString(v.b[8 : 8+n-1]), Doc(v.b[8+n:])
}

// Truthy is MongoDB's coercion to bool: false, zero, null, undefined and
// missing are false, everything else (also "" and []) is true.
func (v Value) Truthy() bool {
	switch v.kind {
	case Missing, KindNull, KindUndefined:
		return false
	case KindBool, KindInt32, KindInt64:
		return v.num != 0
	case KindDouble:
		return v.Double() != 0
	case KindDecimal:
		return !v.Decimal().IsZero()
	}
	return true
}

// Clone returns a copy that shares no memory with v.
func (v Value) Clone() Value {
	if v.b != nil {
		v.b = append(make([]byte, 0, len(v.b)), v.b...)
	}
	return v
}

func cstringLen(b []byte) int {
	for i, c := range b {
		if c == 0 {
			return i
		}
	}
	return len(b)
}

// bytesString views b as a string. The bytes behind a Doc never change while
// anyone holds a view, which is what makes this sound.
func bytesString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// stringBytes views s as bytes, which must not be written.
func stringBytes(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// StringView views s as bytes without copying. The bytes must not be
// written: this is how stored records (immutable Go strings) become Docs.
func StringView(s string) []byte { return stringBytes(s) }

// BytesView views b as a string without copying, for as long as the bytes do
// not change.
func BytesView(b []byte) string { return bytesString(b) }
