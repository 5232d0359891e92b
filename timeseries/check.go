package timeseries

import "github.com/duskdb/duskdb/value"

// check judges a bucket by its control values.
type check interface {
	may(h *header) bool
}

// all holds if each of its checks does.
type all []check

func (c all) may(h *header) bool {
	for _, one := range c {
		if !one.may(h) {
			return false
		}
	}
	return true
}

// anyOf holds if one of its checks does.
type anyOf []check

func (c anyOf) may(h *header) bool {
	for _, one := range c {
		if one.may(h) {
			return true
		}
	}
	return false
}

// comparison asks whether a value behind the path may compare as wanted.
type comparison struct {
	path value.Path
	op   compareOp
	v    value.Value
	c    value.Collator // of the collection and of the query
}

func (c *comparison) may(h *header) bool {
	least, ok := follow(h.min, c.path)
	greatest, ok2 := follow(h.max, c.path)
	if !ok || !ok2 {
		return true
	}
	if least.IsMissing() && greatest.IsMissing() {
		return false // no measurement has the field
	}
	// Only if both ends are of one type, everything between is; of documents
	// and arrays control keeps parts, not ends.
	rank := least.Kind().Rank()
	if rank != greatest.Kind().Rank() || rank == value.KindDocument.Rank() || rank == value.KindArray.Rank() {
		return true
	}
	if rank != c.v.Kind().Rank() {
		return false // other types do not compare
	}
	switch c.op {
	case opGt:
		return value.CompareWith(greatest, c.v, c.c) > 0
	case opGte:
		return value.CompareWith(greatest, c.v, c.c) >= 0
	case opLt:
		return value.CompareWith(least, c.v, c.c) < 0
	case opLte:
		return value.CompareWith(least, c.v, c.c) <= 0
	}
	return value.CompareWith(least, c.v, c.c) <= 0 && value.CompareWith(greatest, c.v, c.c) >= 0
}

// follow walks a path through the documents of control. ok is false where
// control does not tell: at an array, or at something else on the way.
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
