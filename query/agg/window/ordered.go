package window

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// ordered is the values of a window in the order of their keys, equal ones in that of their
// documents. It is a list of sorted blocks, none of which is empty: adding and removing a value
// moves a part of one block.
type ordered struct {
	blocks [][]ranked
	n      int
}

// ranked is a value with its key and the number of its document.
type ranked struct {
	key []byte
	i   int
	v   value.Value
}

// fullBlock is the size at which a block is split.
const fullBlock = 256

func compareRanked(a, b ranked) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.i, b.i)
}

// find returns the place of the first value that is not less than r.
func (o *ordered) find(r ranked) (block, at int) {
	block, _ = slices.BinarySearchFunc(o.blocks, r, func(b []ranked, r ranked) int { return compareRanked(b[len(b)-1], r) })
	if block < len(o.blocks) {
		at, _ = slices.BinarySearchFunc(o.blocks[block], r, compareRanked)
	}
	return block, at
}

func (o *ordered) add(r ranked) {
	o.n++
	block, at := o.find(r)
	switch {
	case len(o.blocks) == 0:
		o.blocks = [][]ranked{{r}}
		return
	case block == len(o.blocks):
		block--
		at = len(o.blocks[block])
	}
	b := slices.Insert(o.blocks[block], at, r)
	o.blocks[block] = b
	if len(b) >= fullBlock {
		rest := slices.Clone(b[fullBlock/2:])
		clear(b[fullBlock/2:])
		o.blocks[block] = b[:fullBlock/2]
		o.blocks = slices.Insert(o.blocks, block+1, rest)
	}
}

// remove takes out a value that was added.
func (o *ordered) remove(r ranked) {
	o.n--
	block, at := o.find(r)
	if o.blocks[block] = slices.Delete(o.blocks[block], at, at+1); len(o.blocks[block]) == 0 {
		o.blocks = slices.Delete(o.blocks, block, block+1)
	}
}

// at returns the k-th value.
func (o *ordered) at(k int) ranked {
	for _, b := range o.blocks {
		if k < len(b) {
			return b[k]
		}
		k -= len(b)
	}
	panic("window: no such value")
}

// rank returns how many values have a key that is less than key.
func (o *ordered) rank(key []byte) (n int) {
	block, at := o.find(ranked{key: key, i: -1})
	for _, b := range o.blocks[:block] {
		n += len(b)
	}
	return n + at
}

// first returns the n first values.
func (o *ordered) first(n int) []ranked { return o.between(0, min(n, o.n)) }

// last returns the n last values.
func (o *ordered) last(n int) []ranked { return o.between(max(o.n-n, 0), o.n) }

func (o *ordered) between(from, to int) (list []ranked) {
	for _, b := range o.blocks {
		if from < len(b) && to > 0 {
			list = append(list, b[max(from, 0):min(to, len(b))]...)
		}
		from, to = from-len(b), to-len(b)
	}
	return list
}

// orderedWindow computes the operators whose result depends on the order of the values of a
// window that loses documents: $min, $max, $median, $percentile, $topN and their relatives. Of
// equal values the greatest is that of the latest document, as in MongoDB.
type orderedWindow struct{ sorted }

func (o *orderedWindow) over(w span) (value.Value, error) {
	acc, err := o.move(w, o.ranked)
	if err != nil {
		return value.Value{}, err
	}
	switch acc := acc.(type) {
	case *accumulate.Percentile:
		return acc.OfSorted(o.set.n, func(k int) float64 { return o.set.at(k).v.Double() }), nil
	case *accumulate.Ranked:
		for _, r := range o.chosen(acc.N(), acc.Greatest()) {
			if err := acc.AddKeyed(r.key, r.v); err != nil {
				return value.Value{}, err
			}
		}
	default: // $min and $max
		for _, r := range o.chosen(1, o.a.f.op == "$max") {
			if err := acc.Add(r.v); err != nil {
				return value.Value{}, err
			}
		}
	}
	return nullIfMissing(acc.Result()), nil
}

func (o *orderedWindow) chosen(n int64, greatest bool) []ranked {
	k := int(min(n, int64(o.set.n)))
	if greatest {
		return o.set.last(k)
	}
	return o.set.first(k)
}

func (o *orderedWindow) ranked(i int) (r ranked, ok bool, err error) {
	in := &o.a.in
	v, err := in.values.at(i)
	if err != nil {
		return r, false, err
	}
	if in.keys != nil {
		key, err := in.keys.at(i)
		return ranked{key: key, i: i, v: v}, true, err
	}
	if op := o.a.f.op; op == "$median" || op == "$percentile" {
		if !v.IsNumber() || math.IsNaN(v.AsDouble()) {
			return r, false, nil
		}
		v = value.Double(v.AsDouble())
	}
	if v.IsNullish() {
		return r, false, nil
	}
	return o.keyed(v, i), true, nil
}

// sorted is the values of a window in both orders: that of their keys and that of their
// documents.
type sorted struct {
	a     *windowAccumulator
	queue queue
	set   ordered
}

// move brings the values to a window, and starts the accumulator of its result. of returns the
// value of a document; ok is false if the operator ignores it.
func (s *sorted) move(w span, of func(i int) (r ranked, ok bool, err error)) (accumulate.Accumulator, error) {
	if err := s.queue.move(s.a, w, of, s.set.add, s.set.remove); err != nil {
		return nil, err
	}
	return s.a.f.acc.Start(s.a.pt.x, value.Value{})
}

func (s *sorted) keyed(v value.Value, i int) ranked {
	return ranked{key: value.AppendKeyWith(nil, v, s.a.pt.x.Env.Collation), i: i, v: v}
}

// queue is the values of a window in the order of their documents.
type queue struct {
	have   span
	values []ranked
}

// move brings the queue to a window that is not before the present one. It calls in and out
// for the values that come and go.
func (q *queue) move(a *windowAccumulator, w span, of func(i int) (ranked, bool, error), in, out func(ranked)) error {
	docs := &a.pt.docs
	for len(q.values) > 0 && (q.values[0].i < w.from || w.to < q.have.to || w.from < q.have.from) {
		out(q.values[0])
		docs.held -= rankedSize(q.values[0])
		q.values = q.values[1:]
	}
	if w.from >= q.have.to || w.to < q.have.to || w.from < q.have.from {
		q.have.to = w.from
	}
	for q.have.from = w.from; q.have.to < w.to; q.have.to++ {
		r, ok, err := of(q.have.to)
		if err == nil && ok {
			r.v = r.v.Clone()
			in(r)
			q.values = append(q.values, r)
			err = docs.hold(rankedSize(r))
		}
		if err == nil {
			err = a.pt.x.Tick()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func rankedSize(r ranked) int64 { return int64(len(r.key)) + valueSize(r.v) + 32 }

// distinctWindow is $addToSet over a window that loses documents. The values come in their
// order; of equal ones it is that of the earliest document.
type distinctWindow struct{ sorted }

func (d *distinctWindow) over(w span) (value.Value, error) {
	acc, err := d.move(w, d.ranked)
	if err != nil {
		return value.Value{}, err
	}
	for k := 0; k < d.set.n; {
		r := d.set.at(k)
		if err := acc.Add(r.v); err != nil {
			return value.Value{}, err
		}
		k = d.set.rank(append(bytes.Clone(r.key), 0)) // no key lies between
	}
	return acc.Result(), nil
}

func (d *distinctWindow) ranked(i int) (r ranked, ok bool, err error) {
	v, err := d.a.in.values.at(i)
	if err != nil || v.IsMissing() {
		return r, false, err
	}
	return d.keyed(v, i), true, nil
}
