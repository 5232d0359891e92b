package token

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Decode reads the fields of a token that position a stream. It skips the part that
// identifies the event, which is compared by encoding the event again. Tokens of older
// servers can be decoded, but their events are not found.
func Decode(d value.Doc) (t Token, err error) {
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
	if k, err = WholeValues(k); err != nil {
		return t, err
	}
	if len(k) == 0 {
		return t, mongoerr.New(40649, "invalid empty resume token")
	}
	r := &keyReader{k: k}
	if k[0] == keyTimestamp { // without a timestamp the time is 0, as in mongod
		t.TS = binary.BigEndian.Uint64(k[1:])
	}
	r.skipValue(maxKeyDepth)
	return t, t.readFields(r)
}

// WholeValues returns the bytes of a key up to its end marker, which may be missing. It
// ignores bytes after the marker. It refuses a value that is cut off or of an unknown
// type.
func WholeValues(k []byte) ([]byte, error) {
	r := &keyReader{k: k}
	for !r.ended() {
		r.skipValue(maxKeyDepth)
		if r.err != nil {
			return nil, r.err
		}
	}
	return k[:len(k)-len(r.k)], nil
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
func (t *Token) readFields(r *keyReader) error {
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
	t.Event = kind == tokenEventBit
	t.Index = int(r.int(50793, "Resume Token does not contain txnOpIndex", 50855, "Resume Token txnOpIndex is not an integer"))
	if version > 0 {
		t.FromInvalidate = r.bool()
	}
	if r.err != nil || version < tokenVersion {
		return r.err
	}
	if r.ended() {
		return mongoerr.New(6189500, "Expected UUID or null")
	}
	r.skipUUID()
	switch {
	case r.err != nil:
		return r.err
	case !t.Event && !r.ended():
		return mongoerr.New(6189504, "Invalid high water mark token")
	case t.Event && r.ended():
		return mongoerr.New(6189501, "Expected an eventIdentifier for an event resume token")
	case !t.Event:
		return nil
	case r.k[0] != keyObject:
		return mongoerr.New(6189503, "Resume Token eventIdentifier is not an object")
	}
	r.skipValue(maxKeyDepth)
	if r.err == nil && !r.ended() {
		const text = "Resume token 'fragmentNum' must be a non-negative integer."
		t.Fragment = int(r.int(7182501, text, 7182501, text)) + 1
	}
	if r.err == nil && !r.ended() {
		return mongoerr.New(40646, "invalid oversized resume token")
	}
	return r.err
}
