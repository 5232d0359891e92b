package stage

import (
	"strings"

	"github.com/duskdb/duskdb/query/project/marks"
	"github.com/duskdb/duskdb/value"
)

// Setter sets paths of a document in one pass over it, as $addFields does: it sets a path in
// each element of arrays on the path, replaces scalars on the path by documents, and removes
// what is at a path if its value is Missing. No path may be another one or lie within it.
type Setter struct{ root setNode }

// setNode is a document on the way to the paths.
type setNode struct {
	fields []setField
	index  map[string]int // name to field
}

type setField struct {
	name  string
	inner *setNode // nil: the path ends here
	value int      // then the number of its value
}

// NewSetter makes a Setter of paths.
func NewSetter(paths []string) *Setter {
	s := &Setter{}
	for i, path := range paths {
		n := &s.root
		for {
			name, rest, more := strings.Cut(path, ".")
			f := n.field(name)
			if !more {
				f.value = i
				break
			}
			if f.inner == nil {
				f.inner = &setNode{}
			}
			n, path = f.inner, rest
		}
	}
	return s
}

// field returns the field of that name, which it adds if it is not there.
func (n *setNode) field(name string) *setField {
	i, ok := n.index[name]
	if !ok {
		if n.index == nil {
			n.index = map[string]int{}
		}
		i = len(n.fields)
		n.index[name] = i
		n.fields = append(n.fields, setField{name: name})
	}
	return &n.fields[i]
}

// Set returns d with the values at the paths.
func (s *Setter) Set(d value.Doc, values []value.Value) value.Doc {
	size := len(d) + 32*len(values)
	for _, v := range values {
		size += len(v.Bytes())
	}
	var b value.Builder
	b.Reset(make([]byte, 0, size))
	s.root.set(&b, d, values)
	return b.Doc()
}

func (n *setNode) set(b *value.Builder, d value.Doc, values []value.Value) {
	var done marks.Set
	for it := d.Iter(); it.Next(); {
		i, ok := n.index[it.Key()]
		if !ok || done.Has(i) {
			b.Raw(it.Element())
			continue
		}
		done.Add(i, len(n.fields))
		n.fields[i].set(b, n.fields[i].name, it.Value(), values)
	}
	for i := range n.fields {
		if f := &n.fields[i]; !done.Has(i) && f.any(values) {
			f.set(b, f.name, value.Value{}, values)
		}
	}
}

// any reports whether a value at or within the field is not missing.
func (f *setField) any(values []value.Value) bool {
	if f.inner == nil {
		return !values[f.value].IsMissing()
	}
	for i := range f.inner.fields {
		if f.inner.fields[i].any(values) {
			return true
		}
	}
	return false
}

// set writes the field, whose value was old, under a name; elements of arrays have none.
func (f *setField) set(b *value.Builder, name string, old value.Value, values []value.Value) {
	switch {
	case f.inner == nil:
		b.Append(name, values[f.value])
		return
	case old.Kind() == value.KindArray:
		b.StartArray(name)
		for e := range old.Doc().Values() {
			f.set(b, "", e, values)
		}
		b.End()
		return
	case old.Kind() != value.KindDocument && !f.any(values):
		b.Append(name, old)
		return
	case old.Kind() != value.KindDocument:
		old = value.Document(value.EmptyDoc)
	}
	b.StartDocument(name)
	f.inner.set(b, old.Doc(), values)
	b.End()
}
