package project

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// parser reads a specification of find or $project.
type parser struct {
	options Options
	root    *node
	after   []step
	kind    kind

	idNamed    bool // "_id" or "_id.x" stands at the top level
	idIncluded bool // {_id: 1}
	idExcluded bool // {_id: 0}
	positional bool
	elemMatch  bool
	slice      bool
	meta       bool
}

// place is the position of an element in the specification.
type place struct {
	node   *node
	prefix string // path to node with a dot at its end, "" at the top
}

// parse reads the whole specification and decides its kind.
func (p *parser) parse(spec value.Doc) error {
	top := place{node: p.root}
	p.root.fields = make([]field, 0, spec.Len()+1)
	for name, v := range spec.All() {
		p.idNamed = p.idNamed || name == "_id" || strings.HasPrefix(name, "_id.")
		if err := p.element(top, name, v); err != nil {
			return err
		}
	}
	if p.kind == undecided {
		p.kind = p.defaultKind()
	}
	if p.kind == inclusion && !p.idNamed {
		p.root.append(field{name: "_id"})
	}
	if p.kind == exclusion && p.idIncluded || p.kind == inclusion && p.idExcluded {
		p.root.remove("_id")
	}
	return nil
}

// defaultKind decides the kind if no field but the _id was included or
// excluded. The rules come from older servers.
func (p *parser) defaultKind() kind {
	switch {
	case p.slice:
		if p.idIncluded {
			return inclusion
		}
		return exclusion
	case p.elemMatch:
		return inclusion
	case p.meta:
		if p.options.Mode == Find && (p.idExcluded || !p.idIncluded) {
			return exclusion
		}
		return inclusion
	case p.idIncluded:
		return inclusion
	}
	return exclusion
}

// element handles one element of the specification by the type of its value.
func (p *parser) element(at place, name string, v value.Value) error {
	positional := strings.HasSuffix(name, ".$")
	if positional && p.options.Mode != Find {
		return mongoerr.New(31324, "Cannot use positional projection in aggregation projection")
	}
	if strings.Contains(name, ".$.") {
		return mongoerr.New(31394, "As of 4.4, it's illegal to specify positional operator in the middle of a path."+
			"Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like"+
			" a.b.$.d, remove the parts following the '$' and the results will be equivalent.")
	}
	switch {
	case v.Kind() == value.KindDocument:
		if positional {
			return mongoerr.New(31271, "positional projection cannot be used with an expression or sub object")
		}
		return p.subObject(at, name, v.Doc())
	case v.IsNumber() || v.Kind() == value.KindBool:
		return p.flag(at, name, v.Truthy(), positional)
	case positional:
		return mongoerr.New(31308, "positional projection cannot be used with a literal")
	}
	return p.literal(at, name, v)
}

// flag handles a field that is switched on or off.
func (p *parser) flag(at place, name string, on, positional bool) error {
	switch {
	case on && positional:
		return p.position(at, name)
	case on:
		return p.include(at, name)
	case positional:
		return mongoerr.New(31395, "positional projection cannot be used with exclusion")
	}
	return p.exclude(at, name)
}

func (at place) isTopID(name string) bool { return at.prefix == "" && name == "_id" }

func (at place) add(path string, f field) error {
	if err := expr.CheckFieldPath(path); err != nil {
		return err
	}
	if err := checkDepth(at.prefix + path); err != nil {
		return err
	}
	return at.node.add(path, f)
}

// checkDepth limits the depth of the tree, because each level of a nested
// specification may name a long path.
func checkDepth(path string) error {
	if strings.Count(path, ".") >= value.MaxDepth {
		return mongoerr.New(mongoerr.Overflow, "FieldPath is too long")
	}
	return nil
}

func (p *parser) include(at place, name string) error {
	if err := at.add(name, field{}); err != nil {
		return err
	}
	if at.isTopID(name) {
		p.idIncluded = true
		return nil
	}
	return p.decideInclusion(name)
}

