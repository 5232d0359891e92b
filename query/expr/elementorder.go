package expr

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// ElementOrder is an order of the elements of an array: the sortBy of $sortArray and the $sort
// of $push. The pattern of a $sort stage is another one: it orders documents, knows metadata
// and enters arrays.
type ElementOrder []elementKey

// elementKey is one field of the order.
type elementKey struct {
	path []string // nil for the whole element
	sign int
}

// ParseElementOrder reads 1 or -1, or a pattern of fields.
func ParseElementOrder(v value.Value) (ElementOrder, error) {
	if v.IsNumber() {
		sign, ok := sortSign(v)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue, "The $sort element value must be either 1 or -1")
		}
		return ElementOrder{{sign: sign}}, nil
	}
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(mongoerr.BadValue,
			"The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	}
	if v.Doc().IsEmpty() {
		return nil, mongoerr.New(mongoerr.BadValue, "The sort pattern is empty when it should be a set of fields.")
	}
	var order ElementOrder
	for name, direction := range v.Doc().All() {
		sign, ok := sortSign(direction)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue, "The sort element value must be either 1 or -1")
		}
		if name == "" {
			return nil, mongoerr.New(mongoerr.BadValue, "The sort field cannot be empty")
		}
		path := strings.Split(name, ".")
		if slices.Contains(path, "") {
			return nil, mongoerr.Newf(mongoerr.BadValue, "The sort field is a dotted field but has an empty part: %s", name)
		}
		order = append(order, elementKey{path, sign})
	}
	return order, nil
}

func sortSign(v value.Value) (sign int, ok bool) {
	f := v.AsDouble()
	return int(f), v.IsNumber() && (f == 1 || f == -1)
}

// Compare orders two elements.
func (o ElementOrder) Compare(a, b value.Value, c value.Collator) int {
	for i := range o {
		if d := value.CompareWith(o[i].of(a), o[i].of(b), c); d != 0 {
			return d * o[i].sign
		}
	}
	return 0
}

// of returns the value that an element is ordered by: the value at the path, where arrays are
// entered by position only; null if there is no such value.
func (k *elementKey) of(elem value.Value) value.Value {
	if k.path == nil {
		return elem
	}
	if elem.Kind() != value.KindDocument {
		return value.Null()
	}
	for _, name := range k.path {
		if elem.Kind() != value.KindDocument && elem.Kind() != value.KindArray {
			return value.Null()
		}
		if elem = elem.Doc().Lookup(name); elem.IsMissing() {
			return value.Null()
		}
	}
	return elem
}
