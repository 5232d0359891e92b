package timeseries

import "github.com/duskdb/duskdb/value"

// extreme tracks the minimum or the maximum of a field; for documents and
// arrays, the extremes of their parts.
type extreme struct {
	v        value.Value
	greatest bool
	c        value.Collator
}

// add takes a value into account.
func (e *extreme) add(v value.Value) {
	e.v = merge(e.v, v, e.greatest, e.c)
}

// merge returns the lesser or greater of two values; of two documents or two
// arrays, that of their parts.
func merge(old, v value.Value, greatest bool, c value.Collator) value.Value {
	if old.IsMissing() {
		return v
	}
	if old.Kind() == v.Kind() {
		switch v.Kind() {
		case value.KindDocument:
			return mergeDocs(old.Doc(), v.Doc(), greatest, c)
		case value.KindArray:
			return mergeArrays(old.Doc(), v.Doc(), greatest, c)
		}
	}
	if cmp := value.CompareWith(v, old, c); greatest && cmp > 0 || !greatest && cmp < 0 {
		return v
	}
	return old
}

// mergeDocs merges by name: first the fields of old, then the new ones.
func mergeDocs(old, d value.Doc, greatest bool, c value.Collator) value.Value {
	b := value.NewBuilder()
	fields := newFields(d)
	for name, o := range old.All() {
		v := fields.lookup(name)
		if v.IsMissing() {
			b.Append(name, o)
			continue
		}
		b.Append(name, merge(o, v, greatest, c))
	}
	fields = newFields(old)
	for name, v := range d.All() {
		if fields.lookup(name).IsMissing() {
			b.Append(name, v)
		}
	}
	return value.Document(b.Doc())
}

// mergeArrays merges by position.
func mergeArrays(old, d value.Doc, greatest bool, c value.Collator) value.Value {
	var a value.ArrayBuilder
	i, j := old.Iter(), d.Iter()
	for {
		more, other := i.Next(), j.Next()
		switch {
		case more && other:
			a.Append(merge(i.Value(), j.Value(), greatest, c))
		case more:
			a.Append(i.Value())
		case other:
			a.Append(j.Value())
		default:
			return a.Value()
		}
	}
}
