package window

import "github.com/duskdb/duskdb/value"

// smallWindow is the number of documents up to which a window is computed from all of them:
// that costs less, and sums have no rounding errors of joined parts.
const smallWindow = 32

// fold combines the documents of a window that moves forward, for operations without an
// inverse, with a constant number of joins per document. It is a queue of two stacks: one has
// the states of all suffixes of the older documents, the other one state of all newer
// documents. When the window leaves the first stack, the documents of the second move there.
type fold[S any] struct {
	pt   *windowPartition
	of   func(i int) (S, error)  // the state of one document
	join func(a, b S) (S, error) // b is of later documents
	size func(S) int64           // memory of a state
	old  []S                     // old[k] is the state of the documents from from+k up to mid
	from int
	mid  int
	new  S // the result of the documents from mid up to to, if there are any
	to   int
}

// over returns the state of a window, which must not be empty.
func (f *fold[S]) over(w span) (s S, err error) {
	if len(f.old) == 0 || w.from >= f.mid || w.from < f.from || w.to < f.to {
		if err := f.restart(w); err != nil {
			return s, err
		}
	}
	for ; f.from < w.from; f.from++ {
		f.pt.docs.held -= f.size(f.old[0])
		f.old = f.old[1:]
	}
	for ; f.to < w.to; f.to++ {
		one, err := f.of(f.to)
		if err == nil && f.to > f.mid {
			one, err = f.join(f.new, one)
		}
		if err != nil {
			return s, err
		}
		f.new = one
	}
	if f.to == f.mid {
		return f.old[0], nil
	}
	return f.join(f.old[0], f.new)
}

// restart computes the states of all suffixes of a window.
func (f *fold[S]) restart(w span) error {
	for _, s := range f.old {
		f.pt.docs.held -= f.size(s)
	}
	f.old, f.from, f.mid, f.to = make([]S, w.to-w.from), w.from, w.to, w.to
	for k := len(f.old) - 1; k >= 0; k-- {
		one, err := f.of(w.from + k)
		if err == nil && k+1 < len(f.old) {
			one, err = f.join(one, f.old[k+1])
		}
		if err == nil {
			err = f.pt.docs.hold(f.size(one))
		}
		if err == nil {
			err = f.pt.x.Tick()
		}
		if err != nil {
			f.old = f.old[:0] // it is not called again
			return err
		}
		f.old[k] = one
	}
	return nil
}

// folded returns the fold of the states of an accumulator.
func (a *windowAccumulator) folded() *fold[value.Value] {
	joined := func(add func(to accumulator) error) (value.Value, error) {
		acc, err := a.f.acc.Start(a.pt.x, value.Value{})
		if err == nil {
			err = add(acc)
		}
		if err != nil {
			return value.Value{}, err
		}
		return acc.Partial(), nil
	}
	return &fold[value.Value]{
		pt: a.pt, size: valueSize,
		of: func(i int) (value.Value, error) {
			return joined(func(acc accumulator) error { return a.in.add(acc, i) })
		},
		join: func(x, y value.Value) (value.Value, error) {
			return joined(func(acc accumulator) error {
				if err := acc.Merge(x); err != nil {
					return err
				}
				return acc.Merge(y)
			})
		},
	}
}