func (p *parser) decideInclusion(name string) error {
	if p.kind == exclusion {
		return mongoerr.Newf(31253, "Cannot do inclusion on field %s in exclusion projection", name)
	}
	p.kind = inclusion
	return nil
}

func (p *parser) exclude(at place, name string) error {
	if err := at.add(name, field{}); err != nil {
		return err
	}
	if at.isTopID(name) {
		p.idExcluded = true
		return nil
	}
	if p.kind == inclusion {
		return mongoerr.Newf(31254, "Cannot do exclusion on field %s in inclusion projection", name)
	}
	p.kind = exclusion
	return nil
}

// literal adds a field whose value is neither a number, a bool nor a
// document.
func (p *parser) literal(at place, name string, v value.Value) error {
	e, err := expr.Compile(v, p.options.Scope)
	if err != nil {
		return err
	}
	if err := at.add(name, field{expr: e}); err != nil {
		return err
	}
	if p.kind == exclusion {
		return mongoerr.Newf(31310, "Cannot use an expression %s: %s in an exclusion projection", name, v)
	}
	p.kind = inclusion
	return nil
}

// subObject handles {name: {…}}: an expression or one more level.
func (p *parser) subObject(at place, name string, d value.Doc) error {
	if d.IsEmpty() {
		return mongoerr.New(51270, "An empty sub-projection is not a valid value. Found empty object at path")
	}
	if err := expr.CheckFieldPath(name); err != nil {
		return err
	}
	if first, _ := d.First(); strings.HasPrefix(first, "$") && d.Len() == 1 {
		if done, err := p.expression(at, name, first, d); done || err != nil {
			return err
		}
		if expr.CheckFieldPath(strings.TrimSuffix(first, ".$")) != nil {
			return mongoerr.Newf(31325, "Unknown expression %s", first)
		}
	}
	below := place{node: at.node.level(name), prefix: at.prefix + name + "."}
	if below.node == nil {
		below.node = &node{}
		if err := at.add(name, field{child: below.node}); err != nil {
			return err
		}
	}
	for inner, v := range d.All() {
		if err := p.element(below, inner, v); err != nil {
			return err
		}
	}
	return nil
}

// expression handles {name: {$op: …}}. It returns false if there is no such
// operator.
func (p *parser) expression(at place, name, op string, d value.Doc) (bool, error) {
	switch {
	case op == "$elemMatch" && p.options.Mode == Find:
		return true, p.parseElemMatch(at, name, d)
	case op == "$elemMatch":
		return true, mongoerr.New(mongoerr.InvalidPipelineOperator, "Cannot use $elemMatch in this context")
	case op == "$slice" && p.options.Mode == Find:
		return true, p.sliceOrExpression(at, name, d)
	}
	return p.generic(at, name, op, d)
}

// sliceOrExpression reads $slice as find's operator, otherwise as the
// expression of that name. If it is neither, the error contains both messages.
func (p *parser) sliceOrExpression(at place, name string, d value.Doc) error {
	findErr := p.parseSlice(at, name, d.Lookup("$slice"))
	if findErr == nil {
		return nil
	}
	_, err := p.generic(at, name, "$slice", d)
	if err == nil {
		return nil
	}
	e := mongoerr.From(findErr)
	return mongoerr.From(err).WithPrefix(fmt.Sprintf("Invalid $slice syntax. The given syntax %s did not match the find() syntax"+
		" because :: %s: %s :: The given syntax did not match the expression $slice syntax.", d, e.Code.Name(), e.Message))
}

// generic handles an expression under a name that may be a path.
func (p *parser) generic(at place, name, op string, d value.Doc) (bool, error) {
	if !expr.Has(op) {
		return false, nil
	}
	isMeta := op == "$meta"
	if p.kind == exclusion && !isMeta {
		return true, mongoerr.New(31252, "Cannot use expression other than $meta in exclusion projection")
	}
	if !isMeta {
		p.kind = inclusion
	}
	e, err := expr.Compile(value.Document(d), p.options.Scope)
	if err != nil {
		return true, err
	}
	p.meta = p.meta || isMeta
	return true, at.add(name, field{expr: e})
}
