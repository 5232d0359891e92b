package value

import (
	"encoding/binary"
	"math"
	"strconv"
)

// rankKinds maps the first byte of a key to its usual type.
var rankKinds = func() (kinds [256]Kind) {
	for _, k := range []Kind{
		KindMinKey, KindUndefined, KindNull, KindDouble, KindString, KindDocument, KindArray, KindBinary, KindObjectID,
		KindBool, KindDateTime, KindTimestamp, KindRegex, KindDBPointer, KindCode, KindCodeScope, KindMaxKey,
	} {
		kinds[KeyRank(k)] = k
	}
	return kinds
}()

// KeyReader decodes the values of a key, as written by [AppendKey] and
// [AppendKeyDesc] without a collation, together with its tail.
type KeyReader struct {
	key  []byte
	tail []byte
	mask byte // ff while a descending value is read
	room []byte
	bad  bool // the values cannot be decoded, or the key is invalid
}

// Reset begins a key. widths says which of its values descend.
func (r *KeyReader) Reset(entry []byte, descending []bool) {
	n := 0
	for _, desc := range descending {
		n += KeyLen(entry[n:], desc)
	}
	*r = KeyReader{key: entry[:n], tail: entry[n:], room: r.room[:0]}
}

// Next reads a value; ok is false if only the record has the value, or the key
// is at its end. The value is valid until the next Reset.
func (r *KeyReader) Next(desc bool) (v Value, ok bool) {
	r.mask = 0
	if desc {
		r.mask = 0xff
	}
	v = r.value()
	return v, !r.bad
}

// KeyLen is the length of the first value's key at the beginning of an
// entry.
func KeyLen(entry []byte, desc bool) int {
	r := KeyReader{key: entry}
	if desc {
		r.mask = 0xff
	}
	r.skip()
	return len(entry) - len(r.key)
}

// byte takes the next byte of the key.
func (r *KeyReader) byte() byte {
	if len(r.key) == 0 {
		r.bad = true
		return 0
	}
	c := r.key[0] ^ r.mask
	r.key = r.key[1:]
	return c
}

// take takes n bytes; they are copied if the value descends.
func (r *KeyReader) take(n int) []byte {
	if n < 0 || n > len(r.key) {
		r.bad, r.key = true, nil
		return nil
	}
	b := r.key[:n:n]
	r.key = r.key[n:]
	if r.mask == 0 {
		return b
	}
	start := len(r.room)
	r.room = append(r.room, b...)
	b = r.room[start:len(r.room):len(r.room)]
	for i := range b {
		b[i] ^= r.mask
	}
	return b
}

