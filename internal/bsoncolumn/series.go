package bsoncolumn

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// series is the state of decoding the values of one field.
type series struct {
	last  value.Value // the last one that was not missing
	words words
	// hi and lo are the last value as a number of 128 bits. For what is stored by
	// differences of differences, they are the last difference, and base the value.
	hi, lo uint64
	base   uint64
	scale  int // scale of doubles: an index of scales, or asBits
}

// scales are the factors that make doubles integers; asBits stands for the bits of
// the double.
var scales = [...]float64{1, 10, 100, 10000, 100000000}

const asBits = len(scales)

// largestInteger is the end of the range in which doubles are exact integers.
const largestInteger = 1 << 53

// twice reports whether values of a type are stored by differences of differences.
func twice(k value.Kind) bool {
	return k == value.KindDateTime || k == value.KindTimestamp || k == value.KindObjectID
}

// wide reports whether values of a type are numbers of 128 bits.
func wide(k value.Kind) bool {
	return k == value.KindDecimal || k == value.KindBinary || k == value.KindString || k == value.KindCode
}

// literal begins again with a value that is stored as it is.
func (s *series) literal(v value.Value) {
	*s = series{last: v}
	b := value.AppendPayload(nil, v)
	switch v.Kind() {
	case value.KindString, value.KindCode:
		if text := b[4 : len(b)-1]; len(text) <= 16 {
			text = slices.Clone(text)
			slices.Reverse(text)
			s.hi, s.lo = number(text)
		}
	case value.KindBinary:
		if data := b[5:]; len(data) <= 16 {
			s.hi, s.lo = number(data)
		}
	case value.KindDecimal:
		s.hi, s.lo = number(b)
	case value.KindInt32:
		s.lo = uint64(int64(v.Int32()))
	case value.KindBool:
		s.lo = uint64(b[0])
	case value.KindInt64:
		s.lo = binary.LittleEndian.Uint64(b)
	case value.KindDateTime, value.KindTimestamp:
		s.base = binary.LittleEndian.Uint64(b)
	case value.KindObjectID:
		s.base = orderedID(b)
	}
}

// number reads up to 16 bytes, the lowest first.
func number(b []byte) (hi, lo uint64) {
	var whole [16]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[8:]), binary.LittleEndian.Uint64(whole[:])
}

// idOrder are the bytes of an ObjectId that count, the lowest first: those of the
// counter and of the time in turns.
var idOrder = [...]int{11, 3, 10, 2, 9, 1, 0}

func orderedID(id []byte) (n uint64) {
	for i, at := range idOrder {
		n |= uint64(id[at]) << (8 * i)
	}
	return n
}

// begin starts a sequence of words, whose control byte says the scale.
func (s *series) begin(control byte, data []byte) error {
	switch high := int(control >> 4); {
	case high == 8:
		s.scale = asBits
	case high >= 9 && high <= 13:
		s.scale = high - 9
	default:
		return errColumn
	}
	if s.last.Kind() == value.KindDouble {
		n, ok := encodeDouble(s.last.Double(), s.scale)
		if !ok {
			return errColumn
		}
		s.lo = n
	} else if s.scale != asBits {
		return errColumn
	}
	s.words = words{rest: data, last: s.words.last}
	return nil
}

// encodeDouble converts a double to an integer of a scale.
func encodeDouble(v float64, scale int) (n uint64, ok bool) {
	if scale == asBits {
		return math.Float64bits(v), true
	}
	scaled := v * scales[scale]
	if !(math.Abs(scaled) <= largestInteger) {
		return 0, false
	}
	i := int64(math.Round(scaled))
	return uint64(i), math.Float64bits(float64(i)/scales[scale]) == math.Float64bits(v)
}

// next reads a value, which may be missing; more is false at the end of the words.
func (s *series) next() (v value.Value, more bool, err error) {
	delta, more, err := s.words.next(wide(s.last.Kind()))
	if err != nil || !more || delta.missing || s.last.IsMissing() {
		return value.Value{}, more, err
	}
	k := s.last.Kind()
	if delta.hi == 0 && delta.lo == 0 && !twice(k) {
		return s.last, true, nil
	}
	hi, lo := delta.difference()
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
	s.base += s.lo
	if s.last, err = s.value(k); err != nil {
		return value.Value{}, false, err
	}
	return s.last, true, nil
}

// value converts the number to a value of the type of the last one.
func (s *series) value(k value.Kind) (value.Value, error) {
	switch k {
	case value.KindDouble:
		if s.scale == asBits {
			return value.Double(math.Float64frombits(s.lo)), nil
		}
		return value.Double(float64(int64(s.lo)) / scales[s.scale]), nil
	case value.KindInt32:
		return value.Int32(int32(s.lo)), nil
	case value.KindInt64:
		return value.Int64(int64(s.lo)), nil
	case value.KindBool:
		return value.Bool(s.lo != 0), nil
	case value.KindDateTime:
		return value.DateTime(int64(s.base)), nil
	case value.KindTimestamp:
		return value.Timestamp(uint32(s.base>>32), uint32(s.base)), nil
	case value.KindObjectID:
		id := s.last.ObjectID()
		for i, at := range idOrder {
			id[at] = byte(s.base >> (8 * i))
		}
		return value.ObjectID(id), nil
	}
	return s.wideValue(k)
}

// wideValue is value for the types whose numbers have 128 bits.
func (s *series) wideValue(k value.Kind) (value.Value, error) {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, s.lo), s.hi)
	switch k {
	case value.KindString, value.KindCode:
		for len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		slices.Reverse(b)
		if k == value.KindCode {
			return value.Code(string(b)), nil
		}
		return value.String(string(b)), nil
	case value.KindBinary:
		payload := value.AppendPayload(nil, s.last)
		if len(payload)-5 > len(b) {
			return value.Value{}, errColumn
		}
		copy(payload[5:], b)
		return read(k, payload)
	case value.KindDecimal:
		return read(k, b)
	}
	return value.Value{}, errColumn // only equal values can follow a value of this type
}

// read reads a value whose payload is at the start of b.
func read(k value.Kind, b []byte) (value.Value, error) {
	n, err := value.ValidatePayload(k, b)
	if err != nil {
		return value.Value{}, err
	}
	return value.Unmarshal(append([]byte{byte(k)}, b[:n]...)), nil
}
