package stage

import (
	"slices"
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
	it := d.Iter()
	for it.Next() {
		i, ok := n.index[it.Key()]
		if !ok || done.Has(i) {
			b.Raw(it.Element())
			continue
		}
		done.Add(i, len(n.fields))
		n.fields[i].set(b, n.fields[i].name, it.Value(), values)
	}
	n.add(b, &done, values)
}

// add writes the fields that the document does not have, in the order of their first values
// that are not missing: one after the other, these would add them.
func (n *setNode) add(b *value.Builder, done *marks.Set, values []value.Value) {
	last, ordered := -1, true
	for i := range n.fields {
		if first := n.fields[i].first(values); first >= 0 && !done.Has(i) {
			ordered = ordered && first > last
			last = first
		}
	}
	fields := n.fields
	if !ordered {
		fields = slices.Clone(fields)
		slices.SortFunc(fields, func(f, g setField) int { return f.first(values) - g.first(values) })
	}
	for i := range fields {
		if f := &fields[i]; f.first(values) >= 0 && !done.Has(n.index[f.name]) {
			f.set(b, f.name, value.Value{}, values)
		}
	}
}

// first returns the number of the first value at or within the field that is not missing, or
// -1 if all are.
func (f *setField) first(values []value.Value) int {
	if f.inner == nil {
		if values[f.value].IsMissing() {
			return -1
		}
		return f.value
	}
	first := -1
	for i := range f.inner.fields {
		if n := f.inner.fields[i].first(values); n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
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
	case old.Kind() != value.KindDocument && f.first(values) < 0:
		b.Append(name, old)
		return
	case old.Kind() != value.KindDocument:
		old = value.Document(value.EmptyDoc)
	}
	b.StartDocument(name)
	f.inner.set(b, old.Doc(), values)
	b.End()
}
