package window

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// The window operators. Each returns the results of a partition one by one.

// evalAccumulator runs an accumulator over the window of each document.
func evalAccumulator(f *windowFunction, pt *windowPartition) windowResult {
	a := &windowAccumulator{f: f, pt: pt, in: f.fed(pt), have: span{-1, -1}}
	if f.bounds.lower.kind != boundUnbounded {
		switch f.op {
		case "$sum", "$avg":
			a.sliding = &slidingTotal{have: span{-1, -1}}
			a.fold = a.folded()
		case "$stdDevPop", "$stdDevSamp", "$setUnion":
			a.fold = a.folded()
		case "$addToSet":
			a.set = &distinctWindow{sorted{a: a}}
		case "$push", "$concatArrays", "$firstN", "$lastN", "$count":
		default:
			a.ordered = &orderedWindow{sorted{a: a}}
		}
	}
	return a.result
}

// accumulator is short for the interface of accumulators.
type accumulator = accumulate.Accumulator

// windowAccumulator is an accumulator over windows. As long as windows only grow at their
// end, they share one state. A small window that loses documents is computed again, a larger
// one in a way that depends on the operator: no result costs more than the logarithm of the
// window, or the size of the result.
type windowAccumulator struct {
	f       *windowFunction
	pt      *windowPartition
	in      fed
	acc     accumulate.Accumulator
	have    span // the span of the documents in acc
	last    value.Value
	sliding *slidingTotal // nil: not possible, or no longer
	fold    *fold[value.Value]
	ordered *orderedWindow
	set     *distinctWindow
}

func (a *windowAccumulator) result(i int) (value.Value, error) {
	w, err := a.f.bounds.span(a.pt, i)
	if err != nil {
		return value.Value{}, err
	}
	v, err := a.over(w)
	a.in.drop(w.from)
	return v, err
}

// over returns the result for a window.
func (a *windowAccumulator) over(w span) (v value.Value, err error) {
	if a.f.op == "$count" {
		return value.Int(int64(max(w.to-w.from, 0))), nil
	}
	if a.sliding != nil {
		done, err := a.sliding.slide(a.in.values, w)
		if done || err != nil {
			return a.sliding.result(a.f.op), err
		}
		a.sliding = nil
	}
	switch large := w.to-w.from > smallWindow; {
	case a.ordered != nil:
		return a.ordered.over(w)
	case a.fold != nil && large:
		return a.folding(w)
	case a.set != nil && large:
		return a.set.over(w)
	}
	if w, err = a.ends(w); err != nil {
		return value.Value{}, err
	}
	if a.acc != nil && w == a.have {
		return a.last, nil
	}
	if err := a.fill(w); err != nil {
		return value.Value{}, err
	}
	a.last = a.resultOf(a.acc)
	return a.last, nil
}

func (a *windowAccumulator) resultOf(acc accumulator) value.Value {
	if s, ok := acc.(*accumulate.StdDev); ok && a.f.bounds.lower.kind != boundUnbounded {
		return s.WindowResult()
	}
	return nullIfMissing(acc.Result())
}

// folding returns the result for a window from the states of its parts.
func (a *windowAccumulator) folding(w span) (value.Value, error) {
	state, err := a.fold.over(w)
	if err != nil {
		return state, err
	}
	acc, err := a.f.acc.Start(a.pt.x, value.Value{})
	if err == nil {
		err = acc.Merge(state)
	}
	if err != nil {
		return value.Value{}, err
	}
	return a.resultOf(acc), nil
}

// ends returns the part of a window that loses documents in which $firstN or $lastN takes its
// values.
func (a *windowAccumulator) ends(w span) (span, error) {
	if a.f.bounds.lower.kind == boundUnbounded || a.f.op != "$firstN" && a.f.op != "$lastN" {
		return w, nil
	}
	acc, err := a.f.acc.Start(a.pt.x, value.Value{})
	if err != nil {
		return w, err
	}
	n := int(min(acc.(*accumulate.Ends).N(), int64(max(w.to-w.from, 0))))
	if a.f.op == "$firstN" {
		return span{w.from, w.from + n}, nil
	}
	return span{w.to - n, w.to}, nil
}

// fill brings the state to that of a window.
func (a *windowAccumulator) fill(w span) (err error) {
	if a.acc == nil || w.from != a.have.from || w.to < a.have.to {
		if a.acc, err = a.f.acc.Start(a.pt.x, value.Value{}); err != nil {
			return err
		}
		a.have = span{w.from, w.from}
	}
	for ; a.have.to < w.to; a.have.to++ {
		if err := a.in.add(a.acc, a.have.to); err != nil {
			return err
		}
		if a.f.bounds.lower.kind == boundUnbounded {
			a.in.drop(a.have.to + 1) // no window loses it
		}
		if err := a.pt.x.Tick(); err != nil {
			return err
		}
	}
	a.have.to = max(a.have.to, w.to)
	return nil
}

func nullIfMissing(v value.Value) value.Value {
	if v.IsMissing() {
		return value.Null()
	}
	return v
}

// slidingTotal is a sum of integers over a window that moves forward. It cannot
// overflow, so that subtracting a number is exact.
type slidingTotal struct {
	have      span
	sum       int64
	n, longs  int64
	populated bool
}

// maxSlid and maxNumbers limit the summands, so that the sum cannot overflow.
const (
	maxSlid    = 1 << 40
	maxNumbers = 1 << 22
)

