package expr

import (
	"math"
	"slices"
	"sort"

	"github.com/duskdb/duskdb/value"
)

// list holds the elements of one or more arrays, for sorting. The elements of
// large arrays are stored as positions in the arrays, which need a tenth of
// the memory of values. Operations on a list can be interrupted.
type list struct {
	env    *Env
	op     string        // the operator, for errors
	values []value.Value // the elements of small arrays
	arrays []value.Doc   // large ones
	starts []int         // the start of each large array, as if they followed one another
	refs   []uint32      // positions of elements in the large arrays
}

const (
	manyBytes   = 256 << 10 // the least size of large arrays
	maxBytes    = math.MaxUint32
	bytesOfRef  = 4
	bytesOfItem = 40 // a value.Value
)

// listOf lists the elements of arrays, for an operator.
func listOf(env *Env, op string, arrays ...value.Value) (*list, error) {
	l := &list{env: env, op: op}
	size := 0
	for _, a := range arrays {
		l.arrays, l.starts = append(l.arrays, a.Doc()), append(l.starts, size)
		size += len(a.Doc())
	}
	large := size >= manyBytes && size <= maxBytes // the same array may be given often
	n, each := 0, bytesOfItem
	if large {
		each = bytesOfRef
	}
	for _, d := range l.arrays {
		n += d.Len()
	}
	if n*each >= smallValue {
		if err := env.hold(op, n*each); err != nil {
			return nil, err
		}
	}
	if large {
		l.refs = make([]uint32, 0, n)
		return l, l.addRefs()
	}
	l.values = make([]value.Value, 0, n)
	for _, d := range l.arrays {
		it := d.Iter()
		for it.Next() {
			l.values = append(l.values, it.Value())
		}
	}
	l.arrays = nil
	return l, nil
}

// addRefs adds the positions of all elements.
func (l *list) addRefs() error {
	for i, d := range l.arrays {
		it := d.Iter()
		for it.Next() {
			if err := l.env.tick(); err != nil {
				return err
			}
			at := len(d) - 1 - len(it.Rest()) - len(it.Element())
			l.refs = append(l.refs, uint32(l.starts[i]+at))
		}
	}
	return nil
}

func (l *list) len() int { return len(l.values) + len(l.refs) }

// at returns the i-th element.
func (l *list) at(i int) value.Value {
	if l.arrays == nil {
		return l.values[i]
	}
	return l.read(l.refs[i])
}

func (l *list) read(ref uint32) value.Value {
	if len(l.arrays) == 1 {
		return l.arrays[0].ValueAt(int(ref))
	}
	i, at := l.place(ref)
	return l.arrays[i].ValueAt(at)
}

// place returns the array and the position in it that a reference means.
func (l *list) place(ref uint32) (i, at int) {
	at = int(ref)
	switch n := len(l.arrays); {
	case n > 2:
		i = sort.Search(n, func(i int) bool { return l.starts[i] > at }) - 1
	case n == 2 && at >= l.starts[1]:
		i = 1
	}
	return i, at - l.starts[i]
}

// sort sorts the elements by cmp; the sort is stable.
func (l *list) sort(cmp func(a, b value.Value) int) (err error) {
	if l.arrays == nil {
		return SortStable(l.env, l.values, cmp)
	}
	if err := l.env.hold(l.op, bytesOfRef*len(l.refs)/2); err != nil {
		return err
	}
	return mergeSort(l.env, l.refs, func(a, b uint32) int { return cmp(l.read(a), l.read(b)) })
}

