package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Size is $size: an array of exactly N elements.
type Size struct {
	leafPath
	N int
}

func (n *Size) rank() int { return rankSize }

func (n *Size) arrays() value.Leaf { return value.LeafWhole }

func (n *Size) shape() uint64 { return leafShape("$size", n) }

func (n *Size) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Size) reasons() reasons {
	return reasons{
		failed:  "array length was not equal to given size",
		matched: "array length was equal to given size",
	}
}

func (n *Size) debug(w *treeWriter, depth int) {
	w.line(depth, "%s $size : %d", n.Path.String(), n.N)
}

func (n *Size) cheap() bool { return true }

func (n *Size) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Size) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	return v.Kind() == value.KindArray && v.Doc().Len() == n.N, nil
}

func (n *Size) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Size) appendOperator(b *value.Builder) { b.Int32("$size", int32(n.N)) }

func parseSize(_ *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	n, err := natural32(e)
	if err != nil {
		return nil, mongoerr.Newf(mongoerr.BadValue, "Failed to parse $size. %s", mongoerr.From(err).Message)
	}
	return &Size{leafPath{Path: path}, n}, nil
}

// ElemMatchValue is $elemMatch with operators: one element of the array
// satisfies all of them.
type ElemMatchValue struct {
	leafPath
	Nodes []Node
}

// Children returns the conditions on the element.
func (n *ElemMatchValue) Children() []Node { return n.Nodes }

func (n *ElemMatchValue) rank() int { return rankElemMatchValue }

var elementReasons = reasons{
	failed:  "array did not satisfy the child predicate",
	matched: "array did satisfy the child predicate",
}

func (n *ElemMatchValue) arrays() value.Leaf { return value.LeafWhole }

func (n *ElemMatchValue) shape() uint64 {
	return uint64(shapeHash(leafShape("$elemMatch", n)).number(shapeOfAll("", n.Nodes)))
}

func (n *ElemMatchValue) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *ElemMatchValue) reasons() reasons { return elementReasons }

func (n *ElemMatchValue) debug(w *treeWriter, depth int) {
	w.tree(depth, n.Path.String()+" $elemMatch (value)", n.Nodes)
}

func (n *ElemMatchValue) cheap() bool { return false }

func (n *ElemMatchValue) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *ElemMatchValue) matchValue(env *expr.Env, v value.Value, pos *int) (bool, error) {
	return anyElement(v, pos, func(elem value.Value) (bool, error) { return allValue(n.Nodes, env, elem) })
}

// anyElement reports whether an element of an array passes a test, and sets its position.
func anyElement(v value.Value, pos *int, test func(elem value.Value) (bool, error)) (bool, error) {
	if v.Kind() != value.KindArray {
		return false, nil
	}
	at := 0
	it := v.Doc().Iter()
	for ; it.Next(); at++ {
		ok, err := test(it.Value())
		if err != nil {
			return false, err
		}
		if ok {
			if pos != nil {
				*pos = at
			}
			return true, nil
		}
	}
	return false, nil
}

func allValue(nodes []Node, env *expr.Env, v value.Value) (bool, error) {
	for _, c := range nodes {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		if ok, err := c.matchValue(env, v, nil); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (n *ElemMatchValue) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *ElemMatchValue) appendOperator(b *value.Builder) {
	b.StartDocument("$elemMatch")
	for _, c := range n.Nodes {
		appendBare(b, c)
	}
	b.End()
}

// appendBare writes the operators of a condition that has no path.
func appendBare(b *value.Builder, n Node) {
	switch n := n.(type) {
	case Leaf:
		n.appendOperator(b)
	case *Not:
		b.StartDocument("$not")
		appendBare(b, n.Node)
		b.End()
	case *And:
		for _, c := range n.Nodes {
			appendBare(b, c)
		}
	case *Constant: // $alwaysFalse and $alwaysTrue are not operators on a value
		if n.Result {
			b.StartArray("$nin").End()
		} else {
			b.StartArray("$in").End()
		}
	default:
		n.appendTo(b)
	}
}

// ElemMatchObject is $elemMatch with a filter: one element of the array is a
// document (or an array, seen as one with the positions as names) that the
// filter matches.
type ElemMatchObject struct {
	leafPath
	Node Node
}

// Children returns the filter on the element.
func (n *ElemMatchObject) Children() []Node { return []Node{n.Node} }

func (n *ElemMatchObject) rank() int { return rankElemMatchObject }

func (n *ElemMatchObject) arrays() value.Leaf { return value.LeafWhole }

func (n *ElemMatchObject) shape() uint64 {
	return uint64(shapeHash(leafShape("$elemMatch", n)).number(n.Node.shape()))
}

func (n *ElemMatchObject) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *ElemMatchObject) reasons() reasons { return elementReasons }

