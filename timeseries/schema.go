package timeseries

import "github.com/duskdb/duskdb/value"

// takes reports whether a measurement has the types that the bucket has had so
// far: a field that changes its type closes the bucket, as in mongod. Numbers of
// all types are one type, and so is what a field has not been yet.
func (b *Bucket) takes(d value.Doc) bool {
	likely := 0
	for it := d.Iter(); it.Next(); {
		name := it.Key()
		if name == b.o.MetaField && name != "" {
			continue
		}
		col, i := b.column(name, likely)
		if col == nil {
			continue
		}
		likely = i + 1
		if !sameSchema(col.max.v, it.Value()) {
			return false
		}
	}
	return true
}

// sameSchema compares the types of two values, and of their parts.
func sameSchema(known, v value.Value) bool {
	if known.IsMissing() || v.IsMissing() {
		return true
	}
	if value.KeyRank(known.Kind()) != value.KeyRank(v.Kind()) {
		return false
	}
	switch v.Kind() {
	case value.KindDocument:
		fields := newFields(known.Doc())
		for name, part := range v.Doc().All() {
			if !sameSchema(fields.lookup(name), part) {
				return false
			}
		}
	case value.KindArray:
		i, j := known.Doc().Iter(), v.Doc().Iter()
		for i.Next() && j.Next() {
			if !sameSchema(i.Value(), j.Value()) {
				return false
			}
		}
	}
	return true
}
