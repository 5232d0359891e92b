package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Explain describes why the filter does not match d, as the details document
// of MongoDB's DocumentValidationFailure (errInfo.details): which operators
// failed, on which values, and for what reason. The document must not match.
func (m *Matcher) Explain(env *expr.Env, d value.Doc) value.Doc {
	b := value.NewBuilder()
	x := explainer{env, d, b}
	x.node(m.written(), false)
	return b.Doc()
}

// maxExplanation is the size of an explanation from which on it quotes no more values, as that
// of mongod's.
const maxExplanation = 12 << 20

// quote writes a value of the document or of the filter, unless the explanation has become
// too large for it.
func quote(b *value.Builder, name string, v value.Value) *value.Builder {
	if b.Len()+len(v.Bytes()) > maxExplanation {
		return b
	}
	return b.Append(name, v)
}

// explainer writes the explanations of nodes for one document. Below a
// negation it explains why a node matched (inverted).
type explainer struct {
	env *expr.Env
	d   value.Doc
	b   *value.Builder
}

// node explains one node: logical nodes by their children, leaves by the
// values that they tested.
func (x *explainer) node(n Node, inverted bool) {
	switch n := n.(type) {
	case *And:
		if n.all != nil {
			x.all(n.all, inverted)
			return
		}
		x.clauses("$and", n.Nodes, inverted)
	case *Or:
		x.clauses("$or", n.Nodes, inverted)
	case *Nor:
		x.clauses("$nor", n.Nodes, !inverted)
	case *Not:
		x.not(n, inverted)
	case *Schema:
		x.schema(n, inverted)
	case *Expr:
		x.expr(n, inverted)
	case Leaf:
		x.leaf(leafOperator(n), n, specification(n), inverted)
	default:
		x.other(n, inverted)
	}
}

// clauses lists the children that failed, or those that matched.
func (x *explainer) clauses(op string, nodes []Node, inverted bool) {
	key := "clausesNotSatisfied"
	if inverted {
		key = "clausesSatisfied"
	}
	x.b.String("operatorName", op).StartArray(key)
	for i, c := range nodes {
		ok, err := c.match(x.env, x.d, nil)
		if err != nil || ok != inverted {
			continue
		}
		x.b.StartDocument("").Int32("index", int32(i)).StartDocument("details")
		x.node(c, inverted)
		x.b.End().End()
	}
	x.b.End()
}

// not explains $ne, $nin and $exists: false by their own names, and $not by
// the reason for which its argument matched.
func (x *explainer) not(n *Not, inverted bool) {
	leaf, ok := n.Node.(Leaf)
	if !ok || n.Op == "" {
		x.b.String("operatorName", "$not").StartDocument("details")
		x.node(n.Node, !inverted)
		x.b.End()
		return
	}
	x.leaf(n.Op, leaf, specification(leaf), !inverted)
}

// specification is the leaf as the client wrote it: {path: {$op: …}}, or
// {path: value} for an equality.
func specification(l Leaf) value.Doc {
	e := l.origin()
	if _, isRegex := l.(*Regex); e.v.IsMissing() || isRegex && e.name != "" {
		b := value.NewBuilder()
		l.appendTo(b)
		return b.Doc()
	}
	v := e.v
	if e.name != "" {
		v = value.Document(value.NewDoc(e.name, v))
	}
	return value.NewDoc(l.FieldPath().String(), v)
}

// leafOperator returns the operator that the client wrote, or the leaf's own
// if the client wrote none.
func leafOperator(l Leaf) string {
	if name := l.origin().name; name != "" {
		return name
	}
	b := value.NewBuilder()
	l.appendOperator(b)
	name, _ := b.Doc().First()
	return name
}

// reasons are the explanations for a leaf that did not match, and for a
// negated leaf that matched.
type reasons struct{ failed, matched string }

// reasonsOf returns mongod's explanations for a leaf.
func reasonsOf(n Node) reasons {
	switch n := n.(type) {
	case *Compare:
		return reasons{"comparison failed", "comparison succeeded"}
	case *In:
		return reasons{"no matching value found in array", "matching value found in array"}
	case *Regex:
		return reasons{"regular expression did not match", "regular expression did match"}
	case *Type:
		return reasons{"type did not match", "type did match"}
	case *Exists:
		return reasons{"path does not exist", "path does exist"}
	case *Mod:
		return reasons{"$mod did not evaluate to expected remainder", "$mod did evaluate to expected remainder"}
	case *Size:
		return reasons{"array length was not equal to given size", "array length was equal to given size"}
	case *Bits:
		return reasons{"bitwise operator failed to match", "bitwise operator matched successfully"}
	case *Geo:
		if n.Within {
			return reasons{"none of the considered geometries were contained within the expression's geometry",
				"at least one of the considered geometries was contained within the expression's geometry"}
		}
		return reasons{"none of the considered geometries intersected the expression's geometry",
			"at least one of the considered geometries intersected the expression's geometry"}
	}
	return reasons{"array did not satisfy the child predicate", "array did satisfy the child predicate"}
}

