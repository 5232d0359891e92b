package expr

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// list holds the elements of one or more arrays, for sorting. The elements of
// large arrays are stored as positions in the arrays, which need a fifth of
// the memory of values. Operations on a list can be interrupted.
type list struct {
	env    *Env
	values []value.Value // of small arrays
	arrays []value.Doc   // large ones
	refs   []uint64      // index into arrays, and offset of the element
	size   int           // of arrays
	listed int           // number of elements in arrays
}

// manyBytes is the least size of a large array.
const manyBytes = 256 << 10

// listOf lists the elements of arrays.
func listOf(env *Env, arrays ...value.Value) (*list, error) {
	l := &list{env: env}
	for _, a := range arrays {
		l.size += len(a.Doc())
	}
	if l.size < manyBytes {
		for _, a := range arrays {
			for it := a.Doc().Iter(); it.Next(); {
				l.values = append(l.values, it.Value())
			}
		}
		return l, nil
	}
	for i, a := range arrays {
		d := a.Doc()
		l.arrays = append(l.arrays, d)
		for it := d.Iter(); it.Next(); {
			if err := env.tick(); err != nil {
				return nil, err
			}
			at := len(d) - 1 - len(it.Rest()) - len(it.Element())
			l.refs = append(l.refs, uint64(i)<<32|uint64(at))
		}
	}
	l.listed = len(l.refs)
	return l, nil
}

func (l *list) len() int { return len(l.values) + len(l.refs) }

// at returns the i-th element.
func (l *list) at(i int) value.Value {
	if l.arrays == nil {
		return l.values[i]
	}
	return l.read(l.refs[i])
}

func (l *list) read(ref uint64) value.Value { return l.arrays[ref>>32].ValueAt(int(uint32(ref))) }

// sort sorts the elements by cmp; the sort is stable.
func (l *list) sort(cmp func(a, b value.Value) int) (err error) {
	if l.arrays == nil {
		slices.SortStableFunc(l.values, cmp)
		return nil
	}
	l.refs, err = mergeSort(l.env, l.refs, func(a, b uint64) int { return cmp(l.read(a), l.read(b)) })
	return err
}

// distinct removes all but the first of adjacent equal elements.
func (l *list) distinct() {
	l.values = slices.CompactFunc(l.values, func(a, b value.Value) bool { return l.env.compare(a, b) == 0 })
	l.refs = slices.CompactFunc(l.refs, func(a, b uint64) bool { return l.env.compare(l.read(a), l.read(b)) == 0 })
}

// keep removes the elements for which want is false.
func (l *list) keep(want func(v value.Value) bool) error {
	l.values = slices.DeleteFunc(l.values, func(v value.Value) bool { return !want(v) })
	kept := l.refs[:0]
	for _, ref := range l.refs {
		if err := l.env.tick(); err != nil {
			return err
		}
		if want(l.read(ref)) {
			kept = append(kept, ref)
		}
	}
	l.refs = kept
	return nil
}

// has looks a value up; the list must be sorted.
func (l *list) has(v value.Value) bool {
	lo, hi := 0, l.len()
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := l.env.compare(l.at(mid), v); {
		case c == 0:
			return true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}

// reverse reverses the order.
func (l *list) reverse() {
	slices.Reverse(l.values)
	slices.Reverse(l.refs)
}

// array returns the array of the first n elements.
func (l *list) array(n int) (value.Value, error) {
	if l.arrays == nil {
		return value.NewArray(l.values[:min(n, len(l.values))]...), nil
	}
	n = min(n, len(l.refs))
	var out value.ArrayBuilder
	out.Grow(l.size * n / max(l.listed, 1))
	for _, ref := range l.refs[:n] {
		if err := l.env.tick(); err != nil {
			return value.Value{}, err
		}
		out.Append(l.read(ref))
	}
	return out.Value(), nil
}

// sortRun is the length of the runs that are sorted by insertion before
// merging.
const sortRun = 16

// mergeSort is a stable sort that can be interrupted. It returns the sorted
// slice, which may be another one.
func mergeSort[T any](env *Env, s []T, cmp func(a, b T) int) ([]T, error) {
	for from := 0; from < len(s); from += sortRun {
		if err := env.tick(); err != nil {
			return nil, err
		}
		slices.SortStableFunc(s[from:min(from+sortRun, len(s))], cmp)
	}
	if len(s) <= sortRun {
		return s, nil
	}
	other := make([]T, len(s))
	for run := sortRun; run < len(s); run *= 2 {
		for from := 0; from < len(s); from += 2 * run {
			middle, end := min(from+run, len(s)), min(from+2*run, len(s))
			if err := merge(env, other[from:end], s[from:middle], s[middle:end], cmp); err != nil {
				return nil, err
			}
		}
		s, other = other, s
	}
	return s, nil
}

// merge merges two sorted runs into out.
func merge[T any](env *Env, out, a, b []T, cmp func(a, b T) int) error {
	if len(a) > 0 && (len(b) == 0 || cmp(a[len(a)-1], b[0]) <= 0) { // in order already
		copy(out[copy(out, a):], b)
		return env.tick()
	}
	if len(a) > 0 && cmp(b[len(b)-1], a[0]) < 0 { // in reverse
		copy(out[copy(out, b):], a)
		return env.tick()
	}
	for i := range out {
		if err := env.tick(); err != nil {
			return err
		}
		if len(b) == 0 || len(a) > 0 && cmp(a[0], b[0]) <= 0 {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
	return nil
}

// equal reports whether two lists have equal elements.
func (l *list) equal(other *list) bool {
	if l.len() != other.len() {
		return false
	}
	for i := range l.len() {
		if l.env.compare(l.at(i), other.at(i)) != 0 {
			return false
		}
	}
	return true
}
