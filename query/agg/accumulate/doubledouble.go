package accumulate

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/query/expr/exact"
	"github.com/duskdb/duskdb/value"
)

// DoubleDouble is a sum of doubles and integers, kept together with its rounding error.
// It has at least 106 bits, so that sums of longs are exact where a double would lose
// digits.
type DoubleDouble struct {
	pair    exact.Pair
	special float64 // plain sum, right where NaN or an infinity took part
}

// AddDouble adds x.
func (d *DoubleDouble) AddDouble(x float64) {
	d.special += x
	d.pair = d.pair.Plus(x)
}

// AddInt64 adds n without loss: longs that a double cannot hold are added in
// two halves.
func (d *DoubleDouble) AddInt64(n int64) {
	const whole = 1 << 53
	if n >= -whole && n <= whole {
		d.AddDouble(float64(n))
		return
	}
	high := n >> 32 << 32
	d.AddDouble(float64(n - high))
	d.AddDouble(float64(high))
}

// AddPair adds another sum.
func (d *DoubleDouble) AddPair(o DoubleDouble) {
	special := d.special + o.special
	d.AddDouble(o.pair.Hi)
	d.AddDouble(o.pair.Lo)
	d.special = special
}

// Double is the sum rounded to a double.
func (d *DoubleDouble) Double() float64 {
	if math.IsNaN(d.pair.Hi) || math.IsInf(d.pair.Hi, 0) {
		return d.special
	}
	return d.pair.Hi
}

// Int64 is the sum if it is a whole number that fits a long.
func (d *DoubleDouble) Int64() (int64, bool) {
	if math.IsNaN(d.pair.Hi) || math.Abs(d.pair.Hi) > 1<<63 {
		return 0, false
	}
	if math.Abs(d.pair.Hi) < 1<<62 {
		return int64(d.pair.Hi) + int64(d.pair.Lo), true
	}
	x, _ := new(big.Float).SetPrec(256).SetFloat64(d.pair.Hi).Int(nil)
	y, _ := new(big.Float).SetPrec(256).SetFloat64(d.pair.Lo).Int(nil)
	x.Add(x, y)
	return x.Int64(), x.IsInt64()
}

// Decimal is the sum rounded to 34 digits.
func (d *DoubleDouble) Decimal() value.Decimal {
	switch {
	case math.IsNaN(d.pair.Hi), math.IsInf(d.pair.Hi, 0):
		return value.DecimalFromDouble(d.special)
	case d.pair.Hi == 0 && d.pair.Lo == 0:
		return value.DecimalZero
	}
	x := new(big.Float).SetPrec(256).SetFloat64(d.pair.Hi)
	x.Add(x, new(big.Float).SetPrec(256).SetFloat64(d.pair.Lo))
	a, _, err := apd.NewFromString(x.Text('g', 50))
	if err != nil {
		return value.DecimalFromDouble(d.Double())
	}
	a.Reduce(a)
	return value.DecimalFromApd(a)
}

// parts writes the state into a partial.
func (d *DoubleDouble) parts() []value.Value {
	return []value.Value{value.Double(d.pair.Hi), value.Double(d.pair.Lo), value.Double(d.special)}
}

func doubleDoubleFrom(a value.Doc) DoubleDouble {
	return DoubleDouble{pair: exact.Pair{Hi: a.Index(0).Double(), Lo: a.Index(1).Double()}, special: a.Index(2).Double()}
}
