package timeseries

import "github.com/duskdb/duskdb/value"

// check tests a bucket by its control values.
type check interface {
	may(h *header) bool
}

// all is satisfied if each of its checks is.
type all []check

func (c all) may(h *header) bool {
	for _, one := range c {
		if !one.may(h) {
			return false
		}
	}
	return true
}

// anyOf is satisfied if one of its checks is.
type anyOf []check

func (c anyOf) may(h *header) bool {
	for _, one := range c {
		if one.may(h) {
			return true
		}
	}
	return false
}

// comparison tests whether a value at the path may satisfy a comparison.
type comparison struct {
	path value.Path
	op   compareOp
	v    value.Value
	c    value.Collator // collator of the collection and of the query
}

// may reports whether a value between the extremes in control may satisfy the
// comparison.
func (c *comparison) may(h *header) bool {
	lo, ok := follow(h.min, c.path)
	hi, ok2 := follow(h.max, c.path)
	if !ok || !ok2 {
		return true
	}
	if lo.IsMissing() && hi.IsMissing() {
		return false // no measurement has the field
	}
	// Only if both ends have the same type, all values do; for documents and
	// arrays control has the extremes of their parts, not of the values.
	rank := lo.Kind().Rank()
	if rank != hi.Kind().Rank() || rank == value.KindDocument.Rank() || rank == value.KindArray.Rank() {
		return true
	}
	if rank != c.v.Kind().Rank() {
		return false // other types do not compare
	}
	switch c.op {
	case opGt:
		return value.CompareWith(hi, c.v, c.c) > 0
	case opGte:
		return value.CompareWith(hi, c.v, c.c) >= 0
	case opLt:
		return value.CompareWith(lo, c.v, c.c) < 0
	case opLte:
		return value.CompareWith(lo, c.v, c.c) <= 0
	}
	return value.CompareWith(lo, c.v, c.c) <= 0 && value.CompareWith(hi, c.v, c.c) >= 0
}

// follow walks a path through the documents of control. ok is false if control
// does not contain the value: at an array, or if a component is not a
// document.
func follow(d value.Doc, path value.Path) (v value.Value, ok bool) {
	parts := path.Parts()
	for i, name := range parts {
		v = d.Lookup(name)
		if i == len(parts)-1 {
			return v, v.Kind() != value.KindArray
		}
		if v.IsMissing() {
			return v, true
		}
		if v.Kind() != value.KindDocument {
			return v, false
		}
		d = v.Doc()
	}
	return v, false
}