func (r *KeyReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *KeyReader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// until takes the bytes before the next one that is c, and that one.
func (r *KeyReader) until(c byte) []byte {
	for i, k := range r.key {
		if k^r.mask == c {
			b := r.take(i)
			r.byte()
			return b
		}
	}
	r.bad, r.key = true, nil
	return nil
}

// escaped takes bytes that end in 00 01, in which 00 is written 00 ff.
func (r *KeyReader) escaped() []byte {
	b := r.until(0)
	if r.byte() == 1 || r.bad {
		return b
	}
	whole := append([]byte(nil), b...)
	for !r.bad {
		whole = append(append(whole, 0), r.until(0)...)
		if r.byte() == 1 {
			break
		}
	}
	return whole
}

// code takes the next byte of the tail.
func (r *KeyReader) code() byte {
	if len(r.tail) == 0 {
		return tailUsual
	}
	c := r.tail[0]
	r.tail = r.tail[1:]
	if c == tailRecord {
		r.bad = true
	}
	return c
}

// value decodes one value by its first byte.
func (r *KeyReader) value() Value {
	kind := rankKinds[r.byte()]
	switch kind {
	case KindDocument, KindArray:
		return Value{kind: kind, b: r.document()}
	case KindDouble:
		return r.number()
	}
	code := r.code()
	switch code {
	case tailMissing:
		return Value{}
	case tailSymbol:
		kind = KindSymbol
	}
	return r.scalar(kind)
}

// scalar reads what follows the first byte of a value that is neither number
// nor document.
func (r *KeyReader) scalar(kind Kind) Value {
	switch kind {
	case KindString, KindSymbol, KindCode:
		return Value{kind: kind, b: r.escaped()}
	case KindBinary:
		n, sub := int(r.uint32()), r.byte()
		if sub == 2 {
			n -= 4
		}
		return Value{kind: kind, sub: sub, b: r.take(n)}
	case KindObjectID:
		return Value{kind: kind, b: r.take(12)}
	case KindBool:
		return Value{kind: kind, num: uint64(r.byte())}
	case KindDateTime:
		return Value{kind: kind, num: r.uint64() ^ 1<<63}
	case KindTimestamp:
		return Value{kind: kind, num: r.uint64()}
	case KindRegex:
		return Regex(string(r.until(0)), string(r.until(0)))
	case KindDBPointer:
		n := r.uint32()
		b := binary.LittleEndian.AppendUint32(nil, n)
		return Value{kind: kind, b: append(b, r.take(int(n)+12)...)}
	case KindCodeScope:
		r.escaped()
		r.skipDocument()
	case Missing:
		r.bad = true
	}
	return Value{kind: kind}
}

// document reads the elements of a document or an array.
func (r *KeyReader) document() Doc {
	b := NewBuilder()
	for !r.bad && r.byte() != 0 { // the type of the element stands before its name
		name := r.until(0)
		b.Append(string(name), r.value())
	}
	return b.Doc()
}

// number reads a number: as its tail says, or of the narrowest type.
func (r *KeyReader) number() Value {
	class := r.byte()
	bits, digits := r.magnitude(class)
	code := r.code()
	switch code {
	case tailDecimal:
		return Value{kind: KindDecimal, b: r.takeTail(16)}
	case tailNaN:
		return Value{kind: KindDouble, num: binary.LittleEndian.Uint64(r.takeTail(8))}
	}
	if digits != nil { // a long that is no double
		return r.long(digits, class == classNegative)
	}
	return narrowest(signed(class, bits), code)
}

// magnitude reads what follows the class of a number: the double next toward
// zero and, if that is not exact, the digits with their exponent.
func (r *KeyReader) magnitude(class byte) (bits uint64, digits []byte) {
	if class != classNegative && class != classPositive {
		return 0, nil
	}
	if class == classNegative {
		r.mask = ^r.mask
		defer func() { r.mask = ^r.mask }()
	}
	bits = r.uint64()
	if r.byte() == 0 {
		return bits, nil
	}
	exponent := r.take(2)
	digits = append([]byte(nil), r.until(0)...)
	if r.bad {
		return bits, nil
	}
	adjusted := int(binary.BigEndian.Uint16(exponent)) - 1<<14
	for len(digits) <= adjusted && adjusted < 20 { // the zeros that were trimmed
		digits = append(digits, '0')
	}
	return bits, digits
}

// takeTail takes n bytes of the tail; zeros if there are fewer.
func (r *KeyReader) takeTail(n int) []byte {
	if len(r.tail) < n {
		r.bad = true
		return make([]byte, n)
	}
	b := r.tail[:n:n]
	r.tail = r.tail[n:]
	return b
}

func signed(class byte, bits uint64) float64 {
	f := math.Float64frombits(bits)
	switch class {
	case classNaN:
		return math.Float64frombits(usualNaN)
	case classNegInf:
		return math.Inf(-1)
	case classPosInf:
		return math.Inf(1)
	case classNegative:
		return -f
	}
	return f
}

// narrowest returns the number in the narrowest type, for a key with an exact
// double.
func narrowest(f float64, code byte) Value {
	switch {
	case code == tailMinus0:
		return Double(math.Copysign(0, -1))
	case code == tailDouble || !fitsInt64(f):
		return Double(f)
	}
	n := int64(f)
	if code == tailUsual && n == int64(int32(n)) {
		return Int32(int32(n))
	}
	return Int64(n)
}

func (r *KeyReader) long(digits []byte, negative bool) Value {
	text := string(digits)
	if negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.bad = true
	}
	return Int64(n)
}

// skip skips the key of a value.
func (r *KeyReader) skip() {
	switch kind := rankKinds[r.byte()]; kind {
	case KindDocument, KindArray:
		r.skipDocument()
	case KindDouble:
		r.skipNumber()
	case KindString, KindCode:
		r.skipEscaped()
	case KindBinary:
		n := int(r.uint32())
		if r.byte() == 2 {
			n -= 4
		}
		r.drop(n)
	case KindObjectID:
		r.drop(12)
	case KindBool:
		r.drop(1)
	case KindDateTime, KindTimestamp:
		r.drop(8)
	case KindRegex:
		r.dropUntil(0)
		r.dropUntil(0)
	case KindDBPointer:
		n := r.uint32()
		r.drop(int(n) + 12)
	case KindCodeScope:
		r.skipEscaped()
		r.skipDocument()
	}
}

func (r *KeyReader) skipDocument() {
	for !r.bad && r.byte() != 0 {
		r.dropUntil(0)
		r.skip()
	}
}

// skipNumber skips the class, the double and the digits of a number.
func (r *KeyReader) skipNumber() {
	class := r.byte()
	if class != classNegative && class != classPositive {
		return
	}
	flip := byte(0)
	if class == classNegative {
		flip = 0xff
	}
	r.drop(8)
	if r.byte()^flip == 0 {
		return
	}
	r.drop(2)
	r.dropUntil(flip)
}

func (r *KeyReader) skipEscaped() {
	for !r.bad {
		r.dropUntil(0)
		if r.byte() == 1 {
			return
		}
	}
}

func (r *KeyReader) drop(n int) {
	if n < 0 || n > len(r.key) {
		r.bad, r.key = true, nil
		return
	}
	r.key = r.key[n:]
}

// dropUntil drops the bytes up to and with the next one that is c.
func (r *KeyReader) dropUntil(c byte) {
	for i, k := range r.key {
		if k^r.mask == c {
			r.key = r.key[i+1:]
			return
		}
	}
	r.bad, r.key = true, nil
}
