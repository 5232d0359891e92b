package update

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// arrayFilter is one element of arrayFilters, which selects the elements for
// $[id].
type arrayFilter struct {
	id      string
	matcher *match.ElementMatcher
	used    bool // only while compiling
}

func (f *arrayFilter) match(env *expr.Env, v value.Value) (bool, error) {
	return f.matcher.Match(env, v)
}

// parseFilters compiles arrayFilters, whose identifiers must be distinct.
func (c *compiler) parseFilters(specs []value.Doc) error {
	if len(specs) == 0 {
		return nil
	}
	c.filters = make(map[string]*arrayFilter, len(specs))
	for _, spec := range specs {
		id, m, err := match.CompileArrayFilter(spec, match.Options{Collation: c.u.opts.Collation, NoExpr: true, NoSchema: true})
		if err != nil {
			return err
		}
		if c.filters[id] != nil {
			return mongoerr.Newf(mongoerr.FailedToParse, "Found multiple array filters with the same top-level field name %s", id)
		}
		f := &arrayFilter{id: id, matcher: m}
		c.filters[id] = f
		c.order = append(c.order, f)
	}
	return nil
}

// checkFilter checks a component that may be $[] or $[id], the i-th of its
// path.
func (c *compiler) checkFilter(dotted, part string, i int) error {
	if !isArrayFilter(part) {
		return nil
	}
	if i == 0 {
		return mongoerr.Newf(mongoerr.BadValue,
			"Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '%s'", dotted)
	}
	id := identifier(part)
	if id == "" {
		return nil
	}
	f := c.filters[id]
	if f == nil {
		return mongoerr.Newf(mongoerr.BadValue, "No array filter found for identifier '%s' in path '%s'", id, dotted)
	}
	f.used = true
	return nil
}

func (c *compiler) checkFiltersUsed(spec value.Doc) error {
	for _, f := range c.order {
		if !f.used {
			return mongoerr.Newf(mongoerr.FailedToParse,
				"The array filter for identifier '%s' was not used in the update %s", f.id, spec)
		}
	}
	return nil
}
