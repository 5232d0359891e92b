package match

import (
	"regexp"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// ElementMatcher tests single values rather than documents: the elements that
// $pull removes and those that an array filter selects.
type ElementMatcher struct {
	root Node
	// name is the first component of all paths, standing for the value
	// itself; unwrapped conditions look at the value's own fields instead.
	name      string
	unwrapped bool
}

// Match reports whether v satisfies the condition.
func (m *ElementMatcher) Match(env *expr.Env, v value.Value) (bool, error) {
	if m.unwrapped {
		if v.Kind() != value.KindDocument {
			return false, nil
		}
		return m.root.match(env, v.Doc(), nil)
	}
	if c, ok := m.root.(*Compare); ok && c.Path.Len() == 1 && v.Kind() != value.KindArray {
		return c.holds(v), nil
	}
	var b value.Builder
	b.Reset(make([]byte, 0, 256))
	return m.root.match(env, b.Append(m.name, v).Doc(), nil)
}

// CompileElement compiles the condition of $pull: {$op: …} and regular
// expressions test the element itself, a document is a filter on elements that
// are documents, any other value is an equality.
func CompileElement(condition value.Value, o Options) (*ElementMatcher, error) {
	condition = condition.Clone()
	p := &parser{o: o}
	switch {
	case condition.Kind() == value.KindDocument && !IsCondition(condition):
		root, err := p.filter(condition.Doc(), false)
		if err != nil {
			return nil, err
		}
		return &ElementMatcher{root: rewritten(root), unwrapped: true}, nil
	case condition.Kind() == value.KindDocument && topOperators[firstName(condition)] != nil:
		root, err := p.filter(condition.Doc(), false)
		if err != nil {
			return nil, err
		}
		return &ElementMatcher{root: rewritten(root), unwrapped: true}, nil
	}
	root, err := p.field(element{"", condition})
	if err != nil {
		return nil, err
	}
	return &ElementMatcher{root: rewritten(root)}, nil
}

var identifier = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// CompileArrayFilter compiles one element of arrayFilters and returns the
// identifier that all of its paths begin with.
func CompileArrayFilter(filter value.Doc, o Options) (name string, m *ElementMatcher, err error) {
	o.NoExpr = true
	p := &parser{o: o}
	root, err := p.filter(filter.Clone(), false)
	if err != nil {
		return "", nil, mongoerr.From(err).WithPrefix("Error parsing array filter")
	}
	name, err = commonIdentifier(root)
	if err != nil {
		return "", nil, mongoerr.From(err).WithPrefix("Error parsing array filter")
	}
	if name == "" {
		return "", nil, mongoerr.New(mongoerr.FailedToParse,
			"Cannot use an expression without a top-level field name in arrayFilters")
	}
	return name, &ElementMatcher{root: rewritten(root), name: name}, nil
}

// commonIdentifier finds the one first component of all paths.
func commonIdentifier(root Node) (name string, err error) {
	var visit func(n Node) error
	visit = func(n Node) error {
		if l, ok := n.(Leaf); ok {
			first := l.FieldPath().Parts()[0]
			switch {
			case name == "":
				name = first
			case name != first:
				return mongoerr.Newf(mongoerr.FailedToParse,
					"Expected a single top-level field name, found '%s' and '%s'", name, first)
			}
			return nil
		}
		for _, c := range n.Children() {
			if err := visit(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(root); err != nil {
		return "", err
	}
	if name != "" && !identifier.MatchString(name) {
		return "", mongoerr.Newf(mongoerr.BadValue,
			"The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '%s'", name)
	}
	return strings.Clone(name), nil
}
