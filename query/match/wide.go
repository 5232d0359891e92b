package match

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// wide is the many conditions of an And, Or or Nor, arranged by the fields that they are about.
// These are read in one pass over the document. Looking up each path by itself costs the square
// if the document has as many fields as the filter has paths.
type wide struct {
	fields *wideLevel
	others []Node
}

// wideLevel is the conditions on fields of a document at one depth.
type wideLevel struct {
	depth int // components of the paths in front of the fields
	at    map[string]int
	list  []wideField
}

// wideField is the conditions on a field and on what is below it.
type wideField struct {
	tests []fieldTest // all of them
	ends  []fieldTest // those on the field itself, if there is a level below
	below *wideLevel  // the others; nil if they are few
}

const (
	wideFrom  = 64 // conditions, from which they are arranged
	belowFrom = 16 // the same for those below a field
)

// widen arranges the conditions of a compiled filter wherever there are many.
func widen(n Node) {
	switch n := n.(type) {
	case *And:
		n.wide = newWide(n.Nodes)
	case *Or:
		n.wide = newWide(n.Nodes)
	case *Nor:
		n.wide = newWide(n.Nodes)
	case *ElemMatchObject:
		widen(n.Node)
		return
	}
	for _, c := range n.Children() {
		widen(c)
	}
}

// newWide arranges conditions; it returns nil if there are few.
func newWide(nodes []Node) *wide {
	if len(nodes) < wideFrom {
		return nil
	}
	w := &wide{}
	var tests []fieldTest
	for _, n := range nodes {
		if t, _ := newFieldTest(n); t.leaf != nil {
			tests = append(tests, t)
		} else {
			w.others = append(w.others, n)
		}
	}
	if len(tests) < wideFrom {
		return nil
	}
	w.fields = newWideLevel(tests, 0)
	return w
}

func newWideLevel(tests []fieldTest, depth int) *wideLevel {
	l := &wideLevel{depth: depth, at: map[string]int{}}
	for _, t := range tests {
		name := t.leaf.FieldPath().Parts()[depth]
		i, ok := l.at[name]
		if !ok {
			i = len(l.list)
			l.at[name], l.list = i, append(l.list, wideField{})
		}
		l.list[i].tests = append(l.list[i].tests, t)
	}
	for i := range l.list {
		l.list[i].split(depth + 1)
	}
	return l
}

// split makes a level of the conditions below the field, if they are many. A path may have
// any length, but no document is deeper than value.MaxDepth.
func (f *wideField) split(depth int) {
	var longer []fieldTest
	for _, t := range f.tests {
		if t.leaf.FieldPath().Len() > depth {
			longer = append(longer, t)
		} else {
			f.ends = append(f.ends, t)
		}
	}
	if len(longer) < belowFrom || depth > value.MaxDepth {
		f.ends = nil
		return
	}
	f.below = newWideLevel(longer, depth)
}

// any reports whether a condition has the result stop.
func (w *wide) any(env *expr.Env, d value.Doc, stop bool) (bool, error) {
	if found, err := w.fields.any(env, d, stop); found || err != nil {
		return found, err
	}
	for _, n := range w.others {
		if err := env.Weigh(len(d)); err != nil {
			return false, err
		}
		if ok, err := n.match(env, d, nil); err != nil || ok == stop {
			return err == nil, err
		}
	}
	return false, nil
}

func (l *wideLevel) any(env *expr.Env, d value.Doc, stop bool) (bool, error) {
	seen := make([]bool, len(l.list))
	left := len(l.list)
	it := d.Iter()
	for left > 0 && it.Next() {
		i, ok := l.at[it.Key()]
		if !ok || seen[i] {
			continue
		}
		seen[i] = true
		left--
		if err := env.Tick(); err != nil {
			return false, err
		}
		if found, err := l.list[i].any(env, it.Value(), l.depth+1, stop); found || err != nil {
			return found, err
		}
	}
	for i := range l.list {
		if !seen[i] {
			if found, err := l.list[i].any(env, value.Value{}, l.depth+1, stop); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// any is wide.any for the value of the field.
func (f *wideField) any(env *expr.Env, v value.Value, depth int, stop bool) (bool, error) {
	tests := f.tests
	if f.below != nil && v.Kind() == value.KindDocument {
		if found, err := f.below.any(env, v.Doc(), stop); found || err != nil {
			return found, err
		}
		tests = f.ends
	}
	for i := range tests {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		ok, err := tests[i].within(env, v, depth)
		if err != nil || (ok != tests[i].not) == stop {
			return err == nil, err
		}
	}
	return false, nil
}
