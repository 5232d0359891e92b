package expr

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The operators that bind variables: $filter, $let, $map, $reduce. Their nodes
// restore the old value of a slot, so that an expression may be evaluated
// while an outer one uses the same slot.

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

// fields sorts the arguments of an operator into the order of names, and calls
// unknown for other arguments.
func fields(v value.Value, unknown func(name string) error, names ...string) ([]value.Value, error) {
	out := make([]value.Value, len(names))
	for name, e := range v.Doc().All() {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, unknown(name)
		}
		out[i] = e
	}
	return out, nil
}

func asName(v value.Value) (string, error) {
	if v.IsMissing() {
		return "this", nil
	}
	name := v.Str() // a value that is not a string counts as the empty name
	return name, CheckVariableName(name)
}

// loop is a compiled $filter or $map.
type loop struct {
	op    *operator
	input node
	body  node
	limit node // of $filter; nil: no limit
	slot  int
	as    string
}

// parseMap compiles $map: input, as and in.
func parseMap(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(16878, "$map only supports an object as its argument")
	}
	f, err := fields(v, func(name string) error {
		return mongoerr.Newf(16879, "Unrecognized parameter to $map: %s", name)
	}, "input", "as", "in")
	switch {
	case err != nil:
		return nil, err
	case f[0].IsMissing():
		return nil, mongoerr.New(16880, "Missing 'input' parameter to $map")
	case f[2].IsMissing():
		return nil, mongoerr.New(16882, "Missing 'in' parameter to $map")
	}
	return p.loop(op, f[0], f[1], f[2], value.Value{})
}

// parseFilter compiles $filter: input, as, cond and limit.
func parseFilter(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(28646, "$filter only supports an object as its argument")
	}
	f, err := fields(v, func(name string) error {
		return mongoerr.Newf(28647, "Unrecognized parameter to $filter: %s", name)
	}, "input", "as", "cond", "limit")
	switch {
	case err != nil:
		return nil, err
	case f[0].IsMissing():
		return nil, mongoerr.New(28648, "Missing 'input' parameter to $filter")
	case f[2].IsMissing():
		return nil, mongoerr.New(28650, "Missing 'cond' parameter to $filter")
	}
	return p.loop(op, f[0], f[1], f[2], f[3])
}

// loop compiles the common part of $map and $filter, whose body sees the
// variable as.
func (p *parser) loop(op *operator, input, as, body, limit value.Value) (node, error) {
	l := &loop{op: op}
	var err error
	if l.input, err = p.operand(input); err != nil {
		return nil, err
	}
	if l.as, err = asName(as); err != nil {
		return nil, err
	}
	if !limit.IsMissing() {
		if l.limit, err = p.operand(limit); err != nil {
			return nil, err
		}
	}
	var slots []int
	if l.body, slots, err = p.inner(body, l.as); err != nil {
		return nil, err
	}
	l.slot = slots[0]
	return l, nil
}

// eval evaluates the input and the limit, and then the body for each element.
// It restores the slot afterwards.
func (l *loop) eval(env *Env) (value.Value, error) {
	before := env.held
	v, err := l.run(env)
	return env.release(before, v), err
}

func (l *loop) run(env *Env) (value.Value, error) {
	in, err := l.input.eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case in.IsNullish():
		return value.Null(), nil
	case in.Kind() != value.KindArray:
		code := mongoerr.Code(16883)
		if l.op.name == "$filter" {
			code = 28651
		}
		return value.Value{}, mongoerr.Newf(code, "input to %s must be an array not %s", l.op.name, in.Kind())
	}
	saved := env.Get(l.slot)
	defer env.Set(l.slot, saved)
	limit, err := l.limitOf(env)
	if err != nil {
		return value.Value{}, err
	}
	return l.collect(env, in, limit)
}

