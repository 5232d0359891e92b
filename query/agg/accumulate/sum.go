package accumulate

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// total is what $sum and $avg share: a sum by number type.
type total struct {
	whole   int64 // exact sum of ints and longs that binary does not have yet
	binary  DoubleDouble
	decimal value.Decimal
	kind    value.Kind // widest seen; int to begin with
}

func newTotal() total { return total{decimal: value.DecimalZero, kind: value.KindInt32} }

// add adds a number. It returns false if v is not a number.
func (t *total) add(v value.Value) bool {
	switch k := v.Kind(); k {
	case value.KindInt32, value.KindInt64:
		t.addInt64(v.Int64())
		t.widen(k)
	case value.KindDouble:
		t.flush()
		t.binary.AddDouble(v.Double())
		t.widen(k)
	case value.KindDecimal:
		sum, _ := value.Add(value.DecimalValue(t.decimal), v)
		t.decimal = sum.Decimal()
		t.kind = k
	default:
		return false
	}
	return true
}

// addInt64 adds a whole number. Successive ones are added as longs, as long as that is
// exact.
func (t *total) addInt64(n int64) {
	sum := t.whole + n
	if (t.whole^sum)&(n^sum) < 0 { // overflow
		t.binary.AddInt64(t.whole)
		sum = n
	}
	t.whole = sum
}

// flush moves the sum of whole numbers to the others.
func (t *total) flush() {
	if t.whole != 0 {
		t.binary.AddInt64(t.whole)
		t.whole = 0
	}
}

// widen moves the result type up: int, long, double, decimal.
func (t *total) widen(k value.Kind) {
	switch {
	case t.kind == value.KindDecimal || t.kind == k || k == value.KindInt32:
	case t.kind == value.KindDouble && k == value.KindInt64:
	default:
		t.kind = k
	}
}

// sum is the sum in its type; ints and longs that overflow widen.
func (t *total) sum() value.Value {
	t.flush()
	switch t.kind {
	case value.KindInt32, value.KindInt64:
		if n, ok := t.binary.Int64(); ok {
			if t.kind == value.KindInt32 {
				return value.Int(n)
			}
			return value.Int64(n)
		}
	case value.KindDecimal:
		return value.DecimalValue(t.decimalSum())
	}
	return value.Double(t.binary.Double())
}

func (t *total) decimalSum() value.Decimal {
	t.flush()
	sum, _ := value.Add(value.DecimalValue(t.decimal), value.DecimalValue(t.binary.Decimal()))
	return sum.Decimal()
}

func (t *total) partial(more ...value.Value) value.Value {
	t.flush()
	parts := append(t.binary.parts(), value.DecimalValue(t.decimal), value.Int32(int32(t.kind)))
	return value.NewArray(append(parts, more...)...)
}

func (t *total) merge(p value.Doc) {
	t.flush()
	t.binary.AddPair(doubleDoubleFrom(p))
	sum, _ := value.Add(value.DecimalValue(t.decimal), p.Index(3))
	t.decimal = sum.Decimal()
	t.widen(value.Kind(p.Index(4).Int32()))
}

// Sum is $sum: numbers are added, everything else is ignored.
type Sum struct{ t total }

// NewSum makes a $sum.
func NewSum() *Sum { return &Sum{newTotal()} }

// Add adds a number.
func (s *Sum) Add(v value.Value) error { s.t.add(v); return nil }

// AddTimes adds a number n times.
func (s *Sum) AddTimes(v value.Value, n int64) error {
	const most = 1 << 30 // keeps the product within a long
	k := v.Kind()
	if (k == value.KindInt32 || k == value.KindInt64) && v.Int64() < most && v.Int64() > -most && n < most {
		s.t.addInt64(v.Int64() * n)
		s.t.widen(k)
		return nil
	}
	for range n {
		s.t.add(v)
	}
	return nil
}

// Result is the sum, int 0 if there was no number.
func (s *Sum) Result() value.Value { return s.t.sum() }

// Size is the memory held.
func (s *Sum) Size() int { return overhead }

// Partial is the state for Merge.
func (s *Sum) Partial() value.Value { return s.t.partial() }

// Merge adds another sum.
func (s *Sum) Merge(p value.Value) error { s.t.merge(p.Doc()); return nil }

// Count is $count: {$sum: 1}.
type Count struct{ n int64 }

