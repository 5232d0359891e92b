package agg

import (
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// The window operators that calculate with the sort value or with pairs.

// millis is a date-like value as a long of milliseconds; numbers stay.
func millis(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindDateTime:
		return value.Int64(v.DateTime())
	case value.KindTimestamp:
		t, _ := v.Timestamp()
		return value.Int64(int64(t) * 1000)
	case value.KindObjectID:
		return value.Int64(int64(v.ObjectID().Seconds()) * 1000)
	}
	return v
}

// minus is a - b; dates give milliseconds. A long that overflows becomes a
// double.
func minus(a, b value.Value) value.Value {
	a, b = millis(a), millis(b)
	neg, ok := value.Mul(b, value.Int32(-1))
	if ok {
		if d, ok := value.Add(a, neg); ok {
			return d
		}
	}
	return value.Double(a.AsDouble() - b.AsDouble())
}

// quotient is a / b: a decimal if one of them is, else a double. ok is false
// where b is zero.
func quotient(a, b value.Value) (value.Value, bool) {
	if a.Kind() == value.KindDecimal || b.Kind() == value.KindDecimal {
		if b.AsDecimal().IsZero() {
			return value.Null(), false
		}
		return value.DecimalValue(accumulate.Divide(a.AsDecimal(), b.AsDecimal())), true
	}
	if b.AsDouble() == 0 {
		return value.Null(), false
	}
	return value.Double(a.AsDouble() / b.AsDouble()), true
}

func evalDerivative(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(in))
	for i := range in {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return nil, err
		}
		if w.from >= w.to {
			out[i] = value.Null()
			continue
		}
		if out[i], err = f.derivative(in[w.from], in[w.to-1], pt.times[w.from], pt.times[w.to-1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// derivative is the slope between two points; null if they coincide.
func (f *windowFunction) derivative(y1, y2, t1, t2 value.Value) (value.Value, error) {
	dates := t1.Kind() == value.KindDateTime && t2.Kind() == value.KindDateTime
	switch {
	case f.unit.name != "" && !dates:
		return y1, mongoerr.New(5624900, "$derivative with 'unit' expects the sortBy field to be a Date")
	case f.unit.name != "":
	case t1.Kind() == value.KindDateTime || t2.Kind() == value.KindDateTime:
		return y1, mongoerr.New(5624901, "$derivative where the sortBy is a Date requires an 'unit'")
	case !t1.IsNumber() || !t2.IsNumber():
		return y1, mongoerr.New(5624902, "$derivative (with no 'unit') expects the sortBy field to be numeric")
	}
	if y1.IsNullish() || y2.IsNullish() {
		return y1, mongoerr.New(5624903, "$derivative input must not be null or missing")
	}
	for _, y := range []value.Value{y1, y2} {
		if !y.IsNumber() && y.Kind() != value.KindDateTime {
			return y1, mongoerr.Newf(mongoerr.TypeMismatch, "can't $subtract %s from %s", y1.Kind(), y2.Kind())
		}
	}
	rate, ok := quotient(minus(y2, y1), minus(t2, t1))
	if !ok {
		return value.Null(), nil
	}
	if f.unit.name != "" {
		rate, _ = value.Mul(rate, value.Int64(f.unit.millis))
	}
	return rate, nil
}

func evalIntegral(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	areas, err := f.areas(in, pt.times)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(in))
	for i := range in {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return nil, err
		}
		if w.from >= w.to {
			out[i] = value.Null()
			continue
		}
		sum := value.Int32(0)
		for j := w.from + 1; j < w.to; j++ {
			sum, _ = value.Add(sum, areas[j])
			if err := pt.x.tick(); err != nil {
				return nil, err
			}
		}
		if f.unit.name != "" {
			sum, _ = quotient(sum, value.Int64(f.unit.millis))
		}
		out[i] = sum
	}
	return out, nil
}

// areas are the trapezia between each document and the one before.
func (f *windowFunction) areas(in, times []value.Value) ([]value.Value, error) {
	areas := make([]value.Value, len(in))
	for i, y := range in {
		t := times[i]
		switch {
		case f.unit.name != "" && t.Kind() != value.KindDateTime:
			return nil, mongoerr.Newf(5429513, "Expected the sortBy field to be a Date, but it was %s", t.Kind())
		case f.unit.name != "":
		case t.Kind() == value.KindDateTime:
			return nil, mongoerr.New(5429413, "For windows that involve date or time ranges, a unit must be provided.")
		case !t.IsNumber():
			return nil, mongoerr.Newf(5429414, "Expected the sortBy field to be a number, but it was %s", t.Kind())
		}
		if !y.IsNumber() {
			return nil, mongoerr.Newf(5423902, "Input values of $integral must be numeric, but found %s", y.Kind())
		}
		if i == 0 {
			continue
		}
		sides, _ := value.Add(in[i-1], y)
		area, _ := value.Mul(minus(t, times[i-1]), sides)
		areas[i], _ = quotient(area, value.Int32(2))
	}
	return areas, nil
}

// evalExpMovingAvg computes in decimals, so that the result depends on the
// numbers and not on their types.
func evalExpMovingAvg(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	alpha := value.DecimalValue(f.alpha)
	rest := minus(value.DecimalValue(value.DecimalFromInt64(1)), alpha)
	out := make([]value.Value, len(in))
	current, decimal := value.Null(), false
	for i, v := range in {
		if v.IsNumber() {
			decimal = decimal || v.Kind() == value.KindDecimal
			x := value.DecimalValue(v.AsDecimal())
			if !current.IsNullish() {
				a, _ := value.Mul(x, alpha)
				b, _ := value.Mul(current, rest)
				x, _ = value.Add(a, b)
			}
			current = x
		}
		out[i] = current
		if !current.IsNullish() && !decimal {
			out[i] = value.Double(current.AsDouble())
		}
	}
	return out, nil
}

// evalCovariance covers $covariancePop and $covarianceSamp.
func evalCovariance(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(in))
	var c covariance
	have := span{-1, -1}
	for i := range in {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return nil, err
		}
		if w.from != have.from || w.to < have.to {
			c, have = covariance{}, span{w.from, w.from}
		}
		for ; have.to < w.to; have.to++ {
			c.add(in[have.to])
			if err := pt.x.tick(); err != nil {
				return nil, err
			}
		}
		out[i] = c.result(f.op == "$covarianceSamp")
	}
	return out, nil
}

// covariance is a running co-moment (Welford's method for pairs).
type covariance struct {
	n            float64
	meanX, meanY float64
	c            float64
	decimal      bool
}

// add takes [x, y]; anything but two numbers is ignored.
func (c *covariance) add(v value.Value) {
	if v.Kind() != value.KindArray || v.Doc().Len() != 2 {
		return
	}
	x, y := v.Doc().Index(0), v.Doc().Index(1)
	if !x.IsNumber() || !y.IsNumber() {
		return
	}
	c.decimal = c.decimal || x.Kind() == value.KindDecimal || y.Kind() == value.KindDecimal
	c.n++
	dx := x.AsDouble() - c.meanX
	c.meanX += dx / c.n
	c.meanY += (y.AsDouble() - c.meanY) / c.n
	c.c += dx * (y.AsDouble() - c.meanY)
}

func (c *covariance) result(sample bool) value.Value {
	n := c.n
	if sample {
		n--
	}
	if n <= 0 {
		return value.Null()
	}
	r := c.c / n
	if c.decimal && !math.IsNaN(r) {
		return value.DecimalValue(value.DecimalFromDouble(r))
	}
	return value.Double(r)
}