// collect evaluates the body for each element. For $map the array consists of
// the results, for $filter of the elements for which the result is true.
func (l *loop) collect(env *Env, in value.Value, limit int) (value.Value, error) {
	out := arrayBuilder{env: env, op: l.op.name}
	mapping, used, most := l.op.name == "$map", 0, env.mapBytes()
	if mapping { // the results are often as large as the elements
		if err := out.reserve(len(in.Doc())); err != nil {
			return value.Value{}, err
		}
	}
	it := in.Doc().Iter()
	for it.Next() && out.Len() < limit {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		elem, held := it.Value(), env.held
		env.Set(l.slot, elem)
		v, err := l.body.eval(env)
		switch env.held = held; {
		case err != nil:
			return value.Value{}, err
		case mapping:
			out.Append(v) // missing becomes null
			used += valueBytes + len(v.Bytes())
			err = checkMapped("$map", used, most)
		case v.Truthy():
			out.Append(elem)
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

// limitOf evaluates the limit of $filter, which must be a positive int or
// null.
func (l *loop) limitOf(env *Env) (int, error) {
	if l.limit == nil {
		return 1<<31 - 1, nil
	}
	v, err := l.limit.eval(env)
	if err != nil || v.IsNullish() {
		return 1<<31 - 1, err
	}
	n, ok := asInt32(v)
	if !ok {
		return 0, mongoerr.Newf(327391, "$filter: limit must be represented as a 32-bit integral value: %s", v.Compact())
	}
	if n < 1 {
		return 0, mongoerr.Newf(327392, "$filter: limit must be greater than 0: %d", n)
	}
	return int(n), nil
}

func (l *loop) deps(d *depSink) {
	l.input.deps(d)
	if l.limit != nil {
		l.limit.deps(d)
	}
	l.body.deps(d.hiding(l.slot))
}

func (l *loop) serial() value.Value {
	b := value.NewBuilder()
	b.Append("input", l.input.serial())
	b.String("as", l.as)
	if l.op.name == "$map" {
		b.Append("in", l.body.serial())
	} else {
		b.Append("cond", l.body.serial())
	}
	if l.limit != nil {
		b.Append("limit", l.limit.serial())
	}
	return value.Document(value.NewDoc(l.op.name, value.Document(b.Doc())))
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
func parseLet(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(16874, "$let only supports an object as its argument")
	}
	f, err := fields(v, func(name string) error {
		return mongoerr.Newf(16875, "Unrecognized parameter to $let: %s", name)
	}, "vars", "in")
	switch {
	case err != nil:
		return nil, err
	case f[0].IsMissing():
		return nil, mongoerr.New(16876, "Missing 'vars' parameter to $let")
	case f[1].IsMissing():
		return nil, mongoerr.New(16877, "Missing 'in' parameter to $let")
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
	before := env.held
	v, err := l.run(env)
	return env.release(before, v), err
}

func (l *let) run(env *Env) (value.Value, error) {
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

// reduce is a compiled $reduce.
type reduce struct {
	input, initial, body node
	this, acc            int
}

// parseReduce compiles $reduce, whose body sees $$value and $$this.
func parseReduce(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40075, "$reduce requires an object as an argument, found: %s", v.Kind())
	}
	f, err := fields(v, func(name string) error {
		return mongoerr.Newf(40076, "$reduce found an unknown argument: %s", name)
	}, "input", "initialValue", "in")
	switch {
	case err != nil:
		return nil, err
	case f[0].IsMissing():
		return nil, mongoerr.New(40077, "$reduce requires 'input' to be specified")
	case f[1].IsMissing():
		return nil, mongoerr.New(40078, "$reduce requires 'initialValue' to be specified")
	case f[2].IsMissing():
		return nil, mongoerr.New(40079, "$reduce requires 'in' to be specified")
	}
	r := &reduce{}
	if r.input, err = p.operand(f[0]); err != nil {
		return nil, err
	}
	if r.initial, err = p.operand(f[1]); err != nil {
		return nil, err
	}
	var slots []int
	if r.body, slots, err = p.inner(f[2], "this", "value"); err != nil {
		return nil, err
	}
	r.this, r.acc = slots[0], slots[1]
	return r, nil
}

// eval folds the elements of the input from the initial value on.
func (r *reduce) eval(env *Env) (value.Value, error) {
	before := env.held
	v, err := r.run(env)
	return env.release(before, v), err
}

func (r *reduce) run(env *Env) (value.Value, error) {
	in, err := r.input.eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case in.IsNullish():
		return value.Null(), nil
	case in.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(40080, "$reduce requires that 'input' be an array, found: %s", in.Compact())
	}
	before, most := env.held, env.mapBytes()
	acc, err := r.initial.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	this, saved := env.Get(r.this), env.Get(r.acc)
	defer func() { env.Set(r.this, this); env.Set(r.acc, saved) }()
	it := in.Doc().Iter()
	for it.Next() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		env.Set(r.this, it.Value())
		env.Set(r.acc, acc)
		if acc, err = r.body.eval(env); err != nil {
			return value.Value{}, err
		}
		acc = env.release(before, acc)
		if err := checkMapped("$reduce", valueBytes+len(acc.Bytes()), most); err != nil {
			return value.Value{}, err
		}
		if err := checkSize(len(acc.Bytes())); err != nil {
			return value.Value{}, err
		}
	}
	return acc, nil
}

func (r *reduce) deps(d *depSink) {
	r.input.deps(d)
	r.initial.deps(d)
	r.body.deps(d.hiding(r.this, r.acc))
}

func (r *reduce) serial() value.Value {
	return value.Document(value.NewDoc("$reduce", value.Document(value.NewDoc(
		"input", r.input.serial(), "initialValue", r.initial.serial(), "in", r.body.serial()))))
}