// leaf writes the operator, its specification, the reason and the values that
// were considered.
func (x *explainer) leaf(op string, l Leaf, spec value.Doc, inverted bool) {
	quote(x.b.String("operatorName", op), "specifiedAs", value.Document(spec))
	reason := reasonsOf(l).failed
	if inverted {
		reason = reasonsOf(l).matched
	}
	values := x.considered(l)
	if _, ok := l.(*Exists); ok {
		x.b.String("reason", reason)
		if inverted {
			x.values(values)
		}
		return
	}
	if len(values) == 0 && !inverted {
		x.b.String("reason", "field was missing")
		return
	}
	x.b.String("reason", reason)
	x.values(values)
	if _, ok := l.(*Type); ok {
		x.types(values)
	}
}

// all explains $all of several values.
func (x *explainer) all(origin *allOrigin, inverted bool) {
	spec := value.NewDoc(origin.arg.name, origin.arg.v)
	x.b.String("operatorName", "$all").
		Document("specifiedAs", value.NewDoc(origin.path.String(), value.Document(spec)))
	values := x.behind(&origin.path, value.LeafWhole)
	switch {
	case inverted:
		x.b.String("reason", "array did contain all specified values")
	case len(values) == 0:
		x.b.String("reason", "field was missing")
	default:
		x.b.String("reason", "array did not contain all specified values")
	}
	x.values(values)
}

// considered lists the values that the leaf has tested.
func (x *explainer) considered(l Leaf) []value.Value {
	switch l.(type) {
	case *Size, *ElemMatchObject, *ElemMatchValue:
		return x.behind(l.FieldPath(), value.LeafWhole)
	}
	return x.behind(l.FieldPath(), value.LeafTraverse)
}

// behind lists the existing values at a path.
func (x *explainer) behind(path *value.Path, arrays value.Leaf) (values []value.Value) {
	path.Each(x.d, arrays, func(v value.Value, _ int) bool {
		if !v.IsMissing() {
			values = append(values, v)
		}
		return false
	})
	return values
}

func (x *explainer) values(values []value.Value) {
	switch len(values) {
	case 0:
	case 1:
		quote(x.b, "consideredValue", values[0])
	default:
		quote(x.b, "consideredValues", value.NewArray(values...))
	}
}

// types writes the types of the values: consideredTypes, or consideredType for
// one value.
func (x *explainer) types(values []value.Value) {
	if len(values) == 1 {
		x.b.String("consideredType", values[0].Kind().String())
		return
	}
	x.b.StartArray("consideredTypes")
	seen := map[value.Kind]bool{}
	for _, v := range values {
		if !seen[v.Kind()] {
			x.b.String("", v.Kind().String())
		}
		seen[v.Kind()] = true
	}
	x.b.End()
}

func (x *explainer) schema(n *Schema, inverted bool) {
	x.b.String("operatorName", "$jsonSchema")
	if inverted {
		x.b.Document("specifiedAs", value.NewDoc("$jsonSchema", value.Document(n.spec))).
			String("reason", "schema matched")
		return
	}
	n.schema.explainTitle(x.b)
	n.schema.explainRules(x.env, x.b, "schemaRulesNotSatisfied", value.Document(x.d))
}

func (x *explainer) expr(n *Expr, inverted bool) {
	quote(x.b.String("operatorName", "$expr"), "specifiedAs", value.Document(value.NewDoc("$expr", n.spec)))
	v, err := n.Expr.Eval(x.env, x.d)
	if err != nil {
		e := mongoerr.From(err)
		x.b.String("reason", "failed to evaluate aggregation expression").StartDocument("details").
			Int32("code", int32(e.Code)).String("codeName", e.Code.Name()).String("errmsg", e.Message).End()
		return
	}
	reason := "expression did not match"
	if inverted {
		reason = "expression did match"
	}
	quote(x.b.String("reason", reason), "expressionResult", v)
}

func (x *explainer) other(n Node, inverted bool) {
	spec := value.NewBuilder()
	n.appendTo(spec)
	d := spec.Doc()
	name, _ := d.First()
	quote(x.b.String("operatorName", name), "specifiedAs", value.Document(d))
	if _, ok := n.(*Constant); ok {
		reason := "expression always evaluates to false"
		if inverted {
			reason = "expression always evaluates to true"
		}
		x.b.String("reason", reason)
	}
}
