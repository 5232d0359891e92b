package match

import (
	"iter"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// Options is the context in which a filter is compiled.
type Options struct {
	// Collation orders strings; nil compares them byte by byte.
	Collation value.Collator
	// Scope holds the variables that $expr may use.
	Scope *expr.Scope
	// Text is the text index for $text; nil refuses the operator.
	Text TextMatcher
	// AllowNear permits $near and $nearSphere.
	AllowNear bool
	// Script permits $where and runs it; nil refuses the operator.
	Script *script.Engine
	// Operation is asked whether it must stop while $where or $text is parsed; nil: it need not.
	Operation interface{ Interrupted() error }
	// NoExpr and NoSchema refuse $expr and $jsonSchema (arrayFilters,
	// partial index filters).
	NoExpr, NoSchema bool
}

// Matcher is a compiled filter. It is immutable and safe for concurrent use.
type Matcher struct {
	root    Node // rewritten
	filter  value.Doc
	options Options

	// inOrder is the tree in its normal form, created when a position is requested.
	once    sync.Once
	inOrder Node
}

// Compile compiles a filter. It reports all errors in the filter.
func Compile(filter value.Doc, o Options) (*Matcher, error) {
	if len(filter) == 0 {
		filter = value.EmptyDoc
	}
	filter = filter.Clone()
	p := &parser{o: o}
	root, err := p.filter(filter, false)
	if err == nil && (o.AllowNear || o.Text != nil) {
		err = checkSpecial(root)
	}
	if err != nil {
		return nil, err
	}
	o.Operation = nil // the matcher may live longer
	m := &Matcher{root: rewritten(root), filter: filter, options: o}
	widen(m.root)
	return m, nil
}

// interrupt asks whether parsing must stop; nil: it need not.
func (p *parser) interrupt() func() error {
	if p.o.Operation == nil {
		return nil
	}
	return p.o.Operation.Interrupted
}

// written is the root of the tree as the client wrote it. It is seldom needed, and of many
// branches much larger than that of Root.
func (m *Matcher) written() Node {
	p := &parser{o: m.options, written: true}
	root, _ := p.filter(m.filter, false) // there was no error before
	return root
}

// Match reports whether the filter matches d. An error can only come from an
// expression, from a regular expression that takes too long, or from an
// interruption. $text stores its score in env.Meta.
func (m *Matcher) Match(env *expr.Env, d value.Doc) (bool, error) {
	if err := env.Weigh(len(m.filter)); err != nil {
		return false, err
	}
	return m.root.match(env, d, nil)
}

// MatchWithPosition is Match that also returns the array position that the
// positional operator $ stands for: the position in the array entered last, or
// -1 if no array was entered. Sibling conditions are tested in their normal
// order, and the last of them determines the position: of $gt and $lt that is
// $gt, in whatever order they were written.
func (m *Matcher) MatchWithPosition(env *expr.Env, d value.Doc) (ok bool, position int, err error) {
	m.once.Do(func() { m.inOrder = normalize(m.root) })
	position = -1
	ok, err = m.inOrder.match(env, d, &position)
	return ok, position, err
}

// Root returns the root of the tree.
func (m *Matcher) Root() Node { return m.root }

// Filter returns the original filter.
func (m *Matcher) Filter() value.Doc { return m.filter }

// MatchesAll reports whether the filter is empty.
func (m *Matcher) MatchesAll() bool {
	and, ok := m.root.(*And)
	return ok && len(and.Nodes) == 0
}

// Parsed returns the filter in the normal form that explain shows as
// parsedQuery: operators spelled out, siblings in a fixed order.
func (m *Matcher) Parsed() value.Doc {
	b := value.NewBuilder()
	normalize(m.root).appendTo(b)
	return b.Doc()
}

// Unordered is Parsed without sorting and simplification: each condition in
// its original place, with its operator.
func (m *Matcher) Unordered() value.Doc {
	b := value.NewBuilder()
	m.root.appendTo(b)
	return b.Doc()
}

// normalize flattens nested Ands and Ors and orders siblings by type, then
// path. Conditions with a simpler equivalent are replaced by it.
func normalize(n Node) Node {
	switch n := n.(type) {
	case *And:
		nodes := sortedNodes(n.Nodes, func(c Node) []Node {
			switch c := c.(type) {
			case *And:
				return c.Nodes
			case *Nor:
				return negated(c.Nodes)
			}
			return nil
		})
		if slices.ContainsFunc(nodes, never) {
			return &Constant{}
		}
		if len(nodes) > 1 {
			nodes = slices.DeleteFunc(nodes, func(c Node) bool { _, always := c.(*Constant); return always })
		}
		return simplify(&And{Nodes: nodes})
	case *Or:
		nodes := sortedNodes(n.Nodes, func(c Node) []Node {
			if o, ok := c.(*Or); ok {
				return o.Nodes
			}
			return nil
		})
		if len(nodes) > 1 {
			nodes = slices.DeleteFunc(nodes, never)
		}
		if len(nodes) == 0 {
			return &Constant{}
		}
		if len(nodes) == 1 {
			return nodes[0]
		}
		return &Or{Nodes: nodes}
	case *Nor:
		nodes := sortedNodes(n.Nodes, func(Node) []Node { return nil })
		if not := negated(nodes); len(not) == 1 {
			return not[0]
		}
		return &Nor{Nodes: nodes}
	case *In:
		return n.simplest()
	case *Not:
		inner := normalize(n.Node)
		if never(inner) {
			return &Constant{Result: true}
		}
		return &Not{inner, n.Op}
	case *ElemMatchObject:
		return &ElemMatchObject{n.leafPath, normalize(n.Node)}
	}
	return n
}

func never(n Node) bool {
	c, ok := n.(*Constant)
	return ok && !c.Result
}

// negated returns the negations of conditions on fields; nil if there are
// other conditions among them.
func negated(nodes []Node) (out []Node) {
	for _, c := range nodes {
		if _, ok := c.(Leaf); !ok {
			return nil
		}
		out = append(out, &Not{c, ""})
	}
	return out
}

// sortedNodes normalises siblings; splice returns the nodes that replace one,
// nil to keep it.
func sortedNodes(nodes []Node, splice func(Node) []Node) []Node {
	var out []Node
	for _, c := range nodes {
		c = normalize(c)
		if inner := splice(c); inner != nil {
			out = append(out, inner...)
			continue
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Node) int {
		if d := a.rank() - b.rank(); d != 0 {
			return d
		}
		return comparePaths(a, b)
	})
	return out
}

// comparePaths orders siblings of one type by their path; nodes without a path
// are equal.
func comparePaths(a, b Node) int {
	la, okA := a.(Leaf)
	lb, okB := b.(Leaf)
	if !okA || !okB {
		return 0
	}
	pa, pb := la.FieldPath().String(), lb.FieldPath().String()
	switch {
	case pa < pb:
		return -1
	case pa > pb:
		return 1
	}
	return 0
}

// Equalities yields the paths that the filter fixes to one value, with the
// value, in order. A document inserted by an upsert gets these fields. They
// come from equality, also inside $and, from $in and $all of one value and
// from $or of one branch.
func (m *Matcher) Equalities() iter.Seq2[string, value.Value] {
	return func(yield func(string, value.Value) bool) { equalities(m.root, yield) }
}

// equalities yields the equalities of a node, and reports whether to go on.
func equalities(n Node, yield func(string, value.Value) bool) bool {
	switch n := n.(type) {
	case *And:
		for _, c := range n.Nodes {
			if !equalities(c, yield) {
				return false
			}
		}
	case *Or:
		if len(n.Nodes) == 1 {
			return equalities(n.Nodes[0], yield)
		}
	case *Compare:
		if n.Op == OpEq {
			return yield(n.Path.String(), n.Value)
		}
	case *In:
		if n.Values.Len() == 1 && len(n.Regexes) == 0 {
			return yield(n.Path.String(), n.Values.At(0))
		}
	}
	return true
}

// WithNear returns the matcher with n in place of its $near or, if it has no
// $near, in addition to the other conditions.
func (m *Matcher) WithNear(n *Near) *Matcher {
	and, ok := m.root.(*And)
	if !ok {
		and = &And{Nodes: []Node{m.root}}
	}
	nodes := slices.DeleteFunc(slices.Clone(and.Nodes), func(c Node) bool { _, is := c.(*Near); return is })
	near := &And{Nodes: append(nodes, n)}
	return &Matcher{root: near, filter: m.filter, options: m.options}
}
