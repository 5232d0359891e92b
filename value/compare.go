package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
)

// Collator orders strings by a language. A nil Collator stands for MongoDB's
// simple binary comparison.
type Collator interface {
	// Compare returns <0, 0 or >0.
	Compare(a, b string) int
	// AppendKey appends bytes whose order agrees with Compare.
	AppendKey(dst []byte, s string) []byte
}

// Compare orders any two values as MongoDB sorts them: first by type (MinKey,
// missing and undefined, null, numbers, strings, objects, arrays, binary,
// ObjectId, bool, date, timestamp, regex, …, MaxKey), then by value. The four
// number types compare by exact mathematical value, NaN below all others.
// Objects compare element by element: type, then name, then value.
func Compare(a, b Value) int { return CompareWith(a, b, nil) }

// Equal reports whether Compare finds no difference.
func Equal(a, b Value) bool { return CompareWith(a, b, nil) == 0 }

// Identical reports whether a and b have the same type and the same bytes.
func Identical(a, b Value) bool {
	return a.kind == b.kind && a.sub == b.sub && a.num == b.num && bytes.Equal(a.b, b.b)
}

// CompareWith is Compare with strings ordered by c.
func CompareWith(a, b Value, c Collator) int {
	if d := cmp.Compare(kinds[a.kind].rank, kinds[b.kind].rank); d != 0 {
		return d
	}
	switch a.kind {
	case KindInt32, KindInt64, KindDouble, KindDecimal:
		return compareNumbers(a, b)
	case KindString, KindSymbol:
		if c != nil {
			return c.Compare(bytesString(a.b), bytesString(b.b))
		}
		return bytes.Compare(a.b, b.b)
	case KindDocument, KindArray:
		return CompareDocs(a.b, b.b, c)
	case KindBinary:
		return cmp.Or(cmp.Compare(a.binarySize(), b.binarySize()), cmp.Compare(a.sub, b.sub), bytes.Compare(a.b, b.b))
	case KindObjectID, KindCode, KindRegex:
		return bytes.Compare(a.b, b.b)
	case KindBool, KindTimestamp:
		return cmp.Compare(a.num, b.num)
	case KindDateTime:
		return cmp.Compare(int64(a.num), int64(b.num))
	case KindDBPointer:
		return compareDBPointers(a.b, b.b)
	case KindCodeScope:
		ca, sa := a.CodeScope()
		cb, sb := b.CodeScope()
		return cmp.Or(cmp.Compare(ca, cb), CompareDocs(sa, sb, nil))
	}
	return 0 // null, undefined, missing, MinKey, MaxKey
}

func compareDBPointers(a, b []byte) int {
	return cmp.Or(cmp.Compare(binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)), bytes.Compare(a[4:], b[4:]))
}

// CompareDocs orders two documents element by element. For arrays the names
// are the positions and so always agree.
func CompareDocs(a, b Doc, c Collator) int {
	ia, ib := a.Iter(), b.Iter()
	for {
		na, nb := ia.Next(), ib.Next()
		if !na || !nb {
			return boolCompare(na, nb)
		}
		if d := cmp.Compare(kinds[ia.kind].rank, kinds[ib.kind].rank); d != 0 {
			return d
		}
		if d := bytes.Compare(ia.key, ib.key); d != 0 {
			return d
		}
		if d := CompareWith(ia.Value(), ib.Value(), c); d != 0 {
			return d
		}
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareNumbers compares exactly, without going through a lossy type.
func compareNumbers(a, b Value) int {
	aInt, bInt := a.kind == KindInt32 || a.kind == KindInt64, b.kind == KindInt32 || b.kind == KindInt64
	switch {
	case aInt && bInt:
		return cmp.Compare(int64(a.num), int64(b.num))
	case a.kind == KindDecimal || b.kind == KindDecimal:
		return compareDecimals(a, b)
	case aInt:
		return -compareDoubleInt(b.Double(), int64(a.num))
	case bInt:
		return compareDoubleInt(a.Double(), int64(b.num))
	}
	return cmp.Compare(a.Double(), b.Double()) // NaN first, -0 == 0
}

func compareDoubleInt(f float64, n int64) int {
	switch {
	case math.IsNaN(f) || f < -(1<<63):
		return -1
	case f >= 1<<63:
		return 1
	}
	whole := int64(f)
	return cmp.Or(cmp.Compare(whole, n), cmp.Compare(f, math.Trunc(f)))
}

func compareDecimals(a, b Value) int {
	if d := cmp.Compare(numberClass(a), numberClass(b)); d != 0 {
		return d
	}
	if c := numberClass(a); c != classNegative && c != classPositive {
		return 0
	}
	if a.kind == KindDecimal && b.kind == KindDecimal && a.Decimal() == b.Decimal() {
		return 0
	}
	return exactMagnitude(a).compare(exactMagnitude(b))
}

// magnitude is an exact finite number: m * 10^exp.
type magnitude struct {
	m   *big.Int
	exp int
}

// exactMagnitude converts a finite number exactly.
func exactMagnitude(v Value) magnitude {
	switch v.kind {
	case KindInt32, KindInt64:
		return magnitude{big.NewInt(v.Int64()), 0}
	case KindDouble:
		d := exactDecimal(v.Double())
		m := d.Coeff.MathBigInt()
		if d.Negative {
			m = new(big.Int).Neg(m)
		}
		return magnitude{m, int(d.Exponent)}
	}
	d := v.Decimal()
	hi, lo, exp := d.coefficient()
	m := new(big.Int).SetUint64(hi)
	m.Lsh(m, 64).Or(m, new(big.Int).SetUint64(lo))
	if d.Negative() {
		m.Neg(m)
	}
	return magnitude{m, exp}
}

// compare first compares the number of digits, so that very different
// exponents do not create huge integers.
func (a magnitude) compare(b magnitude) int {
	sa, sb := a.m.Sign(), b.m.Sign()
	if sa != sb || sa == 0 {
		return cmp.Compare(sa, sb)
	}
	if d := cmp.Compare(a.adjusted(), b.adjusted()); d != 0 {
		return d * sa
	}
	x, y := a.m, b.m
	ten := big.NewInt(10)
	if a.exp > b.exp {
		x = new(big.Int).Mul(x, new(big.Int).Exp(ten, big.NewInt(int64(a.exp-b.exp)), nil))
	} else if b.exp > a.exp {
		y = new(big.Int).Mul(y, new(big.Int).Exp(ten, big.NewInt(int64(b.exp-a.exp)), nil))
	}
	return x.Cmp(y)
}

// adjusted returns the exponent of the first digit.
func (a magnitude) adjusted() int {
	return len(new(big.Int).Abs(a.m).String()) - 1 + a.exp
}
