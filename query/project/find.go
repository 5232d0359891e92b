package project

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// step is a second step of find on the result of the tree: $slice, or the
// positional operator.
type step struct {
	path        []string
	positional  bool
	skip, limit int64
	hasSkip     bool
}

// position handles {"a.b.$": 1}.
func (p *parser) position(at place, name string) error {
	switch {
	case p.positional:
		return mongoerr.New(31276, "Cannot specify more than one positional projection per query.")
	case p.elemMatch:
		return mongoerr.New(31256, "Cannot specify positional operator and $elemMatch.")
	case p.options.Matcher == nil:
		return mongoerr.New(51050, "Projections with a positional operator require a matcher")
	case name == ".$":
		return mongoerr.Newf(5392900, "Projection on field %s is invalid", name)
	}
	if err := expr.CheckFieldPath(strings.TrimSuffix(name, ".$")); err != nil {
		return err
	}
	// Special features of the query, such as $text and $expr, cannot be used with
	// a position.
	_, err := match.Compile(p.options.Matcher.Filter(), match.Options{NoExpr: true, NoSchema: true})
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(name, ".$")
	if err := at.add(path, field{}); err != nil {
		return err
	}
	p.positional = true
	p.after = append(p.after, step{path: strings.Split(at.prefix+path, "."), positional: true})
	return p.decideInclusion(name)
}

// parseElemMatch handles {name: {$elemMatch: {…}}}.
func (p *parser) parseElemMatch(at place, name string, d value.Doc) error {
	condition := d.Lookup("$elemMatch")
	switch {
	case condition.Kind() != value.KindDocument:
		return mongoerr.Newf(31274, "elemMatch: Invalid argument, object required, but got %s", condition.Kind())
	case p.positional:
		return mongoerr.New(31255, "Cannot specify positional operator and $elemMatch.")
	case at.prefix != "" || strings.Contains(name, "."):
		return mongoerr.New(31275, "Cannot use $elemMatch projection on a nested field.")
	}
	m, err := match.Compile(value.NewDoc(name, value.Document(d)), match.Options{
		Collation: p.options.Collation, Scope: p.options.Scope, NoExpr: true, NoSchema: true,
	})
	if err != nil {
		return err
	}
	p.elemMatch = true
	return at.add(name, field{elem: m})
}

// parseSlice handles {name: {$slice: n}} and {name: {$slice: [skip, limit]}}.
func (p *parser) parseSlice(at place, name string, v value.Value) error {
	s := step{path: strings.Split(at.prefix+name, ".")}
	switch {
	case v.IsNumber():
		s.limit = clampInt32(v)
	case v.Kind() == value.KindArray:
		if err := s.parsePair(v.Doc()); err != nil {
			return err
		}
	default:
		return mongoerr.New(31273, "$slice only supports numbers and [skip, limit] arrays")
	}
	if err := at.add(name, field{later: true}); err != nil {
		return err
	}
	p.slice = true
	p.after = append(p.after, s)
	return nil
}

// parsePair reads [skip, limit] of $slice.
func (s *step) parsePair(pair value.Doc) error {
	if pair.Len() != 2 {
		return mongoerr.New(31272, "$slice array argument should be of form [skip, limit]")
	}
	skip, limit := pair.Index(0), pair.Index(1)
	switch {
	case !skip.IsNumber():
		return mongoerr.Newf(31257, "$slice expects the skip argument to be a number, got %s", skip.Kind())
	case !limit.IsNumber():
		return mongoerr.Newf(31258, "$slice expects the limit argument to be a number, got %s", limit.Kind())
	}
	s.hasSkip, s.skip, s.limit = true, clampInt32(skip), clampInt32(limit)
	if s.limit <= 0 {
		return mongoerr.Newf(31259, "$slice limit must be positive, got %d", s.limit)
	}
	return nil
}

func clampInt32(v value.Value) int64 {
	return min(max(v.SafeInt64(), math.MinInt32), math.MaxInt32)
}

