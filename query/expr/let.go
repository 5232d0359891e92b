package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The nodes of the operators that bind variables ($filter, $let, $map, $reduce) restore the
// old value of a slot, so that an expression may be evaluated while an outer one uses the same
// slot.

// inner compiles v in a child scope that declares the names.
func (p *parser) inner(v value.Value, names ...string) (node, []int, error) {
	outer := p.scope
	p.scope = outer.Child()
	defer func() { p.scope = outer }()
	slots := make([]int, len(names))
	for i, name := range names {
		slots[i] = p.scope.Declare(name)
	}
	n, err := p.operand(v)
	return n, slots, err
}

// let is a compiled $let.
type let struct {
	names []string
	slots []int
	vars  []node
	body  node
}

// parseLet compiles $let: the definitions in the outer scope, the body in an
// inner one.
func parseLet(p *parser, op *operator, v value.Value) (node, error) {
	f, err := op.fields(v)
	switch {
	case err != nil:
		return nil, err
	case f[0].Kind() != value.KindDocument && f[0].Kind() != value.KindArray: // the positions of an array are not names
		return nil, mongoerr.New(10065, "invalid parameter: expected an object (vars)")
	}
	l := &let{}
	for name, e := range f[0].Doc().All() {
		if err := CheckVariableName(name); err != nil {
			return nil, err
		}
		n, err := p.operand(e)
		if err != nil {
			return nil, err
		}
		l.names, l.vars = append(l.names, name), append(l.vars, n)
	}
	if l.body, l.slots, err = p.inner(f[1], l.names...); err != nil {
		return nil, err
	}
	if _, ok := l.body.(constant); ok {
		return l.body, nil
	}
	return l, nil
}

// eval binds the variables, evaluates the body and restores the slots.
func (l *let) eval(env *Env) (value.Value, error) {
	var few [4]value.Value
	vals := few[:0]
	for _, n := range l.vars {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		vals = append(vals, v)
	}
	for i, slot := range l.slots {
		saved := env.Get(slot)
		env.Set(slot, vals[i])
		vals[i] = saved
	}
	v, err := l.body.eval(env)
	for i := len(l.slots) - 1; i >= 0; i-- {
		env.Set(l.slots[i], vals[i])
	}
	return v, err
}

func (l *let) deps(d *depSink) {
	depsAll(l.vars, d)
	l.body.deps(d.hiding(l.slots...))
}

func (l *let) serial() value.Value {
	b := value.NewBuilder()
	b.StartDocument("vars")
	for i, n := range l.vars {
		b.Append(l.names[i], n.serial())
	}
	b.End()
	b.Append("in", l.body.serial())
	return value.Document(value.NewDoc("$let", value.Document(b.Doc())))
}
