package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// parseCond compiles both forms of $cond: [if, then, else] and an object.
func parseCond(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		args, err := p.positional(op, v)
		if err != nil {
			return nil, err
		}
		return p.choose(p.call(op, args...))
	}
	args := make([]node, 3)
	for name, e := range v.Doc().All() {
		n, err := p.operand(e)
		if err != nil {
			return nil, err
		}
		switch name {
		case "if":
			args[0] = n
		case "then":
			args[1] = n
		case "else":
			args[2] = n
		default:
			return nil, mongoerr.Newf(17083, "Unrecognized parameter to $cond: %s", name)
		}
	}
	for i, name := range []string{"if", "then", "else"} {
		if args[i] == nil {
			return nil, mongoerr.Newf(mongoerr.Code(17080+i), "Missing '%s' parameter to $cond", name)
		}
	}
	return p.choose(p.call(op, args...))
}

// choose returns the branch of a condition whose value is constant.
func (p *parser) choose(c *call) (node, error) {
	switch when, ok := c.args[0].(constant); {
	case !ok || p.late():
		return c, nil
	case when.v.Truthy():
		return c.args[1], nil
	}
	return c.args[2], nil
}

func evalCond(c *call, env *Env) (value.Value, error) {
	v, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case v.Truthy():
		return c.args[1].eval(env)
	}
	return c.args[2].eval(env)
}

func checkIfNull(c *call) (any, error) {
	if len(c.args) < 2 {
		return nil, mongoerr.Newf(1257300, "$ifNull needs at least two arguments, had: %d", len(c.args))
	}
	return nil, nil
}

func evalIfNull(c *call, env *Env) (v value.Value, err error) {
	for _, n := range c.args {
		if v, err = n.eval(env); err != nil || !v.IsNullish() {
			return v, err
		}
	}
	return v, nil
}

// switchCase is the compiled $switch.
type switchCase struct {
	cases, thens []node
	otherwise    node // nil: no default
	given        int  // number of branches as written
	decided      bool // a case is always true: later ones are not needed
}

// parseSwitch compiles $switch; constant cases are decided at compile time.
func parseSwitch(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40060, "$switch requires an object as an argument, found: %s", v.Kind())
	}
	s := &switchCase{}
	for name, e := range v.Doc().All() {
		switch name {
		case "branches":
			if e.Kind() != value.KindArray {
				return nil, mongoerr.Newf(40061, "$switch expected an array for 'branches', found: %s", e.Kind())
			}
			for b := range e.Doc().Values() {
				if err := s.branch(p, b); err != nil {
					return nil, err
				}
			}
		case "default":
			n, failed, err := p.tentative(e)
			if err != nil {
				return nil, err
			}
			if failed != nil {
				p.fail(failed)
			}
			if !s.decided {
				s.otherwise = n
			}
		default:
			return nil, mongoerr.Newf(40067, "$switch found an unknown argument: %s", name)
		}
	}
	switch {
	case s.given == 0:
		return nil, mongoerr.New(40068, "$switch requires at least one branch.")
	case len(s.cases) > 0:
		return s, nil
	case s.otherwise == nil:
		p.fail(mongoerr.New(40069, "One cannot execute a switch statement where all the cases evaluate to false without a default."))
		return s, nil
	}
	return s.otherwise, nil
}

// branch compiles one branch, and drops it if its case is constant and false.
func (s *switchCase) branch(p *parser, b value.Value) error {
	if b.Kind() != value.KindDocument {
		return mongoerr.Newf(40062, "$switch expected each branch to be an object, found: %s", b.Kind())
	}
	var when, then node
	var badCase, badThen error
	for name, e := range b.Doc().All() {
		n, failed, err := p.tentative(e)
		if err != nil {
			return err
		}
		switch name {
		case "case":
			when, badCase = n, failed
		case "then":
			then, badThen = n, failed
		default:
			return mongoerr.Newf(40063, "$switch found an unknown argument to a branch: %s", name)
		}
	}
	if when == nil {
		return mongoerr.New(40064, "$switch requires each branch have a 'case' expression")
	}
	if then == nil {
		return mongoerr.New(40065, "$switch requires each branch have a 'then' expression.")
	}
	s.given++
	if s.decided {
		return nil
	}
	known, ok := when.(constant)
	for _, failed := range []error{badCase, badThen} {
		if failed != nil && (!ok || known.v.Truthy()) {
			p.fail(failed)
		}
	}
	switch {
	case !ok || p.late():
		s.cases, s.thens = append(s.cases, when), append(s.thens, then)
	case known.v.Truthy():
		s.otherwise, s.decided = then, true
	}
	return nil
}

// eval returns the value of the first branch whose case is true, or of the
// default.
func (s *switchCase) eval(env *Env) (value.Value, error) {
	for i, n := range s.cases {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.Truthy() {
			return s.thens[i].eval(env)
		}
	}
	if s.otherwise == nil {
		return value.Value{}, mongoerr.New(40066,
			"$switch could not find a matching branch for an input, and no default was specified.")
	}
	return s.otherwise.eval(env)
}

func (s *switchCase) deps(d *depSink) {
	depsAll(s.cases, d)
	depsAll(s.thens, d)
	depsAll([]node{s.otherwise}, d)
}

func (s *switchCase) serial() value.Value {
	var branches value.ArrayBuilder
	for i := range s.cases {
		branches.Append(value.Document(value.NewDoc("case", s.cases[i].serial(), "then", s.thens[i].serial())))
	}
	b := value.NewBuilder()
	b.Append("branches", branches.Value())
	if s.otherwise != nil {
		b.Append("default", s.otherwise.serial())
	}
	return value.Document(value.NewDoc("$switch", value.Document(b.Doc())))
}

func parseLiteral(_ *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() == value.KindString {
		return constant{v}, checkString(len(v.Str()))
	}
	return constant{v}, nil
}
