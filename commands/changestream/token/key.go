package token

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// keyReader reads the fields of a token's key one after the other, until
// something is wrong.
type keyReader struct {
	k   []byte
	err error
}

// ended reports whether there are no more fields.
func (r *keyReader) ended() bool { return len(r.k) == 0 || r.k[0] == KeyEnd }

// fail sets the error for the next field: it is missing, or of a wrong type.
func (r *keyReader) fail(missing mongoerr.Code, none string, wrong mongoerr.Code, text string) {
	if r.ended() {
		r.err = mongoerr.New(missing, none)
		return
	}
	r.err = mongoerr.New(wrong, text)
}

// int reads a number that is not negative.
func (r *keyReader) int(missing mongoerr.Code, none string, wrong mongoerr.Code, text string) (n int64) {
	if r.err != nil {
		return 0
	}
	size := -1
	if !r.ended() {
		size = int(r.k[0]) - keyZero - 1
	}
	switch {
	case size == -1 && !r.ended() && r.k[0] == keyZero:
		r.k = r.k[1:]
		return 0
	case size < 1 || size > 8 || size >= len(r.k), r.k[size]&1 != 0:
		r.fail(missing, none, wrong, text)
		return 0
	}
	for _, b := range r.k[1 : 1+size] {
		n = n<<8 | int64(b)
	}
	r.k = r.k[1+size:]
	return n >> 1
}

func (r *keyReader) bool() bool {
	if r.err != nil {
		return false
	}
	if r.ended() || r.k[0] != keyTrue && r.k[0] != keyFalse {
		r.fail(50872, "Resume Token does not contain fromInvalidate", 50870, "Resume Token fromInvalidate is not a boolean.")
		return false
	}
	b := r.k[0] == keyTrue
	r.k = r.k[1:]
	return b
}

// skipUUID passes over a UUID, or the null in its place.
func (r *keyReader) skipUUID() {
	switch {
	case r.k[0] == keyNull:
		r.k = r.k[1:]
	case len(r.k) >= 3+16 && r.k[0] == keyBinary && r.k[1] == 16 && r.k[2] == 4:
		r.k = r.k[3+16:]
	default:
		r.err = mongoerr.New(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")
	}
}

// maxKeyDepth is how deep values may be nested, one more than in a document.
const maxKeyDepth = 201

// broken sets the error for a value that is cut off.
func (r *keyReader) broken() {
	r.k, r.err = nil, mongoerr.New(mongoerr.Overflow, "Bad resume token: it ends within a value")
}

// unknown sets the error for an unknown type byte.
func (r *keyReader) unknown(kind byte) {
	r.k, r.err = nil, mongoerr.Newf(50811, "Unknown type: %d", kind)
}

// skip passes over n bytes.
func (r *keyReader) skip(n int) {
	if n > len(r.k) {
		r.broken()
		return
	}
	r.k = r.k[n:]
}

// skipValue passes over a value with its type byte.
func (r *keyReader) skipValue(depth int) {
	switch {
	case len(r.k) == 0:
		r.broken()
		return
	case depth == 0:
		r.k, r.err = nil, mongoerr.New(mongoerr.Overflow, "Bad resume token: values are nested too deeply")
		return
	}
	kind := r.k[0]
	if r.k = r.k[1:]; r.err != nil {
		return
	}
	switch kind {
	case keyMinKey, keyUndefined, keyNull, keyNumeric, keyZero, keyFalse, keyTrue, keyMaxKey:
	case keyString, keyCode:
		r.skipText()
	case keyRegex:
		r.skipText()
		r.skipText()
	case keyObject, keyArray:
		r.skipMembers(kind == keyObject, depth)
	case keyBinary:
		r.skipBinary()
	case keyOID:
		r.skip(12)
	case keyDate, keyTimestamp:
		r.skip(8)
	default:
		r.skipNumber(kind)
	}
}

// skipMembers passes over the fields of a document, each behind its type
// again and its name, or over the elements of an array.
func (r *keyReader) skipMembers(named bool, depth int) {
	for r.err == nil {
		switch {
		case len(r.k) == 0:
			r.broken()
			return
		case r.k[0] == 0:
			r.k = r.k[1:]
			return
		}
		if named {
			r.k = r.k[1:]
			r.skipText()
		}
		if r.err == nil {
			r.skipValue(depth - 1)
		}
	}
}

// skipText passes over text up to a zero that no 0xff follows.
func (r *keyReader) skipText() {
	for r.err == nil {
		i := bytes.IndexByte(r.k, 0)
		if i < 0 {
			r.broken()
			return
		}
		if r.k = r.k[i+1:]; len(r.k) == 0 || r.k[0] != 0xff {
			return
		}
	}
}

func (r *keyReader) skipBinary() {
	size, head := 0, 1
	if len(r.k) > 0 {
		size = int(r.k[0])
	}
	if size == 255 && len(r.k) > 4 {
		size, head = int(binary.BigEndian.Uint32(r.k[1:])), 5
	}
	r.skip(head + 1 + size)
}

// skipNumber passes over a number that is neither zero nor NaN. Those below 1
// and very large ones have eight bytes, others an integer part of as many as
// the type tells, and if its lowest bit says so, a fraction up to eight. A decimal
// that is no double may have eight more.
func (r *keyReader) skipNumber(kind byte) {
	size := max(int(kind)-keyZero, keyZero-int(kind)) - 1
	if kind < keyNumeric || size > 9 {
		r.unknown(kind)
		return
	}
	if whole := size > 0 && size < 9; whole && size <= len(r.k) && (r.k[size-1]&1 != 0) != (kind > keyZero) {
		r.skip(size)
		return
	}
	if len(r.k) < 8 {
		r.broken()
		return
	}
	n := binary.BigEndian.Uint64(r.k)
	if kind < keyZero {
		n = ^n
	}
	if r.skip(8); goesOn(n, size) {
		r.skip(8)
	}
}

// goesOn reports whether eight bytes of a number are not all of it. size is that of
// the integer part, 0 of a number below 1, 9 of one from 2^63.
func goesOn(n uint64, size int) bool {
	switch {
	case size == 0 && n>>62 == 0, size == 8:
		return true
	case size == 9 && n>>63 != 0:
		return n != math.MaxUint64
	}
	return n&1 != 0
}