// finish runs the steps on the result of the tree.
func (p *Projection) finish(env *expr.Env, before, d value.Doc) (value.Doc, error) {
	for i := range p.after {
		s := &p.after[i]
		a := applier{env: env, dst: make([]byte, 0, len(d))}
		if !s.positional {
			d = a.sliceDocument(s, s.path, d)
			continue
		}
		_, position, err := p.matcher.MatchWithPosition(env, before)
		if err != nil {
			return nil, err
		}
		if d, err = a.atPosition(s.path, d, position); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// sliceDocument copies d with the arrays at path sliced.
func (a *applier) sliceDocument(s *step, path []string, d value.Doc) value.Doc {
	start := a.open()
	it := d.Iter()
	for it.Next() {
		if it.Key() != path[0] {
			a.dst = append(a.dst, it.Element()...)
			continue
		}
		a.sliceField(s, path[1:], &it)
	}
	a.close(start)
	return value.Doc(a.dst[start:])
}

// sliceField writes a field with the arrays below it sliced.
func (a *applier) sliceField(s *step, rest []string, it *value.Iter) {
	v := it.Value()
	switch {
	case v.Kind() == value.KindArray && len(rest) == 0:
		a.head(value.KindArray, it.Key())
		a.sliceArray(s, v.Doc())
	case v.Kind() == value.KindArray:
		a.head(value.KindArray, it.Key())
		start := a.open()
		e := v.Doc().Iter()
		for e.Next() {
			if e.Kind() != value.KindDocument {
				a.dst = append(a.dst, e.Element()...)
				continue
			}
			a.head(value.KindDocument, e.Key())
			a.sliceDocument(s, rest, e.Value().Doc())
		}
		a.close(start)
	case v.Kind() == value.KindDocument && len(rest) > 0:
		a.head(value.KindDocument, it.Key())
		a.sliceDocument(s, rest, v.Doc())
	default:
		a.dst = append(a.dst, it.Element()...)
	}
}

func (a *applier) sliceArray(s *step, arr value.Doc) {
	from, to := s.bounds(int64(arr.Len()))
	start := a.open()
	i, n := int64(0), 0
	it := arr.Iter()
	for ; it.Next() && i < to; i++ {
		if i >= from {
			a.indexed(n, it.Value())
			n++
		}
	}
	a.close(start)
}

// bounds returns the first position to keep and the first one after the slice.
func (s *step) bounds(n int64) (from, to int64) {
	switch {
	case !s.hasSkip && s.limit < 0:
		return max(0, n+s.limit), n
	case !s.hasSkip:
		return 0, min(n, s.limit)
	case s.skip < 0:
		from = max(0, n+s.skip)
	default:
		from = min(n, s.skip)
	}
	return from, min(n, from+s.limit)
}

// atPosition copies d with the first array on the path reduced to the element
// that the query matched.
func (a *applier) atPosition(path []string, d value.Doc, position int) (value.Doc, error) {
	start := a.open()
	it := d.Iter()
	for it.Next() {
		v := it.Value()
		switch {
		case it.Key() != path[0]:
			a.dst = append(a.dst, it.Element()...)
		case v.Kind() == value.KindArray:
			if position < 0 {
				return nil, mongoerr.New(51246, "positional operator '.$' couldn't find a matching element in the array")
			}
			one := v.Doc().Index(position)
			if one.IsMissing() {
				return nil, mongoerr.New(51247, "positional operator '.$' element mismatch")
			}
			a.head(value.KindArray, it.Key())
			inner := a.open()
			a.indexed(0, one)
			a.close(inner)
		case v.Kind() == value.KindDocument && len(path) > 1:
			a.head(value.KindDocument, it.Key())
			if _, err := a.atPosition(path[1:], v.Doc(), position); err != nil {
				return nil, err
			}
		default:
			a.dst = append(a.dst, it.Element()...)
		}
	}
	a.close(start)
	return value.Doc(a.dst[start:]), nil
}
