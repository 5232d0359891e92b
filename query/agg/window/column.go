package window

import (
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// windowResult returns the result of a window operator for document i of a
// partition. It is called for one document after the other, so that only one
// result is in memory.
type windowResult func(i int) (value.Value, error)

// windowEval starts the computation of an operator for a partition.
type windowEval func(f *windowFunction, pt *windowPartition) windowResult

// overWindow returns an operator that calls result for each window that is not
// empty.
func overWindow(f *windowFunction, pt *windowPartition, result func(w span) (value.Value, error)) windowResult {
	return func(i int) (value.Value, error) {
		w, err := f.bounds.span(pt, i)
		if err != nil || w.from >= w.to {
			return value.Null(), err
		}
		return result(w)
	}
}

// value evaluates an expression on document i.
func (pt *windowPartition) value(e *expr.Expr, i int) (value.Value, error) {
	d, err := pt.docs.at(i)
	if err != nil {
		return value.Value{}, err
	}
	pt.x.Env.Meta = pt.metas[i]
	return e.Eval(pt.x.Env, d)
}

// lastValue evaluates an expression on one document after the other, and keeps
// the last value.
type lastValue struct {
	pt *windowPartition
	e  *expr.Expr
	i  int
	v  value.Value
	ok bool
}

func (p *lastValue) at(i int) (value.Value, error) {
	if p.ok && p.i == i {
		return p.v, nil
	}
	v, err := p.pt.value(p.e, i)
	p.v, p.i, p.ok = v, i, err == nil
	return v, err
}

// column has one item for each document of a partition. It keeps the items of the
// documents in a window that moves forward.
type column[T any] struct {
	pt   *windowPartition
	make func(i int) (T, error)
	size func(T) int64
	from int
	vals []T
}

// at returns the item of document i. It also computes the items between it and the
// last one that was requested.
func (c *column[T]) at(i int) (v T, err error) {
	if i < c.from {
		c.drop(c.from + len(c.vals))
		c.from = i
	}
	for c.from+len(c.vals) <= i {
		if v, err = c.make(c.from + len(c.vals)); err != nil {
			return v, err
		}
		if err := c.pt.docs.hold(c.size(v)); err != nil {
			return v, err
		}
		c.vals = append(c.vals, v)
		if err := c.pt.x.Tick(); err != nil {
			return v, err
		}
	}
	return c.vals[i-c.from], nil
}

// drop removes the items of the documents before i.
func (c *column[T]) drop(i int) {
	n := min(i-c.from, len(c.vals))
	if n <= 0 {
		c.from = max(c.from, i)
		return
	}
	for _, v := range c.vals[:n] {
		c.pt.docs.held -= c.size(v)
	}
	c.vals = c.vals[n:]
	c.from = max(c.from+n, i)
}

// valueSize estimates the memory of a value that is kept.
func valueSize(v value.Value) int64 { return int64(len(v.Bytes())) + 48 }

// values returns the column of the values of an expression.
func (pt *windowPartition) values(e *expr.Expr) *column[value.Value] {
	return &column[value.Value]{pt: pt, size: valueSize, make: func(i int) (value.Value, error) { return pt.value(e, i) }}
}

// sortKeys returns the column of the keys by which an accumulator sorts.
func (pt *windowPartition) sortKeys(by order.Pattern) *column[[]byte] {
	return &column[[]byte]{pt: pt, size: func(key []byte) int64 { return int64(len(key)) + 48 }, make: func(i int) ([]byte, error) {
		d, err := pt.docs.at(i)
		if err != nil {
			return nil, err
		}
		pt.x.Env.Meta = pt.metas[i]
		return by.AppendKey(nil, pt.x.Env, d, pt.x.Env.Collation)
	}}
}

// fed is the input of an accumulator.
type fed struct {
	values *column[value.Value] // nil: the accumulator takes no argument
	keys   *column[[]byte]      // nil: it does not sort
}

func (f *windowFunction) fed(pt *windowPartition) (in fed) {
	if f.acc.Arg != nil {
		in.values = pt.values(f.acc.Arg)
		if f.acc.SortBy != nil {
			in.keys = pt.sortKeys(f.acc.SortBy)
		}
	}
	return in
}

// add adds document i to a state.
func (in *fed) add(acc accumulate.Accumulator, i int) error {
	if in.values == nil {
		return acc.Add(value.Value{})
	}
	v, err := in.values.at(i)
	if err != nil {
		return err
	}
	if in.keys == nil {
		return acc.Add(v)
	}
	key, err := in.keys.at(i)
	if err != nil {
		return err
	}
	return acc.(*accumulate.Ranked).AddKeyed(key, v)
}

func (in *fed) drop(i int) {
	if in.values != nil {
		in.values.drop(i)
	}
	if in.keys != nil {
		in.keys.drop(i)
	}
}
