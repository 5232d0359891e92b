package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// The window operators. Each computes the results of a whole partition.

// inputs evaluates the argument on every document.
func (f *windowFunction) inputs(pt *windowPartition) ([]value.Value, error) {
	in := make([]value.Value, pt.docs.len())
	for i := range in {
		d, err := pt.docs.at(i)
		if err != nil {
			return nil, err
		}
		pt.x.Env.Meta = pt.metas[i]
		v, err := f.arg.Eval(pt.x.Env, d)
		if err != nil {
			return nil, err
		}
		if in[i], err = pt.docs.keep(v); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// fed evaluates the argument of an accumulator on every document and returns
// the function that adds document i to a state.
func (f *windowFunction) fed(pt *windowPartition) (func(acc accumulate.Accumulator, i int) error, error) {
	if f.acc.arg == nil {
		return func(acc accumulate.Accumulator, _ int) error { return acc.Add(value.Value{}) }, nil
	}
	in, err := (&windowFunction{arg: f.acc.arg}).inputs(pt)
	if err != nil {
		return nil, err
	}
	if f.acc.sortBy == nil {
		return func(acc accumulate.Accumulator, i int) error { return acc.Add(in[i]) }, nil
	}
	keys := make([][]byte, pt.docs.len())
	for i := range keys {
		d, err := pt.docs.at(i)
		if err != nil {
			return nil, err
		}
		pt.x.Env.Meta = pt.metas[i]
		if keys[i], err = f.acc.sortBy.appendKey(nil, pt.x.Env, d, pt.x.Env.Collation); err != nil {
			return nil, err
		}
	}
	return func(acc accumulate.Accumulator, i int) error {
		return acc.(*accumulate.Ranked).AddKeyed(keys[i], in[i])
	}, nil
}

// evalAccumulator runs an accumulator over the window of each document. As
// long as windows only grow at their end one state serves them all; a window
// that loses documents is computed anew.
func evalAccumulator(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	feed, err := f.fed(pt)
	if err != nil {
		return nil, err
	}
	if out, done, err := slidingSum(f, pt); done || err != nil {
		return out, err
	}
	out := make([]value.Value, pt.docs.len())
	var acc accumulate.Accumulator
	have := span{-1, -1}
	for i := range out {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return nil, err
		}
		if acc != nil && w == have {
			out[i] = out[i-1]
			continue
		}
		if acc == nil || w.from != have.from || w.to < have.to {
			if acc, err = f.acc.start(pt.x, value.Value{}); err != nil {
				return nil, err
			}
			have = span{w.from, w.from}
		}
		for ; have.to < w.to; have.to++ {
			if err := feed(acc, have.to); err != nil {
				return nil, err
			}
			if err := pt.x.tick(); err != nil {
				return nil, err
			}
		}
		have.to = max(have.to, w.to)
		out[i] = nullIfMissing(acc.Result())
	}
	return out, nil
}

func nullIfMissing(v value.Value) value.Value {
	if v.IsMissing() {
		return value.Null()
	}
	return v
}

// slidingSum serves $sum, $avg and $count over windows that lose documents
// where all numbers are integers that cannot overflow: then taking a number
// out again is exact.
func slidingSum(f *windowFunction, pt *windowPartition) (out []value.Value, done bool, err error) {
	if f.bounds.lower.kind == boundUnbounded || f.op != "$sum" && f.op != "$avg" && f.op != "$count" {
		return nil, false, nil
	}
	in := make([]value.Value, pt.docs.len())
	for i := range in {
		in[i] = value.Int32(1)
	}
	if f.op != "$count" {
		if in, err = (&windowFunction{arg: f.acc.arg}).inputs(pt); err != nil {
			return nil, false, err
		}
	}
	const most = 1 << 40
	for _, v := range in {
		if k := v.Kind(); k == value.KindDouble || k == value.KindDecimal || k == value.KindInt64 && (v.Int64() > most || v.Int64() < -most) {
			return nil, false, nil
		}
	}
	if len(in) >= 1<<22 {
		return nil, false, nil
	}
	out = make([]value.Value, len(in))
	var s slidingTotal
	for i := range in {
		w, err := f.bounds.span(pt, i)
		if err != nil {
			return nil, false, err
		}
		s.slide(in, w)
		out[i] = s.result(f.op)
	}
	return out, true, nil
}

// slidingTotal is a sum of integers over a window that moves forward.
type slidingTotal struct {
	have      span
	sum       int64
	n, longs  int64
	populated bool
}

func (s *slidingTotal) slide(in []value.Value, w span) {
	if !s.populated || w.from >= s.have.to || w.to < s.have.to || w.from < s.have.from {
		*s = slidingTotal{have: span{w.from, w.from}, populated: true}
	}
	for ; s.have.to < w.to; s.have.to++ {
		s.add(in[s.have.to], 1)
	}
	for ; s.have.from < w.from; s.have.from++ {
		s.add(in[s.have.from], -1)
	}
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

func evalFirstLast(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
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
		switch {
		case w.from >= w.to:
			out[i] = value.Null()
		case f.op == "$first":
			out[i] = nullIfMissing(in[w.from])
		default:
			out[i] = nullIfMissing(in[w.to-1])
		}
	}
	return out, nil
}

func evalRank(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	out := make([]value.Value, pt.docs.len())
	rank, dense := int64(0), int64(0)
	for i := range out {
		if i == 0 || value.CompareWith(nullIfMissing(pt.times[i]), nullIfMissing(pt.times[i-1]), pt.x.Env.Collation) != 0 {
			rank = int64(i + 1)
			dense++
		}
		n := rank
		switch f.op {
		case "$denseRank":
			n = dense
		case "$documentNumber":
			n = int64(i + 1)
		}
		out[i] = value.Int64(n)
	}
	return out, nil
}

func evalShift(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(in))
	for i := range in {
		out[i] = f.missing
		if j := i + int(f.by); j >= 0 && j < len(in) {
			out[i] = nullIfMissing(in[j])
		}
	}
	return out, nil
}