// NewCount makes a $count.
func NewCount() *Count { return &Count{} }

// Add counts one more value of any type.
func (c *Count) Add(value.Value) error { c.n++; return nil }

// AddTimes counts n documents.
func (c *Count) AddTimes(_ value.Value, n int64) error { c.n += n; return nil }

// Result is the count: int, or long if it does not fit.
func (c *Count) Result() value.Value { return value.Int(c.n) }

// Size is the memory held.
func (c *Count) Size() int { return overhead }

// Partial is the state for Merge.
func (c *Count) Partial() value.Value { return value.Int64(c.n) }

// Merge adds another count.
func (c *Count) Merge(p value.Value) error { c.n += p.Int64(); return nil }

// Avg is $avg: the mean of the numbers, null without numbers.
type Avg struct {
	t total
	n int64
}

// NewAvg makes an $avg.
func NewAvg() *Avg { return &Avg{t: newTotal()} }

// Add takes a number.
func (a *Avg) Add(v value.Value) error {
	if a.t.add(v) {
		a.n++
	}
	return nil
}

// Result is the mean: a decimal if any number was one, else a double.
func (a *Avg) Result() value.Value {
	if a.n == 0 {
		return value.Null()
	}
	a.t.flush()
	if a.t.kind == value.KindDecimal {
		return value.DecimalValue(a.t.decimalSum().Div(value.DecimalFromInt64(a.n)))
	}
	if n, ok := a.t.binary.Int64(); ok && a.t.kind != value.KindDouble {
		return value.Double(float64(n) / float64(a.n))
	}
	return value.Double(a.t.binary.Double() / float64(a.n))
}

// Size is the memory held.
func (a *Avg) Size() int { return overhead }

// Partial is the state for Merge.
func (a *Avg) Partial() value.Value { return a.t.partial(value.Int64(a.n)) }

// Merge adds another mean's sum and count.
func (a *Avg) Merge(p value.Value) error {
	a.t.merge(p.Doc())
	a.n += p.Doc().Index(5).Int64()
	return nil
}

// StdDev is $stdDevPop and $stdDevSamp by Welford's method: one pass, and
// stable where the mean is far from zero.
type StdDev struct {
	sample   bool
	n        int64
	mean, m2 float64
}

// NewStdDev makes a $stdDevPop or, if sample is set, a $stdDevSamp.
func NewStdDev(sample bool) *StdDev { return &StdDev{sample: sample} }

// Add takes a number.
func (s *StdDev) Add(v value.Value) error {
	if !v.IsNumber() {
		return nil
	}
	x := v.AsDouble()
	s.n++
	delta := x - s.mean
	s.mean += delta / float64(s.n)
	s.m2 += delta * (x - s.mean)
	return nil
}

// Result is the deviation, null if there are too few numbers.
func (s *StdDev) Result() value.Value {
	divisor := s.n
	if s.sample {
		divisor--
	}
	if divisor <= 0 {
		return value.Null()
	}
	return value.Double(math.Sqrt(s.m2 / float64(divisor)))
}

// WindowResult returns the deviation of a window that loses documents. MongoDB computes
// it in another way: NaN or an infinity makes it null, and for a single number it is an
// int.
func (s *StdDev) WindowResult() value.Value {
	r := s.Result()
	switch {
	case r.IsNaN() || math.IsInf(r.AsDouble(), 0):
		return value.Null()
	case s.n == 1 && !s.sample:
		return value.Int32(0)
	}
	return r
}

// Size is the memory held.
func (s *StdDev) Size() int { return overhead }

// Partial is the state for Merge.
func (s *StdDev) Partial() value.Value {
	return value.NewArray(value.Double(s.m2), value.Double(s.mean), value.Int64(s.n))
}

// Merge joins two samples (Chan's formula).
func (s *StdDev) Merge(p value.Value) error {
	m2, mean, n := p.Doc().Index(0).Double(), p.Doc().Index(1).Double(), p.Doc().Index(2).Int64()
	if n == 0 {
		return nil
	}
	delta := mean - s.mean
	all := s.n + n
	s.mean = (float64(s.n)*s.mean + float64(n)*mean) / float64(all)
	s.m2 += m2 + delta*delta*float64(s.n)*float64(n)/float64(all)
	s.n = all
	return nil
}
