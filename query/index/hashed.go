package index

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// hashedRows makes the entry of a hashed index. Arrays are refused on the path
// of every field, also of the ordinary fields of a compound hashed index.
func (s *Spec) hashedRows(d value.Doc, yield func(row)) (multikey plan.Multikey, err error) {
	out := make(row, len(s.Fields))
	missing := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		v, plain := scalarAt(d, f.path)
		if !plain {
			return 0, mongoerr.Newf(16766, "Error: hashed indexes do not currently support array values. Found array at path: %s", f.Path)
		}
		if v.IsMissing() {
			v = value.Null()
			missing++
		}
		if f.Kind == Hashed {
			v = value.Int64(s.Hash(v))
		}
		out[i] = v
	}
	if !s.Sparse || missing < len(out) {
		yield(out)
	}
	return 0, nil
}

// Hash returns the key value of a hashed index: the value's hash or, with a
// collation, the hash of its comparison key.
func (s *Spec) Hash(v value.Value) int64 {
	if s.collator != nil {
		v = collated(v, s.collator)
	}
	return value.HashedKey(v)
}

// collated replaces all strings in v by their comparison keys.
func collated(v value.Value, c value.Collator) value.Value {
	switch v.Kind() {
	case value.KindString, value.KindSymbol:
		return value.StringFromBytes(c.AppendKey(nil, v.Str()))
	case value.KindArray, value.KindDocument:
		b := value.NewBuilder()
		for name, e := range v.Doc().All() {
			b.Append(name, collated(e, c))
		}
		if v.Kind() == value.KindArray {
			return value.Array(b.Doc())
		}
		return value.Document(b.Doc())
	}
	return v
}
