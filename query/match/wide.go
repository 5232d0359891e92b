package match

import (
	"cmp"
	"slices"
	"strings"

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
	depth  int         // components of the paths in front of the fields
	tests  []fieldTest // the conditions in the order of the fields' names
	fields []wideField // the fields in the same order
	below  map[int]*wideLevel
}

// wideField are the conditions on a field and on what is below it, as places in the tests: first
// come those on the field itself. They end where those of the next field begin.
type wideField struct{ first, longer uint32 }

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
	tests := make([]fieldTest, 0, len(nodes))
	for _, n := range nodes {
		if t, ok := newFieldTest(n); ok {
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

// newWideLevel arranges tests, which it sorts.
func newWideLevel(tests []fieldTest, depth int) *wideLevel {
	l := &wideLevel{depth: depth, tests: tests}
	slices.SortStableFunc(tests, func(a, b fieldTest) int {
		return cmp.Or(strings.Compare(a.part(depth), b.part(depth)), compareBool(a.longer(depth), b.longer(depth)))
	})
	n := 0
	for i := range tests {
		if i == 0 || tests[i].part(depth) != tests[i-1].part(depth) {
			n++
		}
	}
	l.fields = make([]wideField, 0, n)
	for i := range tests {
		if i == 0 || tests[i].part(depth) != tests[i-1].part(depth) {
			l.fields = append(l.fields, wideField{first: uint32(i), longer: uint32(i)})
		}
		if !tests[i].longer(depth) {
			l.fields[len(l.fields)-1].longer = uint32(i + 1)
		}
	}
	l.deepen()
	return l
}

// deepen makes a level of the conditions below each field, if they are many. A path may have
// any length, but no document is deeper than value.MaxDepth.
func (l *wideLevel) deepen() {
	for i := range l.fields {
		longer := l.tests[l.fields[i].longer:l.end(i)]
		if len(longer) < belowFrom || l.depth >= value.MaxDepth {
			continue
		}
		if l.below == nil {
			l.below = map[int]*wideLevel{}
		}
		l.below[i] = newWideLevel(longer, l.depth+1)
	}
}

// end is where the tests of the i-th field end.
func (l *wideLevel) end(i int) int {
	if i+1 < len(l.fields) {
		return int(l.fields[i+1].first)
	}
	return len(l.tests)
}

// part is the component of the path at a depth.
func (t *fieldTest) part(depth int) string { return t.leaf.FieldPath().Parts()[depth] }

// longer reports whether the path goes on below a depth.
func (t *fieldTest) longer(depth int) bool { return t.leaf.FieldPath().Len() > depth+1 }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
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
	seen := make([]bool, len(l.fields))
	left := len(l.fields)
	it := d.Iter()
	for left > 0 && it.Next() {
		i, ok := slices.BinarySearchFunc(l.fields, it.Key(), func(f wideField, name string) int {
			return strings.Compare(l.tests[f.first].part(l.depth), name)
		})
		if !ok || seen[i] {
			continue
		}
		seen[i] = true
		left--
		if err := env.Tick(); err != nil {
			return false, err
		}
		if found, err := l.field(i, env, it.Value(), stop); found || err != nil {
			return found, err
		}
	}
	for i := range l.fields {
		if !seen[i] {
			if found, err := l.field(i, env, value.Value{}, stop); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// field is any for the value of the i-th field.
func (l *wideLevel) field(i int, env *expr.Env, v value.Value, stop bool) (bool, error) {
	f := l.fields[i]
	tests := l.tests[f.first:l.end(i)]
	if below := l.below[i]; below != nil && v.Kind() == value.KindDocument {
		if found, err := below.any(env, v.Doc(), stop); found || err != nil {
			return found, err
		}
		tests = l.tests[f.first:f.longer]
	}
	for i := range tests {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		ok, err := tests[i].within(env, v, l.depth+1)
		if err != nil || (ok != tests[i].not) == stop {
			return err == nil, err
		}
	}
	return false, nil
}