// distinct removes all but the first of adjacent equal elements.
func (l *list) distinct() {
	l.values = slices.CompactFunc(l.values, func(a, b value.Value) bool { return l.env.compare(a, b) == 0 })
	kept := l.refs[:0]
	var last value.Value
	for i, ref := range l.refs {
		v := l.read(ref)
		if i == 0 || l.env.compare(last, v) != 0 {
			kept = append(kept, ref)
		}
		last = v
	}
	l.refs = kept
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
	refs := l.refs[:min(n, len(l.refs))]
	size := emptyDoc + value.ArrayNames(len(refs))
	for _, ref := range refs {
		if err := l.env.tick(); err != nil {
			return value.Value{}, err
		}
		i, at := l.place(ref)
		size += l.arrays[i].SizeAt(at)
	}
	out := arrayBuilder{env: l.env, op: l.op}
	if err := out.reserve(size); err != nil {
		return value.Value{}, err
	}
	for _, ref := range refs {
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

// SortStable is a stable sort that can be interrupted, and then leaves the order undefined.
func SortStable[T any](env *Env, s []T, cmp func(a, b T) int) (err error) {
	slices.SortStableFunc(s, func(a, b T) int {
		if err == nil {
			err = env.Tick()
		}
		if err != nil {
			return 0
		}
		return cmp(a, b)
	})
	return err
}

// mergeSort is a stable sort that can be interrupted. It needs room for half of
// the elements.
func mergeSort[T any](env *Env, s []T, cmp func(a, b T) int) error {
	for from := 0; from < len(s); from += sortRun {
		if err := env.tick(); err != nil {
			return err
		}
		sortShort(s[from:min(from+sortRun, len(s))], cmp)
	}
	var scratch []T
	for run := sortRun; run < len(s); run *= 2 {
		for from := 0; from+run < len(s); from += 2 * run {
			both := s[from:min(from+2*run, len(s))]
			if cmp(both[run-1], both[run]) <= 0 { // in order already
				if err := env.tick(); err != nil {
					return err
				}
				continue
			}
			if scratch == nil {
				scratch = make([]T, len(s)/2)
			}
			merge := mergeUp[T]
			if len(both)-run < run {
				merge = mergeDown[T]
			}
			if cmp(both[len(both)-1], both[0]) < 0 { // in reverse
				merge = swap[T]
			}
			if err := merge(env, scratch, both, run, cmp); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortShort sorts a few elements. Those in reverse are common, and most expensive to insert.
func sortShort[T any](s []T, cmp func(a, b T) int) {
	falling := 1
	for falling < len(s) && cmp(s[falling-1], s[falling]) > 0 {
		falling++
	}
	if falling < len(s) {
		slices.SortStableFunc(s, cmp)
	} else {
		slices.Reverse(s)
	}
}

// swap exchanges s[:n] and s[n:].
func swap[T any](env *Env, scratch, s []T, n int, _ func(a, b T) int) error {
	if len(s)-n < n {
		b := scratch[:copy(scratch, s[n:])]
		copy(s[len(b):], s[:n])
		copy(s, b)
	} else {
		a := scratch[:copy(scratch, s[:n])]
		copy(s[copy(s, s[n:]):], a)
	}
	return env.tick()
}

// mergeUp merges the sorted s[:n] and s[n:] from their beginnings, with a copy of the
// first in scratch.
func mergeUp[T any](env *Env, scratch, s []T, n int, cmp func(a, b T) int) error {
	a, b := scratch[:copy(scratch, s[:n])], s[n:]
	for i := 0; len(a) > 0; i++ {
		if err := env.tick(); err != nil {
			return err
		}
		if len(b) == 0 || cmp(a[0], b[0]) <= 0 {
			s[i], a = a[0], a[1:]
		} else {
			s[i], b = b[0], b[1:]
		}
	}
	return nil
}

// mergeDown merges the sorted s[:n] and s[n:] from their ends, with a copy of the second
// in scratch.
func mergeDown[T any](env *Env, scratch, s []T, n int, cmp func(a, b T) int) error {
	a, b := s[:n], scratch[:copy(scratch, s[n:])]
	for i := len(s) - 1; len(b) > 0; i-- {
		if err := env.tick(); err != nil {
			return err
		}
		if len(a) == 0 || cmp(a[len(a)-1], b[len(b)-1]) <= 0 {
			s[i], b = b[len(b)-1], b[:len(b)-1]
		} else {
			s[i], a = a[len(a)-1], a[:len(a)-1]
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
