package expr

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// each is what $map and $filter share: a body that is evaluated for each element of an array,
// with the element in a variable.
type each struct {
	input node
	body  node
	slot  int
	as    string // the variable's name
}

// each compiles the input and the variable's name; bind compiles the body.
func (p *parser) each(input, as value.Value) (e each, err error) {
	if e.input, err = p.operand(input); err != nil {
		return e, err
	}
	e.as, err = asName(as)
	return e, err
}

func asName(v value.Value) (string, error) {
	if v.IsMissing() {
		return "this", nil
	}
	name := v.Str() // a value that is not a string counts as the empty name
	return name, CheckVariableName(name)
}

func (e *each) bind(p *parser, body value.Value) error {
	n, slots, err := p.inner(body, e.as)
	if err != nil {
		return err
	}
	e.body, e.slot = n, slots[0]
	return nil
}

// run evaluates the body for each element until the result has limit elements. take adds what
// there is to add to the result.
func (e *each) run(env *Env, in value.Doc, out *arrayBuilder, limit int, take func(elem, result value.Value) error) (value.Value, error) {
	saved := env.Get(e.slot)
	defer env.Set(e.slot, saved)
	it := in.Iter()
	for it.Next() && out.Len() < limit {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		elem, held := it.Value(), env.held
		env.Set(e.slot, elem)
		v, err := e.body.eval(env)
		env.held = held
		if err == nil {
			err = take(elem, v)
		}
		if err == nil {
			err = out.check()
		}
		if err != nil {
			return value.Value{}, err
		}
	}
	return out.Value(), nil
}

func (e *each) deps(d *depSink) {
	e.input.deps(d)
	e.body.deps(d.hiding(e.slot))
}

// serial writes the operator with the body under a name.
func (e *each) serial(body string) *value.Builder {
	b := value.NewBuilder()
	b.Append("input", e.input.serial())
	b.String("as", e.as)
	return b.Append(body, e.body.serial())
}

// mapping is a compiled $map.
type mapping struct{ each }

// parseMap compiles $map: input, as and in.
func parseMap(p *parser, op *operator, v value.Value) (node, error) {
	f, err := op.fields(v)
	if err != nil {
		return nil, err
	}
	m := &mapping{}
	if m.each, err = p.each(f[0], f[1]); err != nil {
		return nil, err
	}
	return m, m.bind(p, f[2])
}

// eval returns the array of the results; a missing one becomes null.
func (m *mapping) eval(env *Env) (value.Value, error) {
	in, null, err := ofKind(m.input, env, value.KindArray, 16883, "input to $map must be an array not %s")
	if null || err != nil {
		return value.Null(), err
	}
	out := arrayBuilder{env: env, op: "$map"}
	if err := out.reserve(len(in.Doc())); err != nil { // the results are often as large as the elements
		return value.Value{}, err
	}
	used, limit := 0, env.mapBytes()
	return m.run(env, in.Doc(), &out, math.MaxInt32, func(_, result value.Value) error {
		out.Append(result)
		used += valueBytes + len(result.Bytes())
		return checkMapped("$map", used, limit)
	})
}

func (m *mapping) serial() value.Value {
	return value.Document(value.NewDoc("$map", value.Document(m.each.serial("in").Doc())))
}

// filter is a compiled $filter.
type filter struct {
	each
	limit node // nil: no limit
}

// parseFilter compiles $filter: input, as, cond and limit.
func parseFilter(p *parser, op *operator, v value.Value) (node, error) {
	f, err := op.fields(v)
	if err != nil {
		return nil, err
	}
	n := &filter{}
	if n.each, err = p.each(f[0], f[1]); err != nil {
		return nil, err
	}
	if !f[3].IsMissing() {
		if n.limit, err = p.operand(f[3]); err != nil {
			return nil, err
		}
	}
	return n, n.bind(p, f[2])
}

// eval returns the elements for which the condition is true.
func (n *filter) eval(env *Env) (value.Value, error) {
	in, null, err := ofKind(n.input, env, value.KindArray, 28651, "input to $filter must be an array not %s")
	if null || err != nil {
		return value.Null(), err
	}
	limit, err := n.limitOf(env)
	if err != nil {
		return value.Value{}, err
	}
	out := arrayBuilder{env: env, op: "$filter"}
	return n.run(env, in.Doc(), &out, limit, func(elem, result value.Value) error {
		if result.Truthy() {
			out.Append(elem)
		}
		return nil
	})
}

// limitOf evaluates the limit, which must be a positive int or null.
func (n *filter) limitOf(env *Env) (int, error) {
	if n.limit == nil {
		return math.MaxInt32, nil
	}
	v, err := n.limit.eval(env)
	if err != nil || v.IsNullish() {
		return math.MaxInt32, err
	}
	limit, ok := asInt32(v)
	if !ok {
		return 0, mongoerr.Newf(327391, "$filter: limit must be represented as a 32-bit integral value: %s", v.Compact())
	}
	if limit < 1 {
		return 0, mongoerr.Newf(327392, "$filter: limit must be greater than 0: %d", limit)
	}
	return int(limit), nil
}

func (n *filter) deps(d *depSink) {
	n.each.deps(d)
	if n.limit != nil {
		n.limit.deps(d)
	}
}

func (n *filter) serial() value.Value {
	b := n.each.serial("cond")
	if n.limit != nil {
		b.Append("limit", n.limit.serial())
	}
	return value.Document(value.NewDoc("$filter", value.Document(b.Doc())))
}