func evalLocf(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	last := value.Null()
	for i, v := range in {
		if !v.IsNullish() {
			last = v
		}
		in[i] = last
	}
	return in, nil
}

func evalLinearFill(f *windowFunction, pt *windowPartition) ([]value.Value, error) {
	in, err := f.inputs(pt)
	if err != nil {
		return nil, err
	}
	if err := checkLinearFill(in, pt.times); err != nil {
		return nil, err
	}
	out := make([]value.Value, len(in))
	left := -1 // last known value
	for i := 0; i < len(in); i++ {
		if !in[i].IsNullish() {
			out[i], left = in[i], i
			continue
		}
		right := i
		for right < len(in) && in[right].IsNullish() {
			right++
		}
		for ; i < right; i++ {
			out[i] = value.Null()
			if left >= 0 && right < len(in) {
				out[i] = interpolate(pt.times[left], in[left], pt.times[right], in[right], pt.times[i])
			}
		}
		i--
	}
	return out, nil
}

func checkLinearFill(in, times []value.Value) error {
	for i, v := range in {
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
	}
	return nil
}

// isDateLike reports whether v is something a date can be made of.
func isDateLike(v value.Value) bool {
	switch v.Kind() {
	case value.KindDateTime, value.KindTimestamp, value.KindObjectID:
		return true
	}
	return false
}

// interpolate is y1 + (x - x1) * ((y2 - y1) / (x2 - x1)).
func interpolate(x1, y1, x2, y2, x value.Value) value.Value {
	slope, _ := quotient(minus(y2, y1), minus(x2, x1))
	rise, _ := value.Mul(minus(x, x1), slope)
	y, _ := value.Add(y1, rise)
	return y
}