func (n *ElemMatchObject) debug(w *treeWriter, depth int) {
	w.tree(depth, n.Path.String()+" $elemMatch (obj)", n.Children())
}

func (n *ElemMatchObject) cheap() bool { return false }

func (n *ElemMatchObject) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

// matchValue passes over elements that are neither documents nor arrays.
func (n *ElemMatchObject) matchValue(env *expr.Env, v value.Value, pos *int) (bool, error) {
	return anyElement(v, pos, func(elem value.Value) (bool, error) {
		if k := elem.Kind(); k != value.KindDocument && k != value.KindArray {
			return false, nil
		}
		if err := env.Tick(); err != nil {
			return false, err
		}
		return n.Node.match(env, elem.Doc(), nil)
	})
}

func (n *ElemMatchObject) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *ElemMatchObject) appendOperator(b *value.Builder) {
	b.StartDocument("$elemMatch")
	n.Node.appendTo(b)
	b.End()
}

// parseElemMatch distinguishes the two forms: operators that need a path make
// it a condition on values, everything else a filter on documents.
func parseElemMatch(p *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	if e.v.Kind() != value.KindDocument {
		return nil, mongoerr.New(mongoerr.BadValue, "$elemMatch needs an Object")
	}
	d := e.v.Doc()
	if name, _ := d.First(); isOperatorDoc(e.v, true) && topOperators[name] == nil {
		and := &And{}
		if err := p.operators(and, p.path(""), d); err != nil {
			return nil, err
		}
		return &ElemMatchValue{leafPath{Path: path}, and.Nodes}, nil
	}
	n, err := p.filter(d, true)
	if err != nil {
		return nil, err
	}
	return &ElemMatchObject{leafPath{Path: path}, n}, nil
}

// parseAll makes an And of equalities, of regular expressions, or of
// $elemMatch conditions.
func parseAll(p *parser, path value.Path, context value.Doc, e element) (Node, error) {
	if e.v.Kind() != value.KindArray {
		return nil, mongoerr.New(mongoerr.BadValue, "$all needs an array")
	}
	list := e.v.Doc()
	if list.IsEmpty() {
		return &Constant{false}, nil
	}
	elemMatch := firstName(list.Index(0)) == "$elemMatch"
	and := &And{all: &allOrigin{path, e}}
	for v := range list.Values() {
		n, err := p.allItem(path, context, v, elemMatch)
		if err != nil {
			return nil, err
		}
		and.Nodes = append(and.Nodes, n)
	}
	return simplify(and), nil
}

// allItem parses one item of $all: a value, a regular expression or, if
// elemMatch is set, a $elemMatch.
func (p *parser) allItem(path value.Path, context value.Doc, v value.Value, elemMatch bool) (Node, error) {
	name := firstName(v)
	switch {
	case elemMatch && name != "$elemMatch":
		return nil, mongoerr.New(mongoerr.BadValue, "$all/$elemMatch has to be consistent")
	case elemMatch:
		_, arg := v.Doc().First()
		return parseElemMatch(p, path, context, element{name, arg})
	case v.Kind() == value.KindRegex:
		pattern, options := v.Regex()
		return regexNode(newRegex(path, pattern, options))
	case fieldOperators[name] != nil:
		return nil, mongoerr.New(mongoerr.BadValue, "no $ expressions in $all")
	}
	return p.compare(OpEq, path, v)
}

func firstName(v value.Value) string {
	if v.Kind() != value.KindDocument {
		return ""
	}
	name, _ := v.Doc().First()
	return name
}
