package match

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Explain describes why the filter does not match d, as the details document
// of MongoDB's DocumentValidationFailure (errInfo.details): which operators
// failed, on which values, and for what reason. The document must not match.
func (m *Matcher) Explain(env *expr.Env, d value.Doc) value.Doc {
	b := value.NewBuilder()
	x := explainer{env, d, b}
	m.written().explain(&x, false)
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
		c.explain(x, inverted)
		x.b.End().End()
	}
	x.b.End()
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
type reasons struct {
	failed, matched string
	existence       bool // a missing field is what the leaf tests
	types           bool // the types of the values are listed, too
}

// leaf writes the operator, the leaf as the client wrote it, the reason and the values that
// were considered.
func (x *explainer) leaf(op string, l Leaf, inverted bool) {
	quote(x.b.String("operatorName", op), "specifiedAs", value.Document(specification(l)))
	r := l.reasons()
	values := x.behind(l.FieldPath(), l.arrays())
	switch {
	case inverted:
		x.b.String("reason", r.matched)
	case len(values) == 0 && !r.existence:
		x.b.String("reason", "field was missing")
		return
	default:
		x.b.String("reason", r.failed)
	}
	x.values(values)
	if r.types {
		x.types(values)
	}
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

// other writes a node that is not about a field.
func (x *explainer) other(n Node) {
	d := specificationOf(n)
	name, _ := d.First()
	quote(x.b.String("operatorName", name), "specifiedAs", value.Document(d))
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
