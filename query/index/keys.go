package index

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maxClusterKey is the greatest number of bytes of the _id of a clustered
// collection: mongod stores records under it.
const maxClusterKey = 8 << 20

// checkClusterKey checks the size as mongod computes it: binary data takes one
// byte more than in a key of DuskDB, a string one byte less.
func checkClusterKey(id value.Value, size int) error {
	switch id.Kind() {
	case value.KindBinary:
		size++
	case value.KindString:
		size--
	}
	if size <= maxClusterKey {
		return nil
	}
	return mongoerr.Newf(5894900, "RecordId too large, size was %d, max is %d", size, maxClusterKey)
}

// row is one index entry before it is encoded: a value for each part of the
// key. Wildcard and text fields have two parts.
type row []value.Value

// KeepsKeys implements [storage.KeyKeeper] for the index on _id, whose key is that of the
// first field in nearly all documents.
func (s *Spec) KeepsKeys(old, new storage.Record) bool {
	if len(s.Fields) != 1 || s.Fields[0].Path != "_id" || s.Internal != "" || s.show != nil || !s.IsID() {
		return false
	}
	a, b := old.Doc.Iter(), new.Doc.Iter()
	return a.Next() && b.Next() && a.Key() == "_id" && bytes.Equal(a.Element(), b.Element())
}

// Keys appends the record's keys; it implements storage.Index.
func (s *Spec) Keys(dst [][]byte, r storage.Record) (keys [][]byte, multikey storage.Multikey, err error) {
	if s.Internal != "" {
		return s.internalKeys(dst, r), 0, nil
	}
	if s.show != nil {
		r.Doc = s.shown(r)
	}
	if ok, err := s.covered(r.Doc); !ok {
		return dst, 0, err
	}
	if key, state := s.simpleKey(r.Doc); state == simpleDone {
		if s.Clustered && len(key) > maxClusterKey-2 {
			if err := checkClusterKey(r.Doc.Lookup("_id"), len(key)); err != nil {
				return dst, 0, err
			}
		}
		return append(dst, key), 0, nil
	} else if state == simpleNone {
		return dst, 0, nil
	}
	start := len(dst)
	arrays, err := s.rows(r.Doc, func(row row) {
		dst = append(dst, s.entry(row, r.Doc))
	})
	if err != nil {
		return dst[:start], 0, err
	}
	return s.uniqueKeys(dst, start), storage.Multikey(arrays), nil
}

// Order is the part of a key before its tail; it implements storage.Index.
func (s *Spec) Order(key []byte) []byte {
	n := 0
	for _, desc := range s.descending {
		n += value.KeyLen(key[n:], desc)
	}
	if s.descending == nil {
		n = len(key)
	}
	return key[:n:n]
}

// uniqueKeys sorts keys[start:] and drops equal ones.
func (s *Spec) uniqueKeys(keys [][]byte, start int) [][]byte {
	if len(keys)-start < 2 {
		return keys
	}
	own := keys[start:]
	slices.SortFunc(own, bytes.Compare)
	same := func(a, b []byte) bool { return bytes.Equal(s.Order(a), s.Order(b)) }
	return keys[:start+len(slices.CompactFunc(own, same))]
}

// simpleState is an outcome of simpleKey.
type simpleState uint8

const (
	simpleNot  simpleState = iota // an array or a special field: not handled here
	simpleDone                    // exactly one key
	simpleNone                    // no key: sparse
)

// WriteKey implements [storage.KeyWriter] for documents without arrays on the indexed
// paths.
func (s *Spec) WriteKey(room []byte, r storage.Record) (key []byte, ok bool) {
	if s.Internal != "" || s.show != nil || s.Partial != nil || s.Clustered || s.Kind != Plain {
		return room, false
	}
	key, state := s.appendSimple(room, r.Doc)
	return key, state == simpleDone
}

