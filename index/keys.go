package index

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// row is one index entry before it is encoded: a value for each part of the
// key. Wildcard and text fields have two parts.
type row []value.Value

// Keys appends the record's keys; it implements storage.Index.
func (s *Spec) Keys(dst [][]byte, r storage.Record) (keys [][]byte, multikey bool, err error) {
	if s.Internal != "" {
		return s.internalKeys(dst, r), false, nil
	}
	if ok, err := s.covered(r.Doc); !ok {
		return dst, false, err
	}
	if key, state := s.simpleKey(r.Doc); state == simpleDone {
		return append(dst, key), false, nil
	} else if state == simpleNone {
		return dst, false, nil
	}
	start := len(dst)
	multikey, err = s.rows(r.Doc, func(row row) {
		dst = append(dst, s.encode(nil, row))
	})
	if err != nil {
		return dst[:start], false, err
	}
	return uniqueKeys(dst, start), multikey, nil
}

// uniqueKeys sorts keys[start:] and drops equal ones.
func uniqueKeys(keys [][]byte, start int) [][]byte {
	if len(keys)-start < 2 {
		return keys
	}
	own := keys[start:]
	slices.SortFunc(own, bytes.Compare)
	return keys[:start+len(slices.CompactFunc(own, bytes.Equal))]
}

// The outcomes of simpleKey.
type simpleState uint8

const (
	simpleNot  simpleState = iota // an array or a special field: the long way
	simpleDone                    // exactly one key
	simpleNone                    // no key: sparse
)

// simpleKey makes the key of a document without arrays on the indexed
// paths, in one allocation.
func (s *Spec) simpleKey(d value.Doc) ([]byte, simpleState) {
	if s.Kind != Plain {
		return nil, simpleNot
	}
	key := make([]byte, 0, 24*len(s.Fields))
	missing := 0
	for i := range s.Fields {
		v, plain := scalarAt(d, s.Fields[i].path)
		if !plain {
			return nil, simpleNot
		}
		if v.IsMissing() {
			v = value.Null()
			missing++
		}
		key = s.appendPart(key, v, s.Fields[i].Desc)
	}
	if s.Sparse && missing == len(s.Fields) {
		return nil, simpleNone
	}
	return key, simpleDone
}

// scalarAt follows a path through documents; plain is false where an array
// is met.
func scalarAt(d value.Doc, p value.Path) (v value.Value, plain bool) {
	parts := p.Parts()
	for i, part := range parts {
		v = d.Lookup(part)
		switch {
		case v.Kind() == value.KindArray:
			return v, false
		case i == len(parts)-1:
			return v, true
		case v.Kind() != value.KindDocument:
			return value.Value{}, true
		}
		d = v.Doc()
	}
	return v, true
}

// rows makes the entries of a document that belongs to the index.
func (s *Spec) rows(d value.Doc, yield func(row)) (multikey bool, err error) {
	switch s.Kind {
	case Plain:
		return s.plainRows(d, yield)
	case Hashed:
		return s.hashedRows(d, yield)
	}
	return s.productRows(d, yield)
}

// encode appends the key of a row.
func (s *Spec) encode(dst []byte, row row) []byte {
	n := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Kind {
		case Wildcard:
			// Paths are compared bytewise whatever the collation.
			dst = value.AppendKey(dst, row[n])
			if f.Desc {
				value.InvertKey(dst[len(dst)-len(value.AppendKey(nil, row[n])):])
			}
			dst = s.appendPart(dst, row[n+1], f.Desc)
			n += 2
		case Text:
			dst = value.AppendKey(dst, row[n])
			dst = value.AppendKey(dst, row[n+1])
			n += 2
		default:
			dst = s.appendPart(dst, row[n], f.Desc)
			n++
		}
	}
	return dst
}

func (s *Spec) appendPart(dst []byte, v value.Value, desc bool) []byte {
	if desc {
		return value.AppendKeyDesc(dst, v, s.collator)
	}
	return value.AppendKeyWith(dst, v, s.collator)
}

// KeyValues returns the entries of a document as documents with the fields
// of the key pattern: what returnKey and a duplicate key error show.
func (s *Spec) KeyValues(d value.Doc) []value.Doc {
	var out []value.Doc
	s.eachRow(d, func(row row) { out = append(out, s.rowDoc(row)) })
	return out
}

// KeyValue returns the entry of a document that has the given key, in the
// form of [Spec.KeyValues]; nil if it has none.
func (s *Spec) KeyValue(d value.Doc, key []byte) (found value.Doc) {
	s.eachRow(d, func(row row) {
		if found == nil && bytes.Equal(s.encode(nil, row), key) {
			found = s.rowDoc(row)
		}
	})
	return found
}

func (s *Spec) eachRow(d value.Doc, yield func(row)) {
	if s.Internal != "" {
		return
	}
	if ok, err := s.covered(d); !ok || err != nil {
		return
	}
	// A document that cannot be indexed has no entries.
	_, _ = s.rows(d, yield)
}

func (s *Spec) rowDoc(row row) value.Doc {
	b := value.NewBuilder()
	n := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Kind {
		case Wildcard:
			b.Append("$_path", row[n]).Append(wildcardPath(f.Path), row[n+1])
			n += 2
		case Text:
			b.Append(ftsField, row[n]).Append(ftsxField, row[n+1])
			n += 2
		default:
			b.Append(f.Path, row[n])
			n++
		}
	}
	return b.Doc()
}

func wildcardPath(root string) string {
	if root == "" {
		return wildcardSuffix
	}
	return root + "." + wildcardSuffix
}
