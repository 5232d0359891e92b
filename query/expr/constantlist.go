package expr

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// constantList is a sorted array that is known at compile time, so that a
// look-up needs a binary search instead of a scan.
type constantList struct {
	values  []value.Value
	strings bool // reports whether there are values that a collation may order differently
}

// fewConstants is the number of elements up to which a scan is as fast as a
// binary search.
const fewConstants = 8

// prepareIn sorts the constant list of a $in.
func prepareIn(c *call) (any, error) {
	list, ok := c.args[1].(constant)
	if !ok || list.v.Kind() != value.KindArray {
		return nil, nil
	}
	values := slices.Collect(list.v.Doc().Values())
	if len(values) <= fewConstants {
		return nil, nil
	}
	l := &constantList{values: values}
	for _, v := range values {
		switch v.Kind() {
		case value.KindString, value.KindSymbol, value.KindDocument, value.KindArray:
			l.strings = true
		}
	}
	slices.SortFunc(values, value.Compare)
	return l, nil
}

// orders reports whether the list is in the order of the environment.
func (l *constantList) orders(env *Env) bool { return env.Collation == nil || !l.strings }

// has looks a value up.
func (l *constantList) has(v value.Value) bool {
	_, found := slices.BinarySearchFunc(l.values, v, value.Compare)
	return found
}