// simpleKey makes the key of a document without arrays on the indexed
// paths, in one allocation.
func (s *Spec) simpleKey(d value.Doc) ([]byte, simpleState) {
	if s.Kind != Plain {
		return nil, simpleNot
	}
	return s.appendSimple(make([]byte, 0, 24*len(s.Fields)), d)
}

// appendSimple writes the key into empty memory.
func (s *Spec) appendSimple(key []byte, d value.Doc) ([]byte, simpleState) {
	missing := 0
	usual := true
	for i := range s.Fields {
		v, plain := scalarAt(d, s.Fields[i].path)
		if !plain {
			return nil, simpleNot
		}
		if v.IsMissing() {
			v = value.Null()
			missing++
		} else if usual {
			usual = value.KeyTells(v)
		}
		key = s.appendPart(key, v, s.Fields[i].Desc)
	}
	if s.Sparse && missing == len(s.Fields) {
		return nil, simpleNone
	}
	if s.descending != nil && (!usual || missing > 0) {
		key = s.withTail(key, d)
	}
	return key, simpleDone
}

// withTail appends the tail of the key of a document without arrays.
func (s *Spec) withTail(key []byte, d value.Doc) []byte {
	var tail value.KeyTail
	start := len(key)
	tail.Reset(key)
	for i := range s.Fields {
		if v, _ := scalarAt(d, s.Fields[i].path); v.IsMissing() {
			tail.AddMissing(parentIn(d, s.Fields[i].path))
		} else {
			tail.Add(v)
		}
	}
	return tail.Bytes(start)
}

// parentIn reports whether the parent document of a missing field exists. The
// key alone does not distinguish this case from a missing parent.
func parentIn(d value.Doc, p value.Path) bool {
	parts := p.Parts()
	for _, part := range parts[:len(parts)-1] {
		v := d.Lookup(part)
		if v.Kind() != value.KindDocument {
			return v.Kind() == value.KindArray
		}
		d = v.Doc()
	}
	return len(parts) > 1
}

// entry makes the key of a row with its tail. For fields with arrays the tail
// is not needed, because their values cannot be decoded.
func (s *Spec) entry(row row, d value.Doc) []byte {
	key := s.encode(nil, row)
	if s.descending == nil {
		return key
	}
	var tail value.KeyTail
	start := len(key)
	tail.Reset(key)
	for i, v := range row {
		if v.Kind() != value.KindNull {
			tail.Add(v)
			continue
		}
		now, plain := scalarAt(d, s.Fields[i].path)
		switch {
		case plain && now.IsMissing():
			tail.AddMissing(parentIn(d, s.Fields[i].path))
		default:
			tail.Add(v)
		}
	}
	return tail.Bytes(start)
}

// scalarAt follows a path through documents; plain is false if it meets an
// array.
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
func (s *Spec) rows(d value.Doc, yield func(row)) (multikey plan.Multikey, err error) {
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
	key = s.Order(key)
	s.eachRow(d, func(row row) {
		if found == nil && bytes.Equal(s.encode(nil, row), key) {
			found = s.rowDoc(row)
		}
	})
	return found
}

// EntryValue decodes a key with its tail, in the form of [Spec.KeyValues]; nil
// if the document is needed to know the values.
func (s *Spec) EntryValue(key []byte) value.Doc {
	if s.descending == nil {
		return nil
	}
	var r value.KeyReader
	r.Reset(key, s.descending)
	b := value.NewBuilder()
	for i := range s.Fields {
		v, ok := r.Next(s.descending[i])
		switch {
		case !ok:
			return nil
		case v.IsMissing():
			v = value.Null()
		}
		b.Append(s.Fields[i].Path, v)
	}
	return b.Doc()
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

// rowDoc converts a row to a document with the fields of the key pattern.
func (s *Spec) rowDoc(row row) value.Doc {
	b := value.NewBuilder()
	n := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Kind {
		case Wildcard:
			path := wildcardPath(f.Path)
			if row[n].Kind() == value.KindString { // any but that of a document without
				path = row[n].Str()
			}
			b.Append("$_path", row[n]).Append(path, row[n+1])
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
