package commands

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// decodeToken reads the fields of a token that position a stream. What
// identifies the event is not decoded: the event is encoded again and
// compared. Tokens of older servers are understood, and then not found.
func decodeToken(d value.Doc) (t tokenData, err error) {
	data := d.Lookup("_data")
	if data.Kind() != value.KindString {
		return t, mongoerr.Newf(40647, "Bad resume token: _data of missing or of wrong type. Expected string, got %s", d)
	}
	if bits := d.Lookup("_typeBits"); !bits.IsMissing() && !isGeneric(bits) {
		return t, mongoerr.Newf(40648, "Bad resume token: _typeBits of wrong type %s", d)
	}
	k, err := hex.DecodeString(data.Str())
	if err != nil {
		return t, mongoerr.New(mongoerr.FailedToParse, "resume token string was not a valid hex string")
	}
	if len(k) == 0 {
		return t, mongoerr.New(40649, "invalid empty resume token")
	}
	if len(k) < 9 || k[0] != keyTimestamp {
		return t, mongoerr.New(mongoerr.FailedToParse, "Bad resume token: it does not begin with a cluster time")
	}
	t.ts = binary.BigEndian.Uint64(k[1:])
	if err = t.readFields(&keyReader{k: k[9:]}); err != nil {
		return t, err
	}
	t.fragment = -1
	if f := d.Lookup("_fragment"); f.IsNumber() {
		t.fragment = int(f.TruncInt64())
	}
	return t, nil
}

func isGeneric(v value.Value) bool {
	if v.Kind() != value.KindBinary {
		return false
	}
	subtype, _ := v.Binary()
	return subtype == 0
}

// readFields reads what follows the time. Version 0 had neither a type nor
// fromInvalidate.
func (t *tokenData) readFields(r *keyReader) error {
	version := r.int(50796, "Resume Token does not contain version", 50854, "Invalid resume token: wrong type for version")
	if r.err == nil && version > tokenVersion {
		return mongoerr.New(50795, "Invalid Resume Token: only supports version 0, 1 and 2")
	}
	kind := int64(tokenEventBit)
	if version > 0 {
		kind = r.int(51055, "Resume Token does not contain tokenType", 51056, "Resume Token tokenType is not an int.")
		if r.err == nil && kind != tokenEventBit && kind != 0 {
			return mongoerr.Newf(51057, "Token type %d not recognized", kind)
		}
	}
	t.event = kind == tokenEventBit
	t.index = int(r.int(50793, "Resume Token does not contain txnOpIndex", 50855, "Resume Token txnOpIndex is not an integer"))
	if version > 0 {
		t.fromInvalidate = r.bool()
	}
	if r.err != nil || version < tokenVersion {
		return r.err
	}
	if r.ended() {
		return mongoerr.New(6189500, "Expected UUID or null")
	}
	r.skipUUID()
	switch {
	case !t.event && !r.ended():
		return mongoerr.New(6189504, "Invalid high water mark token")
	case t.event && r.ended():
		return mongoerr.New(6189501, "Expected an eventIdentifier for an event resume token")
	}
	return nil
}

// keyReader reads the beginning of a key, until something is wrong.
type keyReader struct {
	k   []byte
	err error
}

// ended reports whether there are no more fields.
func (r *keyReader) ended() bool { return len(r.k) == 0 || r.k[0] == keyEnd }

// fail says what is wrong with the next field: it is missing, or of a wrong
// type.
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
	case size < 1 || size > 8 || size >= len(r.k):
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
	size := 1
	if r.k[0] == keyBinary {
		size = min(3+16, len(r.k)) // type, length, subtype
	}
	r.k = r.k[size:]
}