// slide moves the window; it returns false if the window has a value that cannot
// be subtracted.
func (s *slidingTotal) slide(in *column[value.Value], w span) (bool, error) {
	if !s.populated || w.from >= s.have.to || w.to < s.have.to || w.from < s.have.from {
		*s = slidingTotal{have: span{w.from, w.from}, populated: true}
	}
	for ; s.have.from < w.from; s.have.from++ {
		v, err := in.at(s.have.from)
		if err != nil {
			return false, err
		}
		s.add(v, -1)
	}
	for ; s.have.to < w.to; s.have.to++ {
		v, err := in.at(s.have.to)
		if err != nil {
			return false, err
		}
		k := v.Kind()
		if k == value.KindDouble || k == value.KindDecimal || k == value.KindInt64 && (v.Int64() > maxSlid || v.Int64() < -maxSlid) || s.n >= maxNumbers {
			return false, nil
		}
		s.add(v, 1)
	}
	return true, nil
}

func (s *slidingTotal) add(v value.Value, sign int64) {
	if !v.IsNumber() {
		return
	}
	s.sum += sign * v.Int64()
	s.n += sign
	if v.Kind() == value.KindInt64 {
		s.longs += sign
	}
}

func (s *slidingTotal) result(op string) value.Value {
	switch {
	case op == "$avg" && s.n == 0:
		return value.Null()
	case op == "$avg":
		return value.Double(float64(s.sum) / float64(s.n))
	case s.longs > 0:
		return value.Int64(s.sum)
	}
	return value.Int(s.sum)
}

func evalFirstLast(f *windowFunction, pt *windowPartition) windowResult {
	in := lastValue{pt: pt, e: f.arg}
	return overWindow(f, pt, func(w span) (value.Value, error) {
		i := w.from
		if f.op == "$last" {
			i = w.to - 1
		}
		v, err := in.at(i)
		return nullIfMissing(v), err
	})
}

func evalRank(f *windowFunction, pt *windowPartition) windowResult {
	rank, dense := int64(0), int64(0)
	return func(i int) (value.Value, error) {
		if i == 0 || value.CompareWith(nullIfMissing(pt.times[i]), nullIfMissing(pt.times[i-1]), pt.x.Env.Collation) != 0 {
			rank = int64(i + 1)
			dense++
		}
		switch f.op {
		case "$denseRank":
			return value.Int(dense), nil
		case "$documentNumber":
			return value.Int(int64(i + 1)), nil
		}
		return value.Int(rank), nil
	}
}

func evalShift(f *windowFunction, pt *windowPartition) windowResult {
	return func(i int) (value.Value, error) {
		j := i + int(f.by)
		if j < 0 || j >= pt.docs.len() {
			return f.missing, nil
		}
		v, err := pt.value(f.arg, j)
		return nullIfMissing(v), err
	}
}

func evalLocf(f *windowFunction, pt *windowPartition) windowResult {
	last := value.Null()
	return func(i int) (value.Value, error) {
		v, err := pt.value(f.arg, i)
		if !v.IsNullish() {
			last = v
		}
		return last, err
	}
}

func evalLinearFill(f *windowFunction, pt *windowPartition) windowResult {
	in := pt.values(f.arg)
	plain := in.make
	in.make = func(i int) (value.Value, error) {
		v, err := plain(i)
		if err == nil {
			err = checkLinearFill(v, pt.times, i)
		}
		return v, err
	}
	left, right := -1, -1 // known values around
	var before value.Value
	return func(i int) (value.Value, error) {
		in.drop(i)
		v, err := in.at(i)
		if err != nil {
			return v, err
		}
		if !v.IsNullish() {
			left, before = i, v
			return v, nil
		}
		for right = max(right, i); right < pt.docs.len(); right++ {
			after, err := in.at(right)
			if err != nil {
				return v, err
			}
			if after.IsNullish() {
				continue
			}
			if left < 0 {
				break
			}
			return interpolate(pt.times[left], before, pt.times[right], after, pt.times[i]), nil
		}
		return value.Null(), nil
	}
}

// checkLinearFill checks the value of document i.
func checkLinearFill(v value.Value, times []value.Value, i int) error {
	t := times[i]
	date := isDateLike(t)
	switch {
	case !v.IsNumber() && !v.IsNullish():
		return mongoerr.Newf(mongoerr.TypeMismatch, "Value to be filled must be numeric or nullish, but found %s", v.Kind())
	case !t.IsNumber() && !date:
		return mongoerr.Newf(mongoerr.TypeMismatch, "Value of the sortBy field must be numeric or a date, but found %s", t.Kind())
	case i > 0 && value.Compare(t, times[i-1]) == 0:
		return mongoerr.New(6050106, "There can be no repeated values in the sort field")
	case i > 0 && date != isDateLike(times[i-1]):
		return mongoerr.Newf(mongoerr.TypeMismatch, "Conflicting sort value types, previously received type %s, but found %s", times[i-1].Kind(), t.Kind())
	}
	return nil
}

// isDateLike reports whether v can be converted to a date.
func isDateLike(v value.Value) bool {
	switch v.Kind() {
	case value.KindDateTime, value.KindTimestamp, value.KindObjectID:
		return true
	}
	return false
}

// interpolate returns y1 + (x - x1) * ((y2 - y1) / (x2 - x1)).
func interpolate(x1, y1, x2, y2, x value.Value) value.Value {
	slope, _ := quotient(minus(y2, y1), minus(x2, x1))
	rise, _ := value.Mul(minus(x, x1), slope)
	y, _ := value.Add(y1, rise)
	return y
}
