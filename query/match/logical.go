package match

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// And matches if all of its nodes do; without nodes it matches everything.
type And struct {
	Nodes []Node
	all   *allOrigin // set if it stands for $all
	wide  *wide      // the nodes, if there are many
}

// allOrigin is $all as the client wrote it.
type allOrigin struct {
	path value.Path
	arg  element
}

// Or matches if one of its nodes does.
type Or struct {
	Nodes []Node
	wide  *wide
}

// Nor matches if none of its nodes does.
type Nor struct {
	Nodes []Node
	wide  *wide
}

// Not matches if its node does not. $ne, $nin and $exists: false are Not of
// their opposites; Op is then their name.
type Not struct {
	Node Node
	Op   string // "$ne", "$nin", "$exists", or "" for $not
}

// Constant is $alwaysTrue or $alwaysFalse.
type Constant struct{ Result bool }

// Children returns the nodes that all must match.
func (n *And) Children() []Node { return n.Nodes }

// Children returns the nodes; at least one must match.
func (n *Or) Children() []Node { return n.Nodes }

// Children returns the nodes; none may match.
func (n *Nor) Children() []Node { return n.Nodes }

// Children returns the negated node.
func (n *Not) Children() []Node { return []Node{n.Node} }

// Children returns nil.
func (n *Constant) Children() []Node { return nil }

func (n *And) rank() int      { return rankAnd }
func (n *Or) rank() int       { return rankOr }
func (n *Nor) rank() int      { return rankNor }
func (n *Not) rank() int      { return rankNot }
func (n *Constant) rank() int { return rankConstant }

// shape is the same for a condition and for an And of it alone.
func (n *And) shape() uint64 {
	if len(n.Nodes) == 1 {
		return n.Nodes[0].shape()
	}
	return uint64(shapeOffset.text("$and").number(conjuncts(n)))
}

func (n *Or) shape() uint64       { return shapeOfAll("$or", n.Nodes) }
func (n *Nor) shape() uint64      { return shapeOfAll("$nor", n.Nodes) }
func (n *Not) shape() uint64      { return uint64(shapeOffset.text("$not").number(n.Node.shape())) }
func (n *Constant) shape() uint64 { return uint64(shapeOffset.text("$always")) }

func (n *And) explain(x *explainer, inverted bool) {
	if n.all != nil {
		x.all(n.all, inverted)
		return
	}
	x.clauses("$and", n.Nodes, inverted)
}

func (n *Or) explain(x *explainer, inverted bool)  { x.clauses("$or", n.Nodes, inverted) }
func (n *Nor) explain(x *explainer, inverted bool) { x.clauses("$nor", n.Nodes, !inverted) }

// explain explains $ne, $nin and $exists: false by their own names, and $not by
// the reason for which its argument matched.
func (n *Not) explain(x *explainer, inverted bool) {
	leaf, ok := n.Node.(Leaf)
	if ok && n.Op != "" {
		x.leaf(n.Op, leaf, !inverted)
		return
	}
	x.b.String("operatorName", "$not").StartDocument("details")
	n.Node.explain(x, !inverted)
	x.b.End()
}

func (n *Constant) explain(x *explainer, inverted bool) {
	x.other(n)
	reason := "expression always evaluates to false"
	if inverted {
		reason = "expression always evaluates to true"
	}
	x.b.String("reason", reason)
}

func (n *And) debug(w *treeWriter, depth int) { w.tree(depth, "$and", n.Nodes) }
func (n *Or) debug(w *treeWriter, depth int)  { w.tree(depth, "$or", n.Nodes) }
func (n *Nor) debug(w *treeWriter, depth int) { w.tree(depth, "$nor", n.Nodes) }
func (n *Not) debug(w *treeWriter, depth int) { w.tree(depth, "$not", n.Children()) }
func (n *Constant) debug(w *treeWriter, depth int) {
	if n.Result {
		w.line(depth, "$alwaysTrue: 1")
	} else {
		w.line(depth, "$alwaysFalse: 1")
	}
}

func (n *And) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	if n.wide != nil && pos == nil {
		failed, err := n.wide.any(env, d, false)
		return !failed && err == nil, err
	}
	for _, c := range n.Nodes {
		if err := env.Weigh(len(d)); err != nil {
			return false, err
		}
		if ok, err := c.match(env, d, pos); !ok || err != nil {
			forget(pos)
			return false, err
		}
	}
	return true, nil
}

