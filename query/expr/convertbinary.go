package expr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

const (
	uuidSubtype   = 4
	vectorSubtype = 9
	oldSubtype    = 2 // the subtype of the first drivers
)

// subtypeOf checks the subtype of the target: 0 to 9 are BSON's (9, vectors, since a later
// version), from 128 on the user's.
func (t target) subtypeOf() (byte, error) {
	if !t.subtype.IsNumber() {
		return 0, mongoerr.Newf(4341108, "For BinData, $convert's 'subtype' argument must be a number, but is %s", t.subtype.Kind())
	}
	n, ok := asInt32(t.subtype)
	if !ok {
		return 0, mongoerr.New(4341106, "In $convert, numeric 'subtype' argument is not an integer")
	}
	if (n < 0 || n > t.maxSubtype) && (n < 128 || n > 255) {
		return 0, mongoerr.Newf(4341107, "In $convert, numeric value for 'subtype' does not correspond to a BinData type: %d", n)
	}
	return byte(n), nil
}

func (t target) needFormat(from value.Kind) error {
	if t.format == "" {
		return mongoerr.Newf(4341115, "Format must be speficied when converting from '%s' to '%s'", from, t.kind)
	}
	return nil
}

// stringToBinary decodes a string in the given format. The format uuid is
// required for subtype 4, and allowed only for it.
func stringToBinary(v value.Value, t target) (value.Value, error) {
	if err := t.needFormat(value.KindString); err != nil {
		return value.Value{}, err
	}
	sub, err := t.subtypeOf()
	if err != nil {
		return value.Value{}, err
	}
	s := v.Str()
	if (t.format == "uuid") != (sub == uuidSubtype) {
		return failed("Failed to parse BinData '%s' in $convert with no onError value: Only the 'uuid' format is allowed with the UUID subtype", s)
	}
	data, why := decodeBinary(s, t.format)
	if why != "" {
		return failed("Failed to parse BinData '%s' in $convert with no onError value: %s", s, why)
	}
	return value.Binary(sub, data), nil
}

// numberBytes is the table of conversions between numbers and their bytes, in the given
// byte order.
var numberBytes = map[value.Kind]row{
	value.KindInt32:  {value.KindBinary: numberToBinary},
	value.KindInt64:  {value.KindBinary: numberToBinary},
	value.KindDouble: {value.KindBinary: numberToBinary},
	value.KindBinary: {value.KindInt32: binaryToInt, value.KindInt64: binaryToLong, value.KindDouble: binaryToDouble},
}

// numberToBinary is the value of a number as BSON has it.
func numberToBinary(v value.Value, t target) (value.Value, error) {
	sub, err := t.subtypeOf()
	if err != nil {
		return value.Value{}, err
	}
	return value.Binary(sub, t.ordered(value.AppendPayload(nil, v))), nil
}

// ordered changes bytes from little-endian to the target's order, or back, in place.
func (t target) ordered(b []byte) []byte {
	if t.big {
		slices.Reverse(b)
	}
	return b
}

func binaryToInt(v value.Value, t target) (value.Value, error) {
	n, err := integerOf(v, t, 4)
	return value.Int32(int32(n)), err
}

func binaryToLong(v value.Value, t target) (value.Value, error) {
	n, err := integerOf(v, t, 8)
	return value.Int64(n), err
}

// integerOf reads an integer of 1, 2, 4 or 8 bytes, but at most limit.
func integerOf(v value.Value, t target, limit int) (int64, error) {
	_, data := storedBinary(v)
	switch b := t.ordered(slices.Clone(data)); {
	case len(b) > limit:
	case len(b) == 1:
		return int64(int8(b[0])), nil
	case len(b) == 2:
		return int64(int16(binary.LittleEndian.Uint16(b))), nil
	case len(b) == 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), nil
	case len(b) == 8:
		return int64(binary.LittleEndian.Uint64(b)), nil
	}
	return 0, wrongLength(v, len(data))
}

