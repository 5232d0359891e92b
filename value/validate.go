package value

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxDepth is the largest nesting depth of documents and arrays (MongoDB's
// maxBSONDepth).
const MaxDepth = 200

// ErrDepth is returned for documents nested deeper than MaxDepth.
var ErrDepth = errors.New("BSONObj exceeded maximum nested object depth: 200")

// InvalidError describes the first error in invalid BSON.
type InvalidError struct {
	Reason string
	Offset int
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid bson: %s at offset %d", e.Reason, e.Offset)
}

// Validate checks that b is exactly one well-formed BSON document: lengths,
// terminators, known types, bool bytes, depth. Everything else in this package
// relies on it. Strings and field names that are not UTF-8 are accepted, as
// mongod accepts them.
func Validate(b []byte) error {
	v := validator{whole: b}
	return v.document(b, 0)
}

// ValidatePayload checks the value of type k at the start of b, as Validate does, and
// returns its length in bytes.
func ValidatePayload(k Kind, b []byte) (int, error) {
	if !k.Valid() {
		return 0, &InvalidError{Reason: fmt.Sprintf("unrecognized BSON type %d", k)}
	}
	v := validator{whole: b}
	return v.payload(k, b, 0)
}

type validator struct{ whole []byte }

func (v *validator) fail(rest []byte, reason string) error {
	return &InvalidError{Reason: reason, Offset: len(v.whole) - len(rest)}
}

// document validates one document and the documents in it.
func (v *validator) document(b []byte, depth int) error {
	if depth > MaxDepth {
		return ErrDepth
	}
	if len(b) < 5 || int64(binary.LittleEndian.Uint32(b)) != int64(len(b)) {
		return v.fail(b, "incorrect BSON length")
	}
	if b[len(b)-1] != 0 {
		return v.fail(b, "document is not terminated")
	}
	rest := b[4 : len(b)-1]
	for len(rest) > 0 {
		k := Kind(rest[0])
		if !k.Valid() {
			return v.fail(rest, fmt.Sprintf("unrecognized BSON type %d", rest[0]))
		}
		n := 1 + cstringLen(rest[1:])
		if n >= len(rest) {
			return v.fail(rest, "field name is not terminated")
		}
		size, err := v.payload(k, rest[n+1:], depth)
		if err != nil {
			return err
		}
		rest = rest[n+1+size:]
	}
	return nil
}

// payload checks the value of type k at the start of b and returns its
// length.
func (v *validator) payload(k Kind, b []byte, depth int) (int, error) {
	if w := int(kinds[k].width); w >= 0 {
		if len(b) < w {
			return 0, v.fail(b, "value is cut short")
		}
		if k == KindBool && b[0] > 1 {
			return 0, v.fail(b, "bool is neither 0 nor 1")
		}
		return w, nil
	}
	switch k {
	case KindString, KindCode, KindSymbol:
		return v.str(b)
	case KindDocument, KindArray:
		n, err := v.prefix(b, 5)
		if err != nil {
			return 0, err
		}
		return n, v.document(b[:n:n], depth+1)
	case KindBinary:
		return v.binary(b)
	case KindRegex:
		return v.regex(b)
	case KindDBPointer:
		n, err := v.str(b)
		if err == nil && len(b) < n+12 {
			err = v.fail(b, "DBPointer is cut short")
		}
		return n + 12, err
	}
	return v.codeScope(b, depth)
}

// prefix reads a length that counts itself.
func (v *validator) prefix(b []byte, minimum int) (int, error) {
	if len(b) < 4 {
		return 0, v.fail(b, "length is cut short")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n < int64(minimum) || n > int64(len(b)) {
		return 0, v.fail(b, "incorrect BSON length")
	}
	return int(n), nil
}

func (v *validator) str(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, v.fail(b, "string is cut short")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n < 1 || n > int64(len(b)-4) {
		return 0, v.fail(b, "invalid string length")
	}
	if b[4+n-1] != 0 {
		return 0, v.fail(b, "string is not terminated")
	}
	return 4 + int(n), nil
}

func (v *validator) binary(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, v.fail(b, "binary data is cut short")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > int64(len(b)-5) {
		return 0, v.fail(b, "invalid binary length")
	}
	if b[4] == 2 && (n < 4 || int64(binary.LittleEndian.Uint32(b[5:])) != n-4) {
		return 0, v.fail(b, "invalid length of old binary subtype")
	}
	return 5 + int(n), nil
}

func (v *validator) regex(b []byte) (int, error) {
	n := cstringLen(b) + 1
	if n > len(b) {
		return 0, v.fail(b, "regex is not terminated")
	}
	m := cstringLen(b[n:]) + 1
	if n+m > len(b) {
		return 0, v.fail(b, "regex is not terminated")
	}
	return n + m, nil
}

func (v *validator) codeScope(b []byte, depth int) (int, error) {
	n, err := v.prefix(b, 14)
	if err != nil {
		return 0, err
	}
	s, err := v.str(b[4:n])
	if err != nil {
		return 0, err
	}
	return n, v.document(b[4+s:n:n], depth+1)
}
