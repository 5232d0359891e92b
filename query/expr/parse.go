package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// parser compiles one expression; scope changes as it enters operators that
// define variables.
type parser struct {
	scope  *Scope
	depth  int
	failed error // the first error of a constant sub-expression
	folded int   // number of ticks during their evaluation
}

// late reports whether constant sub-expressions are evaluated with the
// documents.
func (p *parser) late() bool { return p.scope.isLate() }

// operand compiles any value that may be an argument.
func (p *parser) operand(v value.Value) (node, error) {
	switch v.Kind() {
	case value.KindString:
		s := v.Str()
		if strings.HasPrefix(s, "$") {
			return p.path(s)
		}
		if err := checkString(len(s)); err != nil {
			return nil, err
		}
	case value.KindDocument:
		return p.document(v.Doc())
	case value.KindArray:
		return p.array(v.Doc())
	}
	return constant{v}, nil
}

// document compiles a document: an operator if its first name begins with $,
// otherwise an object.
func (p *parser) document(d value.Doc) (node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, mongoerr.New(mongoerr.Overflow, "BSONObj exceeded maximum nested object depth: 200")
	}
	first, v := d.First()
	if !strings.HasPrefix(first, "$") {
		return p.object(d)
	}
	if d.Len() != 1 {
		return nil, mongoerr.Newf(15983, "An object representing an expression must have exactly one field: %s", d)
	}
	return p.operator(first, v)
}

// operator compiles {$name: v}.
func (p *parser) operator(name string, v value.Value) (node, error) {
	op := byName[name]
	if op == nil || !p.scope.Dialect().Has(op.since) {
		return nil, mongoerr.Newf(mongoerr.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
	}
	if op.parse != nil {
		n, err := op.parse(p, op, v)
		if err != nil {
			return nil, err
		}
		return accounted(n), nil
	}
	args, err := p.arguments(op, v)
	if err != nil {
		return nil, err
	}
	return p.finish(p.call(op, args...))
}

// call makes the call of an operator.
func (p *parser) call(op *operator, args ...node) *call {
	return &call{op: op, args: args, dialect: p.scope.Dialect()}
}

// finish prepares a call whose arguments are compiled, and folds it if all of
// them are constant.
func (p *parser) finish(c *call) (node, error) {
	if c.op.prepare != nil {
		data, err := c.op.prepare(c)
		if f, ok := errors.AsType[*FoldError](err); ok {
			p.fail(f.Err)
		} else if err != nil {
			return nil, err
		}
		c.data = data
	}
	if c.op.simplify != nil && !p.late() {
		if n := c.op.simplify(c); n != nil {
			return n, nil
		}
	}
	if c.op.volatile || !allConstant(c.args) {
		return c, nil
	}
	return p.fold(c), nil
}

// fold evaluates a constant node. It returns the node unchanged if its value
// would depend on the collation, which is not known yet, or if it fails:
// mongod reports errors of the whole expression first.
func (p *parser) fold(n node) node {
	if p.late() {
		return n
	}
	env, probe := NewEnv(0), &collationProbe{}
	env.Collation, env.folding = probe, true
	env.Interrupt = func() error {
		if p.folded++; p.folded > maxFolded {
			return errTooLong
		}
		return nil
	}
	v, err := n.eval(env)
	switch {
	case probe.used, errors.Is(err, errTooLong):
		return n
	case err != nil:
		p.fail(err)
		return n
	}
	return constant{v}
}

// maxFolded limits the ticks for the constants of an expression. Longer
// evaluations are left to the run time, when they can be interrupted.
const maxFolded = 1000

var errTooLong = errors.New("folding takes too long")

// fail keeps the first error of a constant sub-expression.
func (p *parser) fail(err error) {
	if p.failed == nil && !p.late() {
		p.failed = err
	}
}

// tentative compiles an operand that the expression may not need. It returns
// the error of its constant sub-expressions separately.
func (p *parser) tentative(v value.Value) (n node, failed, err error) {
	before := p.failed
	p.failed = nil
	n, err = p.operand(v)
	failed, p.failed = p.failed, before
	return n, failed, err
}

// collationProbe is a collation that records whether it was used.
type collationProbe struct{ used bool }

func (p *collationProbe) Compare(a, b string) int {
	p.used = p.used || a != b
	return strings.Compare(a, b)
}

func (p *collationProbe) AppendKey(dst []byte, s string) []byte {
	p.used = true
	return append(dst, s...)
}

func allConstant(ns []node) bool {
	for _, n := range ns {
		if n == nil {
			continue
		}
		if _, ok := n.(constant); !ok {
			return false
		}
	}
	return true
}

func (p *parser) arguments(op *operator, v value.Value) ([]node, error) {
	if op.params != nil {
		return p.named(op, v)
	}
	return p.positional(op, v)
}

// positional compiles {$op: [a, b]} or {$op: a} and checks the arity.
func (p *parser) positional(op *operator, v value.Value) ([]node, error) {
	var args []node
	if v.Kind() == value.KindArray {
		for e := range v.Doc().Values() {
			n, err := p.operand(e)
			if err != nil {
				return nil, err
			}
			args = append(args, n)
		}
	} else {
		n, err := p.operand(v)
		if err != nil {
			return nil, err
		}
		args = []node{n}
	}
	return args, op.checkArity(len(args))
}

func (op *operator) checkArity(n int) error {
	switch {
	case op.min == op.max && n != op.min:
		return mongoerr.Newf(16020, "Expression %s takes exactly %d arguments. %d were passed in.", op.name, op.min, n)
	case n < op.min || op.max >= 0 && n > op.max:
		return mongoerr.Newf(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.",
			op.name, op.min, op.max, n)
	}
	return nil
}

// named compiles {$op: {name: a, …}}.
func (p *parser) named(op *operator, v value.Value) ([]node, error) {
	if v.Kind() != value.KindDocument {
		return nil, op.notObject(v)
	}
	args := make([]node, len(op.params))
	for name, e := range v.Doc().All() {
		i := op.param(name)
		if i < 0 || !p.scope.Dialect().Has(op.added[name]) {
			return nil, op.unknownParam(name)
		}
		n, err := p.operand(e)
		if err != nil {
			return nil, err
		}
		args[i] = n
	}
	for i, q := range op.params {
		if q.missing != 0 && args[i] == nil {
			return nil, op.missingParam(q)
		}
	}
	return args, nil
}

// object compiles a literal document.
func (p *parser) object(d value.Doc) (node, error) {
	o := &object{}
	var seen map[string]bool // instead of the names, if there are many
	for name, v := range d.All() {
		if err := checkFieldName(name); err != nil {
			return nil, err
		}
		if len(o.names) == manyNames {
			seen = make(map[string]bool, 2*manyNames)
			for _, known := range o.names {
				seen[known] = true
			}
		}
		if seen[name] || seen == nil && slices.Contains(o.names, name) {
			return nil, mongoerr.Newf(16406, "duplicate field name specified in object literal: %s", d)
		}
		n, err := p.operand(v)
		if err != nil {
			return nil, err
		}
		if seen != nil {
			seen[name] = true
		}
		o.names, o.values = append(o.names, name), append(o.values, n)
	}
	if allConstant(o.values) {
		return p.fold(o), nil
	}
	return o, nil
}

// array compiles a literal array, which is a constant if all its elements are.
func (p *parser) array(d value.Doc) (node, error) {
	a := &array{}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, mongoerr.New(mongoerr.Overflow, "BSONObj exceeded maximum nested object depth: 200")
	}
	for v := range d.Values() {
		n, err := p.operand(v)
		if err != nil {
			return nil, err
		}
		a.elems = append(a.elems, n)
	}
	if allConstant(a.elems) {
		return p.fold(a), nil
	}
	return a, nil
}

