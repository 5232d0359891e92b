package window

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// The window operators that compute with the sort value or with pairs of values.

// millis returns a date as a long of milliseconds, and numbers unchanged.
func millis(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindDateTime:
		return value.Int64(v.DateTime())
	case value.KindTimestamp:
		t, _ := v.Timestamp()
		return value.Int64(int64(t) * 1000)
	case value.KindObjectID:
		return value.Int64(v.ObjectID().Millis())
	}
	return v
}

// minus returns a - b, in milliseconds for dates. A long that overflows becomes a
// double.
func minus(a, b value.Value) value.Value {
	a, b = millis(a), millis(b)
	if a.Kind() == value.KindDecimal || b.Kind() == value.KindDecimal {
		return value.DecimalValue(a.AsDecimal().Sub(b.AsDecimal()))
	}
	neg, ok := value.Mul(b, value.Int32(-1))
	if ok {
		if d, ok := value.Add(a, neg); ok {
			return d
		}
	}
	return value.Double(a.AsDouble() - b.AsDouble())
}

// quotient returns a / b: a decimal if one of them is a decimal, otherwise a
// double. ok is false if b is zero.
func quotient(a, b value.Value) (value.Value, bool) {
	if a.Kind() == value.KindDecimal || b.Kind() == value.KindDecimal {
		if b.AsDecimal().IsZero() {
			return value.Null(), false
		}
		return value.DecimalValue(a.AsDecimal().Div(b.AsDecimal())), true
	}
	if b.AsDouble() == 0 {
		return value.Null(), false
	}
	return value.Double(a.AsDouble() / b.AsDouble()), true
}

func evalDerivative(f *windowFunction, pt *windowPartition) windowResult {
	first, last := lastValue{pt: pt, e: f.arg}, lastValue{pt: pt, e: f.arg}
	return overWindow(f, pt, func(w span) (value.Value, error) {
		y1, err := first.at(w.from)
		if err != nil {
			return y1, err
		}
		y2, err := last.at(w.to - 1)
		if err != nil {
			return y2, err
		}
		return f.derivative(y1, y2, pt.times[w.from], pt.times[w.to-1])
	})
}

// derivative returns the slope between two points, or null if both have the same
// sort value.
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

func evalIntegral(f *windowFunction, pt *windowPartition) windowResult {
	areas := f.areas(pt)
	sums := &fold[value.Value]{pt: pt, size: valueSize, of: areas.at, join: func(a, b value.Value) (value.Value, error) {
		sum, _ := value.Add(a, b)
		return sum, nil
	}}
	return overWindow(f, pt, func(w span) (value.Value, error) {
		areas.drop(w.from)
		sum := value.Int32(0)
		if w.to-w.from > smallWindow {
			first, err := areas.at(w.from)
			if err == nil {
				sum, err = sums.over(span{w.from + 1, w.to})
			}
			if err != nil {
				return first, err
			}
			w.from = w.to
		}
		for j := w.from; j < w.to; j++ {
			area, err := areas.at(j)
			if err != nil {
				return area, err
			}
			if j > w.from {
				sum, _ = value.Add(sum, area)
			}
			if err := pt.x.Tick(); err != nil {
				return sum, err
			}
		}
		if f.unit.name != "" {
			sum, _ = quotient(sum, value.Int64(f.unit.millis))
		}
		return sum, nil
	})
}

// areas returns the column of the trapezoids between each document and the one
// before it.
func (f *windowFunction) areas(pt *windowPartition) *column[value.Value] {
	c := pt.values(f.arg)
	before := lastValue{pt: pt, e: f.arg}
	c.make = func(i int) (area value.Value, err error) {
		left := value.Int32(0)
		if i > 0 {
			if left, err = before.at(i - 1); err != nil {
				return left, err
			}
		}
		y, err := before.at(i)
		if err == nil {
			err = f.checkIntegral(y, pt.times[i])
		}
		if err != nil || i == 0 {
			return value.Int32(0), err
		}
		sides, _ := value.Add(left, y)
		area, _ = value.Mul(minus(pt.times[i], pt.times[i-1]), sides)
		area, _ = quotient(area, value.Int32(2))
		return area, nil
	}
	return c
}

func (f *windowFunction) checkIntegral(y, t value.Value) error {
	switch {
	case f.unit.name != "" && t.Kind() != value.KindDateTime:
		return mongoerr.Newf(5429513, "Expected the sortBy field to be a Date, but it was %s", t.Kind())
	case f.unit.name != "":
	case t.Kind() == value.KindDateTime:
		return mongoerr.New(5429413, "For windows that involve date or time ranges, a unit must be provided.")
	case !t.IsNumber():
		return mongoerr.Newf(5429414, "Expected the sortBy field to be a number, but it was %s", t.Kind())
	}
	if !y.IsNumber() {
		return mongoerr.Newf(5423902, "Input values of $integral must be numeric, but found %s", y.Kind())
	}
	return nil
}

// evalExpMovingAvg computes in decimals, so that the result depends on the
// numbers and not on their types.
func evalExpMovingAvg(f *windowFunction, pt *windowPartition) windowResult {
	alpha := value.DecimalValue(f.alpha)
	rest := minus(value.DecimalValue(value.DecimalFromInt64(1)), alpha)
	current, decimal := value.Null(), false
	return func(i int) (value.Value, error) {
		v, err := pt.value(f.arg, i)
		if err != nil {
			return v, err
		}
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
		if current.IsNullish() || decimal {
			return current, nil
		}
		return value.Double(current.AsDouble()), nil
	}
}

// evalCovariance evaluates $covariancePop and $covarianceSamp. As in mongod, a window that
// moves takes in the pairs that enter it and then takes away those that leave it.
func evalCovariance(f *windowFunction, pt *windowPartition) windowResult {
	in := pt.values(f.arg)
	var c *accumulate.Covariance
	var have span
	each := func(from, to int, do func(value.Value)) error {
		for j := from; j < to; j++ {
			v, err := in.at(j)
			if err != nil {
				return err
			}
			do(v)
			if f.bounds.lower.kind == boundUnbounded {
				in.drop(j + 1)
			}
			if err := pt.x.Tick(); err != nil {
				return err
			}
		}
		return nil
	}
	return func(i int) (value.Value, error) {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return value.Value{}, err
		}
		if c == nil || w.from >= have.to || w.from < have.from || w.to < have.to { // they have nothing in common
			c, have = accumulate.NewCovariance(f.op == "$covarianceSamp"), span{w.from, w.from}
			in.drop(w.from)
		}
		if err := each(have.to, w.to, c.Add); err != nil {
			return value.Value{}, err
		}
		if err := each(have.from, w.from, c.Remove); err != nil {
			return value.Value{}, err
		}
		in.drop(w.from)
		have = w
		return c.Result(), nil
	}
}
