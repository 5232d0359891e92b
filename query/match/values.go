package match

import (
	"iter"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// Values are the values of a $in, in order and without duplicates. Of a long list only the
// positions in the filter are kept, which need a tenth of the memory.
type Values struct {
	few  []value.Value
	list value.Doc // the list in the filter
	at   []uint32  // the positions in it
}

// manyValues is the length from which a list is long.
const manyValues = 64

// valuesOf makes room for n values of a list in a filter.
func valuesOf(list value.Doc, n int) Values {
	if n < manyValues {
		return Values{few: make([]value.Value, 0, n)}
	}
	return Values{list: list, at: make([]uint32, 0, n)}
}

// add adds the element of the list that an iterator stands on; sort must follow.
func (v *Values) add(it *value.Iter) {
	if v.list == nil {
		v.few = append(v.few, it.Value())
		return
	}
	v.at = append(v.at, uint32(len(v.list)-1-len(it.Rest())-len(it.Element())))
}

// sort sorts the values by an order and removes duplicates.
func (v *Values) sort(order func(a, b value.Value) int) {
	slices.SortStableFunc(v.few, order)
	v.few = slices.CompactFunc(v.few, func(a, b value.Value) bool { return order(a, b) == 0 })
	slices.SortStableFunc(v.at, func(a, b uint32) int { return order(v.list.ValueAt(int(a)), v.list.ValueAt(int(b))) })
	v.at = slices.CompactFunc(v.at, func(a, b uint32) bool { return order(v.list.ValueAt(int(a)), v.list.ValueAt(int(b))) == 0 })
}

// has reports whether a value is among them, in the order by which they are sorted.
func (v *Values) has(one value.Value, order func(a, b value.Value) int) (found bool) {
	if v.list == nil {
		_, found = slices.BinarySearchFunc(v.few, one, order)
		return found
	}
	_, found = slices.BinarySearchFunc(v.at, one, func(at uint32, one value.Value) int { return order(v.list.ValueAt(int(at)), one) })
	return found
}

// Len returns the number of values.
func (v *Values) Len() int { return len(v.few) + len(v.at) }

// At returns the i-th value.
func (v *Values) At(i int) value.Value {
	if v.list == nil {
		return v.few[i]
	}
	return v.list.ValueAt(int(v.at[i]))
}

// All iterates over the values.
func (v *Values) All() iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for i := range v.Len() {
			if !yield(v.At(i)) {
				return
			}
		}
	}
}
