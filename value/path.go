package value

import "strings"

// Path is a dotted path, split once. Arrays on the path are traversed by the
// rules of MongoDB's query language: see [Path.Each].
type Path struct{ at *path }

// path is what all copies of a Path share.
type path struct {
	dotted [1]string // also the only component
	index  int32     // the component as a position in an array, -1 if it is none
	more   *components
}

// components are those of a path of several.
type components struct {
	parts []string
	index []int32
}

// ParsePath splits a dotted path. Empty components are kept.
func ParsePath(dotted string) Path {
	p := &path{dotted: [1]string{dotted}}
	if !strings.Contains(dotted, ".") {
		p.index = arrayPosition(dotted)
		return Path{p}
	}
	parts := strings.Split(dotted, ".")
	index := make([]int32, len(parts))
	for i, part := range parts {
		index[i] = arrayPosition(part)
	}
	p.more = &components{parts, index}
	return Path{p}
}

// arrayPosition reads digits without leading zeros; -1 for anything else.
func arrayPosition(p string) int32 {
	if p == "" || len(p) > 9 || p[0] == '0' && len(p) > 1 {
		return -1
	}
	n := int32(0)
	for i := range len(p) {
		if p[i] < '0' || p[i] > '9' {
			return -1
		}
		n = n*10 + int32(p[i]-'0')
	}
	return n
}

// String returns the dotted path.
func (p Path) String() string { return p.at.dotted[0] }

// Parts returns the components; they must not be changed.
func (p Path) Parts() []string {
	if p.at.more == nil {
		return p.at.dotted[:]
	}
	return p.at.more.parts
}

// ArrayIndex returns the i-th component as an array position, -1 if it is
// not a number.
func (p Path) ArrayIndex(i int) int {
	if p.at.more == nil {
		return int(p.at.index)
	}
	return int(p.at.more.index[i])
}

// Len is the number of components.
func (p Path) Len() int { return len(p.Parts()) }

// Get follows the path through embedded documents only; it returns Missing at
// an array before the end.
func (p Path) Get(d Doc) Value {
	parts := p.Parts()
	for i, part := range parts {
		v := d.Lookup(part)
		if i == len(parts)-1 {
			return v
		}
		if v.kind != KindDocument {
			return Value{}
		}
		d = Doc(v.b)
	}
	return Value{}
}

// Leaf says how [Path.Each] treats an array at the end of the path.
type Leaf uint8

// The three treatments of an array at the end of a path.
const (
	LeafTraverse Leaf = iota // yield each element, then the array itself
	LeafWhole                // yield the array itself
	LeafElements             // yield each element only
)

// Walk calls yield with every value at the path, until it returns true; the
// result reports whether it did. It is [Path.Each] with arrays at the end of
// the path yielded whole.
func (p Path) Walk(d Doc, yield func(Value) bool) bool {
	w := walker{path: p, leaf: LeafWhole, yield: func(v Value, _ int) bool { return yield(v) }}
	return w.doc(d, 0, -1)
}

// Each calls yield with every value that a query finds at the path, until it
// returns true; the result reports whether it did.
//
// At an array before the end it enters each element that is a document and, if
// the next component is a number, that position; it ignores other elements. A
// document without the field yields Missing once, as does a scalar before the
// end; an array without documents yields nothing. leaf selects the treatment
// of an array at the end, but an element addressed by its position ("a.0" in
// {a: [[1, 2]]}) is always yielded as a whole. For an array, a path with an empty
// component behind it ends there.
//
// The position given to yield is that of the element of the outermost array
// that was entered without a position in the path, or -1: the position for the
// operator $.
func (p *Path) Each(d Doc, leaf Leaf, yield func(v Value, position int) bool) bool {
	w := walker{path: *p, leaf: leaf, yield: yield}
	return w.doc(d, 0, -1)
}

// EachFrom is Each for a value at the first i components of the path.
func (p *Path) EachFrom(v Value, i int, leaf Leaf, yield func(v Value, position int) bool) bool {
	w := walker{path: *p, leaf: leaf, yield: yield}
	switch {
	case i == p.Len():
		return w.end(v, -1)
	case v.kind == KindDocument:
		return w.doc(v.b, i, -1)
	case v.kind == KindArray:
		return w.array(v.b, i, -1)
	}
	return yield(Value{}, -1)
}

// walker is one traversal. It lives on the stack of the caller.
type walker struct {
	path  Path
	leaf  Leaf
	yield func(Value, int) bool
}

// doc applies the components from i on to a document.
func (w *walker) doc(d Doc, i, position int) bool {
	parts := w.path.Parts()
	last := len(parts) - 1
	for {
		v := d.Lookup(parts[i])
		switch {
		case i == last:
			return w.end(v, position)
		case v.kind == KindDocument:
			d = v.b
			i++
		case v.kind == KindArray:
			return w.array(v.b, i+1, position)
		default:
			return w.yield(Value{}, position)
		}
	}
}

// end yields the value at the end of the path.
func (w *walker) end(v Value, position int) bool {
	if v.kind != KindArray || w.leaf == LeafWhole {
		return w.yield(v, position)
	}
	n := 0
	it := Doc(v.b).Iter()
	for ; it.Next(); n++ {
		if w.yield(it.Value(), outermost(position, n)) {
			return true
		}
	}
	return w.leaf == LeafTraverse && w.yield(v, position)
}

// array applies the components from i on to the elements of an array.
func (w *walker) array(a Doc, i, position int) bool {
	last := i == w.path.Len()-1
	if last && w.path.Parts()[i] == "" { // "a.": the array itself, as in mongod
		return w.end(Array(a), position)
	}
	wanted := w.path.ArrayIndex(i)
	n := 0
	it := a.Iter()
	for ; it.Next(); n++ {
		if it.kind == KindDocument && w.doc(it.payload, i, outermost(position, n)) {
			return true
		}
		if n != wanted {
			continue
		}
		switch {
		case last:
			if w.yield(it.Value(), position) {
				return true
			}
		case it.kind == KindDocument:
			if w.doc(it.payload, i+1, position) {
				return true
			}
		case it.kind == KindArray:
			if w.array(it.payload, i+1, position) {
				return true
			}
		}
	}
	return false
}

// outermost returns the position in an outer array, if there is one.
func outermost(position, n int) int {
	if position >= 0 {
		return position
	}
	return n
}