func (n *And) matchValue(env *expr.Env, v value.Value, pos *int) (bool, error) {
	for _, c := range n.Nodes {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		if ok, err := c.matchValue(env, v, pos); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// forget clears the position that was found by a branch that failed later.
func forget(pos *int) {
	if pos != nil {
		*pos = -1
	}
}

// match sets no position either, because it is undefined which alternative it
// would come from, except with a single alternative. Equalities of one path
// have become a $in.
func (n *Or) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	if len(n.Nodes) > 1 {
		pos = nil
	}
	if n.wide != nil {
		return n.wide.any(env, d, true)
	}
	return anyNode(n.Nodes, env, d, pos)
}

func (n *Or) matchValue(env *expr.Env, v value.Value, pos *int) (bool, error) {
	return anyNodeValue(n.Nodes, env, v, pos)
}

// Negations never set a position, because no single element matched.

func (n *Nor) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	if n.wide != nil {
		ok, err := n.wide.any(env, d, true)
		return !ok && err == nil, err
	}
	ok, err := anyNode(n.Nodes, env, d, nil)
	return !ok && err == nil, err
}

func (n *Nor) matchValue(env *expr.Env, v value.Value, _ *int) (bool, error) {
	ok, err := anyNodeValue(n.Nodes, env, v, nil)
	return !ok && err == nil, err
}

func (n *Not) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	ok, err := n.Node.match(env, d, nil)
	return !ok && err == nil, err
}

func (n *Not) matchValue(env *expr.Env, v value.Value, _ *int) (bool, error) {
	ok, err := n.Node.matchValue(env, v, nil)
	return !ok && err == nil, err
}

func (n *Constant) match(*expr.Env, value.Doc, *int) (bool, error) { return n.Result, nil }

func (n *Constant) matchValue(*expr.Env, value.Value, *int) (bool, error) { return n.Result, nil }

func anyNode(nodes []Node, env *expr.Env, d value.Doc, pos *int) (bool, error) {
	for _, c := range nodes {
		if err := env.Weigh(len(d)); err != nil {
			return false, err
		}
		if ok, err := c.match(env, d, pos); ok || err != nil {
			return ok && err == nil, err
		}
	}
	return false, nil
}

func anyNodeValue(nodes []Node, env *expr.Env, v value.Value, pos *int) (bool, error) {
	for _, c := range nodes {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		if ok, err := c.matchValue(env, v, pos); ok || err != nil {
			return ok && err == nil, err
		}
	}
	return false, nil
}

func (n *And) appendTo(b *value.Builder) {
	if len(n.Nodes) > 0 {
		appendList(b, "$and", n.Nodes)
	}
}

func (n *Or) appendTo(b *value.Builder)  { appendList(b, "$or", n.Nodes) }
func (n *Nor) appendTo(b *value.Builder) { appendList(b, "$nor", n.Nodes) }

func appendList(b *value.Builder, op string, nodes []Node) {
	b.StartArray(op)
	for _, c := range nodes {
		b.StartDocument("")
		c.appendTo(b)
		b.End()
	}
	b.End()
}

// appendTo writes the negation in the form mongod shows: path: {$not: …}
// where the negated node is about one path, else $nor.
func (n *Not) appendTo(b *value.Builder) {
	path, leaves := "", []Leaf(nil)
	switch c := n.Node.(type) {
	case Leaf:
		path, leaves = c.FieldPath().String(), []Leaf{c}
	case *And:
		path, leaves = commonPath(c.Nodes)
	}
	if leaves == nil {
		appendList(b, "$nor", []Node{n.Node})
		return
	}
	b.StartDocument(path).StartDocument("$not")
	for _, l := range leaves {
		l.appendOperator(b)
	}
	b.End().End()
}

// commonPath returns the nodes as leaves if they are all about one path.
func commonPath(nodes []Node) (string, []Leaf) {
	path, leaves := "", make([]Leaf, 0, len(nodes))
	for i, c := range nodes {
		l, ok := c.(Leaf)
		if !ok || i > 0 && l.FieldPath().String() != path {
			return "", nil
		}
		path, leaves = l.FieldPath().String(), append(leaves, l)
	}
	if len(leaves) == 0 {
		return "", nil
	}
	return path, leaves
}

func (n *Constant) appendTo(b *value.Builder) {
	if n.Result {
		b.Int32("$alwaysTrue", 1)
		return
	}
	b.Int32("$alwaysFalse", 1)
}