// binaryToDouble reads a float of 4 or 8 bytes.
func binaryToDouble(v value.Value, t target) (value.Value, error) {
	_, data := storedBinary(v)
	switch b := t.ordered(slices.Clone(data)); len(b) {
	case 4:
		return value.Double(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), nil
	case 8:
		return value.Double(math.Float64frombits(binary.LittleEndian.Uint64(b))), nil
	}
	return value.Value{}, wrongLength(v, len(data))
}

func wrongLength(v value.Value, n int) error {
	return mongoerr.Newf(mongoerr.ConversionFailure, "Failed to convert '%s' to number in $convert because of invalid length: %d", v, n)
}

// decodeBinary reads binary data; why is not empty if that fails.
func decodeBinary(s, format string) (data []byte, why string) {
	var err error
	switch format {
	case "base64":
		if data, err = base64.StdEncoding.Strict().DecodeString(s); err != nil || strings.ContainsAny(s, "\r\n") {
			return nil, "Not a valid base64 string"
		}
	case "base64url":
		if data, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")); err != nil {
			return nil, "Not a valid base64 string"
		}
	case "hex":
		if data, err = hex.DecodeString(s); err != nil {
			return nil, "Invalid hex data"
		}
	case "utf8":
		if !utf8.ValidString(s) {
			return nil, "Invalid UTF-8: " + s
		}
		data = []byte(s)
	case "uuid":
		if data = parseUUID(s); data == nil {
			return nil, "Invalid UUID string: " + s
		}
	default:
		return nil, "Invalid format '" + format + "'"
	}
	return data, ""
}

func parseUUID(s string) []byte {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return nil
	}
	b, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	if err != nil {
		return nil
	}
	return b
}

func formatUUID(b []byte) string {
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// binaryToString encodes binary data in the given format; auto means UUID for
// subtype 4 and base64 otherwise.
func binaryToString(v value.Value, t target) (value.Value, error) {
	if err := t.needFormat(value.KindBinary); err != nil {
		return value.Value{}, err
	}
	sub, data := storedBinary(v)
	isUUID := sub == uuidSubtype && len(data) == 16
	why := ""
	if err := checkString(textLength(t.format, isUUID, len(data))); err != nil {
		if t.format == "utf8" {
			return value.Value{}, err
		}
		return failed("Failed to convert BinData to string in $convert with no onError value: %s", mongoerr.From(err).Message)
	}
	switch t.format {
	case "auto", "uuid":
		if isUUID {
			return value.String(formatUUID(data)), nil
		}
		if t.format == "auto" {
			return value.String(base64.StdEncoding.EncodeToString(data)), nil
		}
		why = "BinData does not represent a valid UUID"
	case "base64":
		return value.String(base64.StdEncoding.EncodeToString(data)), nil
	case "base64url":
		return value.String(base64.RawURLEncoding.EncodeToString(data)), nil
	case "hex":
		return value.String(strings.ToUpper(hex.EncodeToString(data))), nil
	case "utf8":
		if utf8.Valid(data) {
			return value.String(string(data)), nil
		}
		why = "BinData does not represent a valid UTF-8 string"
	}
	return failed("Failed to convert '%s' to string in $convert with no onError value: %s", v, why)
}

// storedBinary returns the bytes as BSON has them: those of the old subtype begin with their
// length.
func storedBinary(v value.Value) (sub byte, data []byte) {
	sub, data = v.Binary()
	if sub == oldSubtype {
		data = append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
	}
	return sub, data
}

// textLength returns the length of n bytes as text.
func textLength(format string, isUUID bool, n int) int {
	switch {
	case format == "utf8" || format == "uuid" || format == "auto" && isUUID:
		return n
	case format == "hex":
		return 2 * n
	}
	return base64.StdEncoding.EncodedLen(n)
}

func binaryToBinary(v value.Value, t target) (value.Value, error) {
	sub, err := t.subtypeOf()
	if err != nil {
		return value.Value{}, err
	}
	if have, _ := v.Binary(); have != sub {
		return failed("Conversions between different BinData subtypes are not supported")
	}
	return v, nil
}
