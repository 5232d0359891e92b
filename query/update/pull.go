package update

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// pop is $pop.
type pop struct {
	culler
	front bool
}

func compilePop(_ *compiler, path string, v value.Value) (modifier, error) {
	n, err := parseInteger(path, v)
	if err != nil {
		return nil, err
	}
	if n != 1 && n != -1 {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "$pop expects 1 or -1, found: %d", n)
	}
	return &pop{front: n < 0}, nil
}

// update removes the first or the last element.
func (m *pop) update(a *applier, e element) (outcome, error) {
	if e.kind() != value.KindArray {
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "Path '%s' contains an element of non-array type '%s'",
			strings.Join(a.path, "."), e.kind())
	}
	old := e.value.Doc()
	if old.IsEmpty() {
		return unchanged, nil
	}
	if m.front {
		_, err := a.keep(e, func(i int, _ value.Value) (bool, error) { return i > 0, nil })
		return replaced, err
	}
	last := old.Len() - 1
	_, err := a.keep(e, func(i int, _ value.Value) (bool, error) { return i < last, nil })
	return replaced, err
}

// keep writes the array e with only those elements for which want is true. It
// returns the number of removed elements.
func (a *applier) keep(e element, want func(i int, v value.Value) (bool, error)) (gone int, err error) {
	start := a.open(value.KindArray, e.key)
	i, kept := 0, 0
	it := e.value.Doc().Iter()
	for ; it.Next(); i++ {
		if err := a.tick(0); err != nil {
			return 0, err
		}
		ok, err := want(i, it.Value())
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		if kept == i {
			a.dst = append(a.dst, it.Element()...)
		} else {
			a.dst = append(a.dst, byte(it.Kind()))
			a.dst = append(value.AppendIndex(a.dst, kept), 0)
			a.dst = append(a.dst, it.Element()[len(it.Key())+2:]...)
		}
		kept++
	}
	a.close(start)
	return i - kept, nil
}

// pull is $pull and $pullAll.
type pull struct {
	culler
	set       valueSet              // elements equal to one of these are removed
	condition *match.ElementMatcher // condition of the elements to remove
}

func compilePull(c *compiler, _ string, v value.Value) (modifier, error) {
	if v.Kind() != value.KindDocument && v.Kind() != value.KindRegex {
		return &pull{set: newValueSet([]value.Value{v}, c.u.opts.Collation)}, nil
	}
	m, err := match.CompileElement(v, match.Options{Collation: c.u.opts.Collation, NoExpr: true, NoSchema: true})
	if err != nil {
		return nil, err
	}
	return &pull{condition: m}, nil
}

func compilePullAll(c *compiler, _ string, v value.Value) (modifier, error) {
	if v.Kind() != value.KindArray {
		return nil, mongoerr.Newf(mongoerr.BadValue, "$pullAll requires an array argument but was given a %s", v.Kind())
	}
	return &pull{set: newValueSet(valuesOf(v.Doc()), c.u.opts.Collation)}, nil
}

// update removes the matching elements.
func (m *pull) update(a *applier, e element) (outcome, error) {
	if e.kind() != value.KindArray {
		return 0, mongoerr.New(mongoerr.BadValue, "Cannot apply $pull to a non-array value")
	}
	before := len(a.dst)
	gone, err := a.keep(e, func(_ int, v value.Value) (bool, error) {
		if m.condition != nil {
			hit, err := m.condition.Match(a.env, v)
			return !hit, err
		}
		return m.set.find(v) < 0, nil
	})
	if err != nil || gone > 0 {
		return replaced, err
	}
	a.dst = a.dst[:before]
	return unchanged, nil
}
