package expr

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Expr is a compiled expression. It is immutable and may be shared.
type Expr struct{ root node }

// node is one node of a compiled expression.
type node interface {
	eval(env *Env) (value.Value, error)
	// deps reports the fields, variables and metadata that the node reads.
	deps(d *depSink)
	// serial returns the node as BSON, for explain.
	serial() value.Value
}

// maxDepth keeps a nested expression from exhausting the stack; BSON itself
// nests no deeper than 200 levels.
const maxDepth = 250

// Compile compiles an expression whose variables are those of s (nil: none).
func Compile(v value.Value, s *Scope) (*Expr, error) {
	p := parser{scope: s}
	n, err := p.operand(v)
	switch {
	case err != nil:
		return nil, err
	case p.failed != nil:
		return nil, &FoldError{mongoerr.From(p.failed)}
	}
	return &Expr{n}, nil
}

// FoldError is an error of a constant sub-expression that was evaluated at
// compile time; mongod reports it as "Failed to optimize pipeline".
type FoldError struct{ Err *mongoerr.Error }

// Error returns the message of the error that occurred.
func (e *FoldError) Error() string { return e.Err.Error() }

// Unwrap returns the error that occurred.
func (e *FoldError) Unwrap() error { return e.Err }

// Eval evaluates e on a document. The result may alias the document. Missing
// means no value.
func (e *Expr) Eval(env *Env, root value.Doc) (value.Value, error) {
	env.root, env.held = root, 0
	return e.root.eval(env)
}

// Const returns the value of an expression that depends on nothing.
func (e *Expr) Const() (value.Value, bool) {
	c, ok := e.root.(constant)
	return c.v, ok
}

// FieldPath returns the dotted path if e is a plain "$a.b".
func (e *Expr) FieldPath() (string, bool) {
	if f, ok := e.root.(*fieldPath); ok && f.source == sourceRoot && len(f.parts) > 0 {
		return strings.Join(f.parts, "."), true
	}
	return "", false
}

// Variable returns the slot and the path if e is a plain "$$name.a.b" of a
// user variable.
func (e *Expr) Variable() (slot int, path string, ok bool) {
	if f, ok := e.root.(*fieldPath); ok && f.source == sourceSlot {
		return int(f.slot), strings.Join(f.parts, "."), true
	}
	return 0, "", false
}

// Object returns names and expressions if e is an object literal that is not
// constant; All of its expressions share e's scope.
func (e *Expr) Object() (names []string, exprs []*Expr, ok bool) {
	o, ok := e.root.(*object)
	if !ok {
		return nil, nil, false
	}
	for _, n := range o.values {
		exprs = append(exprs, &Expr{n})
	}
	return o.names, exprs, true
}

// Call returns the operator's name and its arguments if e applies an operator
// whose arguments are given by position.
func (e *Expr) Call() (name string, args []*Expr, ok bool) {
	c, ok := e.root.(*call)
	if !ok || c.op.params != nil {
		return "", nil, false
	}
	for _, n := range c.args {
		args = append(args, &Expr{n})
	}
	return c.op.name, args, true
}

// Value returns e in the form that explain shows.
func (e *Expr) Value() value.Value { return e.root.serial() }

// Deps reports every field path that e reads, and calls whole if it reads the
// whole document ($$ROOT, $$CURRENT).
func (e *Expr) Deps(add func(path string), whole func()) {
	e.root.deps(&depSink{add: add, whole: whole})
}

// Meta lists the metadata that e reads.
func (e *Expr) Meta() (kinds []MetaKind) {
	e.root.deps(&depSink{meta: func(k MetaKind) { kinds = append(kinds, k) }})
	return kinds
}

// Vars lists the slots of the variables of outer scopes that e reads.
func (e *Expr) Vars(add func(slot int)) { e.root.deps(&depSink{slot: add}) }

// Volatile reports whether e may give different results for the same document
// ($rand).
func (e *Expr) Volatile() (found bool) {
	e.root.deps(&depSink{volatile: func() { found = true }})
	return found
}

// Script returns the name of the first operator that runs JavaScript, or "".
func (e *Expr) Script() (name string) {
	e.root.deps(&depSink{script: func(n string) {
		if name == "" {
			name = n
		}
	}})
	return name
}

func (e *Expr) usesDocument() (used bool) {
	mark := func() { used = true }
	e.root.deps(&depSink{add: func(string) { mark() }, whole: mark, meta: func(MetaKind) { mark() }})
	return used
}

// depSink receives the fields, variables and metadata that an expression
// reads. Its functions may be nil.
type depSink struct {
	add      func(path string)
	whole    func()
	meta     func(MetaKind)
	slot     func(int)
	volatile func()
	script   func(name string)
}

// hiding returns d without the slots that an expression binds itself.
func (d *depSink) hiding(slots ...int) *depSink {
	if d.slot == nil {
		return d
	}
	c := *d
	c.slot = func(slot int) {
		if !slices.Contains(slots, slot) {
			d.slot(slot)
		}
	}
	return &c
}
