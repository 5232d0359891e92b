package match

import (
	"math/bits"
	"slices"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Run tests many documents, one after the other, and gives the results of the Matcher. It
// reads the fields of all simple conditions in one pass over the document, in the order in
// which they come, and stops at the first that is not satisfied. Only then follow the
// other conditions, the costly ones last. A Run belongs to one goroutine.
type Run struct {
	m      *Matcher
	finder value.Finder
	tests  [][]fieldTest // the tests of each name of finder
	others []Node
}

// fieldTest is a condition on a field, or on what is below it.
type fieldTest struct {
	leaf   Leaf
	cmp    *Compare   // leaf, if it is one
	arrays value.Leaf // the treatment of arrays by the condition
	whole  bool       // the path has one component
	not    bool
}

// maxTests is the number of conditions that a Run tests itself.
const maxTests = 100

// Run begins a run of the filter.
func (m *Matcher) Run() *Run {
	r := &Run{m: m}
	var names []string
	r.plan(m.root, &names)
	if len(names) > value.MaxNames || len(r.others) > maxTests {
		r.tests, r.others, names = nil, []Node{m.root}, nil
	}
	slices.SortStableFunc(r.others, func(a, b Node) int { return cost(a) - cost(b) })
	r.finder = value.NewFinder(names...)
	return r
}

// plan divides a condition into tests of fields and others.
func (r *Run) plan(n Node, names *[]string) {
	if len(*names) > value.MaxNames { // too many, see Run
		return
	}
	if and, ok := n.(*And); ok {
		for _, c := range and.Nodes {
			r.plan(c, names)
		}
		return
	}
	t, ok := newFieldTest(n)
	if !ok {
		r.others = append(r.others, n)
		return
	}
	first := t.leaf.FieldPath().Parts()[0]
	i := slices.Index(*names, first)
	if i < 0 {
		i = len(*names)
		*names, r.tests = append(*names, first), append(r.tests, nil)
	}
	r.tests[i] = append(r.tests[i], t)
}

// newFieldTest returns a condition as the test of a field, if it is a cheap one that
// depends on nothing but the values at one path.
func newFieldTest(n Node) (t fieldTest, ok bool) {
	if not, is := n.(*Not); is {
		n, t.not = not.Node, true
	}
	leaf, ok := n.(Leaf)
	if !ok || !leaf.cheap() {
		return t, false
	}
	t.leaf, t.arrays, t.whole = leaf, leaf.arrays(), leaf.FieldPath().Len() == 1
	t.cmp, _ = n.(*Compare)
	return t, true
}

// cost orders the conditions that are not tests of a field.
func cost(n Node) int {
	switch n := n.(type) {
	case *Not:
		return cost(n.Node)
	case *Constant:
		return 0
	case Leaf:
		return 2 // such as expressions, and positions on a sphere
	case *And, *Or, *Nor:
		return 1
	}
	return 3 // such as scripts
}

// Match is [Matcher.Match].
func (r *Run) Match(env *expr.Env, d value.Doc) (bool, error) {
	if err := env.Weigh(len(r.m.filter)); err != nil {
		return false, err
	}
	if len(r.tests) > 0 {
		if ok, err := r.matchFields(env, d); !ok || err != nil {
			return false, err
		}
	}
	for _, n := range r.others {
		if ok, err := n.match(env, d, nil); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// matchFields makes the tests of fields.
func (r *Run) matchFields(env *expr.Env, d value.Doc) (bool, error) {
	f := &r.finder
	f.Reset(d)
	for {
		i, v := f.Next()
		if i < 0 {
			break
		}
		if ok, err := holdAll(r.tests[i], env, v); !ok || err != nil {
			return false, err
		}
	}
	for left := f.Left(); left != 0; left &= left - 1 {
		if ok, err := holdAll(r.tests[bits.TrailingZeros64(left)], env, value.Value{}); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// holdAll makes the tests of one field.
func holdAll(tests []fieldTest, env *expr.Env, v value.Value) (ok bool, err error) {
	for i := range tests {
		t := &tests[i]
		switch {
		case !t.whole || v.Kind() == value.KindArray:
			if err = env.Weigh(len(v.Bytes())); err == nil {
				ok, err = t.within(env, v, 1)
			}
		case t.cmp != nil:
			ok = t.cmp.holds(v)
		default:
			ok, err = t.leaf.matchValue(env, v, nil)
		}
		if ok == t.not || err != nil {
			return false, err
		}
	}
	return true, nil
}

// within makes the test of the value at the first components of the path, where there is more
// of the path to be followed or an array to be entered.
func (t *fieldTest) within(env *expr.Env, v value.Value, depth int) (ok bool, err error) {
	ok = t.leaf.FieldPath().EachFrom(v, depth, t.arrays, func(v value.Value, _ int) bool {
		var hit bool
		hit, err = t.leaf.matchValue(env, v, nil)
		return hit || err != nil
	})
	return ok && err == nil, err
}