// path compiles "$a.b" and "$$name.a.b".
func (p *parser) path(s string) (node, error) {
	if s == "$" {
		return nil, mongoerr.New(16872, "'$' by itself is not a valid FieldPath")
	}
	name, rest := "CURRENT", s[1:]
	if strings.HasPrefix(s, "$$") {
		name, rest, _ = strings.Cut(s[2:], ".")
		if err := checkVariableRead(name); err != nil {
			return nil, err
		}
		if err := checkFieldPath(s[2:]); err != nil {
			return nil, err
		}
	} else if err := checkFieldPath(rest); err != nil {
		return nil, err
	}
	var parts []string
	if rest != "" {
		parts = strings.Split(rest, ".")
	}
	return p.variable(name, parts)
}

// variable compiles $$name.path: a system variable, a constant or a slot.
func (p *parser) variable(name string, parts []string) (node, error) {
	f := &fieldPath{name: name, parts: parts}
	if v, ok := p.scope.find(name); ok {
		if v.slot < 0 {
			return constant{walkValue(*v.fixed, parts)}, nil
		}
		f.source, f.slot = sourceSlot, int32(v.slot)
		return f, nil
	}
	switch name {
	case "ROOT", "CURRENT":
		f.name = "ROOT"
	case "REMOVE":
		return constant{}, nil
	case "NOW":
		f.source = sourceNow
	case "CLUSTER_TIME":
		if p.scope.isAlone() {
			return nil, ErrAlone
		}
		f.source = sourceClusterTime
	case "USER_ROLES":
		f.source = sourceUserRoles
	case "SEARCH_META":
		f.source = sourceSearchMeta
	default:
		return nil, mongoerr.Newf(17276, "Use of undefined variable: %s", name)
	}
	return f, nil
}

// checkFieldPath checks each component of a dotted path.
func checkFieldPath(path string) error {
	if path == "" {
		return mongoerr.New(40352, "FieldPath cannot be constructed with empty string")
	}
	if strings.HasSuffix(path, ".") {
		return mongoerr.New(40353, "FieldPath must not end with a '.'.")
	}
	if strings.Count(path, ".") >= 200 {
		return mongoerr.New(mongoerr.Overflow, "FieldPath is too long")
	}
	for part := range strings.SplitSeq(path, ".") {
		if err := checkFieldName(part); err != nil {
			return err
		}
	}
	return nil
}

func checkFieldName(name string) error {
	switch {
	case name == "":
		return mongoerr.New(15998, "FieldPath field names may not be empty strings.")
	case name[0] == '$' && name != "$id" && name != "$ref" && name != "$db":
		return mongoerr.New(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.")
	case strings.IndexByte(name, 0) >= 0:
		return mongoerr.New(16411, "FieldPath field names may not contain '\\0'.")
	case strings.IndexByte(name, '.') >= 0:
		return mongoerr.New(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
	}
	return nil
}

// CheckFieldPath checks a path without its leading $, for arguments that are a
// path and not an expression ($unwind, $lookup's as …).
func CheckFieldPath(path string) error { return checkFieldPath(path) }
