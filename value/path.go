package value

import "strings"

// Path is a dotted path, split once. Arrays on the way are traversed as
// MongoDB's query language does: see [Path.Walk].
type Path struct {
	dotted string
	parts  []string
	index  []int // part as array position, -1 if it is none
}

// ParsePath splits a dotted path. Empty components are kept.
func ParsePath(dotted string) Path {
	parts := strings.Split(dotted, ".")
	index := make([]int, len(parts))
	for i, p := range parts {
		index[i] = arrayPosition(p)
	}
	return Path{dotted: dotted, parts: parts, index: index}
}

// arrayPosition reads digits without leading zeros; -1 for anything else.
func arrayPosition(p string) int {
	if p == "" || len(p) > 9 || p[0] == '0' && len(p) > 1 {
		return -1
	}
	n := 0
	for i := range len(p) {
		if p[i] < '0' || p[i] > '9' {
			return -1
		}
		n = n*10 + int(p[i]-'0')
	}
	return n
}

// String returns the dotted path.
func (p Path) String() string { return p.dotted }

// Parts returns the components; they must not be changed.
func (p Path) Parts() []string { return p.parts }

// ArrayIndex returns the i-th component as an array position, -1 if it is
// not a number.
func (p Path) ArrayIndex(i int) int { return p.index[i] }

// Len is the number of components.
func (p Path) Len() int { return len(p.parts) }

// Get follows the path through embedded documents only; an array on the way
// (but not at the end) leads nowhere.
func (p Path) Get(d Doc) Value {
	for i, part := range p.parts {
		v := d.Lookup(part)
		if i == len(p.parts)-1 {
			return v
		}
		if v.kind != KindDocument {
			return Value{}
		}
		d = Doc(v.b)
	}
	return Value{}
}

// Walk calls yield with every value the path leads to, until it returns
// true; the result tells whether it did. At an array on the way it goes into
// each element that is a document, and, if the next component is a number,
// into that position; other elements lead nowhere. A document without the
// field yields Missing once, as does a scalar on the way; an array without
// documents yields nothing. An array at the end of the path is yielded whole:
// looking into its elements is the business of the operator.
func (p Path) Walk(d Doc, yield func(Value) bool) bool {
	return p.walkDoc(d, 0, yield)
}

func (p Path) walkDoc(d Doc, i int, yield func(Value) bool) bool {
	v := d.Lookup(p.parts[i])
	if i == len(p.parts)-1 {
		return yield(v)
	}
	switch v.kind {
	case KindDocument:
		return p.walkDoc(v.b, i+1, yield)
	case KindArray:
		return p.walkArray(v.b, i+1, yield)
	}
	return yield(Value{})
}

// walkArray applies the components from i on to the elements of an array.
func (p Path) walkArray(a Doc, i int, yield func(Value) bool) bool {
	last := i == len(p.parts)-1
	position := p.index[i]
	n := 0
	for it := a.Iter(); it.Next(); n++ {
		if it.kind == KindDocument && p.walkDoc(it.payload, i, yield) {
			return true
		}
		if n != position {
			continue
		}
		if last {
			if yield(it.Value()) {
				return true
			}
			continue
		}
		switch it.kind {
		case KindDocument:
			if p.walkDoc(it.payload, i+1, yield) {
				return true
			}
		case KindArray:
			if p.walkArray(it.payload, i+1, yield) {
				return true
			}
		}
	}
	return false
}
