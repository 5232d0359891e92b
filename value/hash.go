package value

import (
	"crypto/md5"
	"encoding/binary"
	"math"
)

// HashedKey is the 64-bit hash that hashed indexes store, the same as
// MongoDB's: the first half of an MD5 over the value with all numbers
// truncated to whole ones. A missing value hashes as null.
func HashedKey(v Value) int64 {
	if v.kind == Missing {
		v = Null()
	}
	var stack [128]byte
	b := binary.LittleEndian.AppendUint32(stack[:0], 0) // the seed
	sum := md5.Sum(appendHashed(b, v, nil))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// appendHashed writes what is hashed of a value: its place in the order of
// types, its name with a NUL inside a document, and its bytes.
func appendHashed(dst []byte, v Value, name []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(hashedType(v.kind)))
	if name != nil {
		dst = append(append(dst, name...), 0)
	}
	switch v.kind {
	case KindInt32, KindInt64, KindDouble, KindDecimal:
		return binary.LittleEndian.AppendUint64(dst, uint64(hashedNumber(v)))
	case KindDocument, KindArray:
		return appendHashedDoc(dst, v.b)
	case KindCodeScope:
		code, scope := v.CodeScope()
		return appendHashedDoc(append(append(dst, code...), 0), scope)
	}
	return AppendPayload(dst, v)
}

func appendHashedDoc(dst []byte, d Doc) []byte {
	it := d.Iter()
	for it.Next() {
		dst = appendHashed(dst, it.Value(), it.key)
	}
	return append(dst, 0, 0, 0, 0) // the end has type 0
}

func hashedType(k Kind) int32 {
	switch k {
	case KindMinKey:
		return -1
	case KindUndefined:
		return 0
	}
	return int32(kinds[k].rank)
}

// hashedNumber truncates a number to a whole one within the range of a long;
// NaN becomes 0.
func hashedNumber(v Value) int64 {
	if v.IsNaN() {
		return 0
	}
	if v.kind == KindDouble {
		switch f := v.Double(); {
		case f >= 1<<63:
			return math.MaxInt64
		case f < -(1 << 63):
			return math.MinInt64
		}
	}
	return v.TowardZeroInt64()
}
