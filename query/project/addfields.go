package project

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// adder reads a specification of $addFields.
type adder struct {
	options Options
	spec    value.Doc
	root    *node
	claimed map[string]bool   // paths that are computed
	within  map[string]string // paths and their prefixes, with the first computed path that is or is below them
}

// compileAddFields compiles a specification of $addFields: it checks its shape
// first, and then compiles the expressions.
func compileAddFields(spec value.Doc, o Options) (*Projection, error) {
	c := &adder{options: o, spec: spec, root: &node{}}
	for name, v := range spec.All() {
		if err := expr.CheckFieldPath(name); err != nil {
			return nil, err
		}
		if err := c.check(name, v); err != nil {
			return nil, err
		}
	}
	for name, v := range spec.All() {
		if err := c.add(name, v); err != nil {
			return nil, err
		}
	}
	p := &Projection{kind: addition, root: c.root}
	p.seal()
	return p, nil
}

// check validates the shape of an element before anything is compiled.
func (c *adder) check(path string, v value.Value) error {
	d := v.Doc()
	if v.Kind() != value.KindDocument || d.IsEmpty() {
		return c.claim(path)
	}
	for name, inner := range d.All() {
		if strings.HasPrefix(name, "$") {
			if n := d.Len(); n != 1 {
				return mongoerr.Newf(40181, "an expression specification must contain exactly one field, the name of the"+
					" expression. Found %d fields in %s, while parsing object %s", n, d, c.spec)
			}
			return c.claim(path)
		}
		if strings.Contains(name, ".") {
			return mongoerr.Newf(40183, "cannot use dotted field name '%s' in a sub object: %s", name, c.spec)
		}
		if err := expr.CheckFieldPath(name); err != nil {
			return err
		}
		if err := c.check(path+"."+name, inner); err != nil {
			return err
		}
	}
	return nil
}

// claim records a computed path; no other computed path may be equal to it, a
// prefix of it or below it.
func (c *adder) claim(path string) error {
	conflict := func(other string) error {
		return mongoerr.Newf(40176, "specification contains two conflicting paths. Cannot specify both '%s' and '%s': %s", path, other, c.spec)
	}
	if other, ok := c.within[path]; ok { // path itself, or a path below it
		return conflict(other)
	}
	if c.within == nil {
		c.within, c.claimed = map[string]string{}, map[string]bool{}
	}
	for at, char := range path {
		if char == '.' && c.claimed[path[:at]] {
			return conflict(path[:at])
		}
	}
	for at, char := range path {
		if _, known := c.within[path[:at]]; char == '.' && !known {
			c.within[path[:at]] = path
		}
	}
	c.within[path], c.claimed[path] = path, true
	return nil
}

// add compiles the value at a path: an expression, or one more level.
func (c *adder) add(path string, v value.Value) error {
	if first, _ := v.Doc().First(); v.Kind() == value.KindDocument && first != "" && !strings.HasPrefix(first, "$") {
		for name, inner := range v.Doc().All() {
			if err := c.add(path+"."+name, inner); err != nil {
				return err
			}
		}
		return nil
	}
	if err := checkDepth(path); err != nil {
		return err
	}
	e, err := expr.Compile(v, c.options.Scope)
	if err != nil {
		return err
	}
	return c.root.add(path, field{expr: e})
}
