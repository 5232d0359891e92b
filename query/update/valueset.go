package update

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// valueSet is a set of values for look-ups.
type valueSet struct {
	values   []value.Value // distinct, in their original order
	order    []int32       // the places of the values, in ascending order
	collator value.Collator
}

// valuesOf lists the elements of an array.
func valuesOf(array value.Doc) []value.Value {
	return slices.AppendSeq(make([]value.Value, 0, array.Len()), array.Values())
}

// newValueSet returns a set, which takes the list over; of equal values it keeps the first.
func newValueSet(values []value.Value, c value.Collator) valueSet {
	s := valueSet{collator: c}
	if len(values) == 1 {
		s.values, s.order = values, []int32{0}
		return s
	}
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return value.CompareWith(values[a], values[b], c) })
	first := make([]bool, len(values))
	for i, at := range order {
		first[at] = i == 0 || value.CompareWith(values[order[i-1]], values[at], c) != 0
	}
	place := make([]int32, len(values)) // in s.values
	s.values, s.order = values[:0], order[:0]
	for i, v := range values {
		if first[i] {
			place[i] = int32(len(s.values))
			s.values = append(s.values, v)
		}
	}
	for _, at := range order {
		if first[at] {
			s.order = append(s.order, place[at])
		}
	}
	return s
}

// find returns the index of a value in values, or -1.
func (s *valueSet) find(v value.Value) int {
	i, found := slices.BinarySearchFunc(s.order, v, func(at int32, v value.Value) int {
		return value.CompareWith(s.values[at], v, s.collator)
	})
	if !found {
		return -1
	}
	return int(s.order[i])
}
