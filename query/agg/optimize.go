package agg

import (
	"math"
	"slices"
)

// The optimiser. Each rule looks at a stage and the one behind it and
// either leaves them or returns what takes their place. Rules only swap or
// join stages where the result is the same for every input.

// maxRewrites keeps a mistake in the rules from looping for ever.
const maxRewrites = 10000

// optimize rewrites stages until no rule applies.
func (p *parser) optimize(stages []stage) ([]stage, error) {
	stages = dropEmptyMatches(slices.Clone(stages))
	i := 0
	for n := 0; i+1 < len(stages) && n < maxRewrites; n++ {
		out, changed, err := p.rewritePair(stages[i], stages[i+1])
		if err != nil {
			return nil, err
		}
		if !changed {
			i++
			continue
		}
		stages = slices.Replace(stages, i, i+2, out...)
		i = max(i-1, 0)
	}
	widenSorts(stages)
	if p.within == "" {
		findSlots(stages)
	}
	return stages, nil
}

func (p *parser) rewritePair(a, b stage) ([]stage, bool, error) {
	for _, rule := range p.language.rules {
		out, changed, err := rule(p, a, b)
		if changed || err != nil {
			return out, changed, err
		}
	}
	return nil, false, nil
}

// dropEmptyMatches drops {$match: {}}.
func dropEmptyMatches(stages []stage) []stage {
	return slices.DeleteFunc(stages, func(s stage) bool {
		m, ok := s.(*matchStage)
		return ok && m.filter.IsEmpty()
	})
}

// joinMatches makes two $match one.
func joinMatches(p *parser, a, b stage) ([]stage, bool, error) {
	x, ok := a.(*matchStage)
	y, ok2 := b.(*matchStage)
	if !ok || !ok2 {
		return nil, false, nil
	}
	m, err := p.newMatch(both(x.filter, y.filter))
	return []stage{m}, true, err
}

// joinLimits keeps the smaller of two $limit.
func joinLimits(_ *parser, a, b stage) ([]stage, bool, error) {
	x, ok := a.(*limitStage)
	y, ok2 := b.(*limitStage)
	if !ok || !ok2 {
		return nil, false, nil
	}
	return []stage{&limitStage{n: min(x.n, y.n)}}, true, nil
}

// joinSkips adds two $skip, and drops one of nothing.
func joinSkips(_ *parser, a, b stage) ([]stage, bool, error) {
	x, ok := a.(*skipStage)
	if ok && x.n == 0 {
		return []stage{b}, true, nil
	}
	y, ok2 := b.(*skipStage)
	if !ok || !ok2 || x.n > math.MaxInt64-y.n {
		return nil, false, nil
	}
	return []stage{&skipStage{n: x.n + y.n}}, true, nil
}

// joinSortLimit makes a $sort keep only as many documents as are wanted.
func joinSortLimit(_ *parser, a, b stage) ([]stage, bool, error) {
	s, ok := a.(*sortStage)
	l, ok2 := b.(*limitStage)
	if !ok || !ok2 {
		return nil, false, nil
	}
	n := l.n
	if s.limit > 0 {
		n = min(n, s.limit)
	}
	return []stage{&sortStage{pattern: s.pattern, limit: n, collator: s.collator}}, true, nil
}

// widenSorts tells a $sort in front of $skip and $limit how many documents
// these need.
func widenSorts(stages []stage) {
	for i := 0; i+2 < len(stages); i++ {
		s, ok := stages[i].(*sortStage)
		k, ok2 := stages[i+1].(*skipStage)
		l, ok3 := stages[i+2].(*limitStage)
		if ok && ok2 && ok3 && s.limit == 0 && k.n <= math.MaxInt64-l.n {
			stages[i] = &sortStage{pattern: s.pattern, limit: k.n + l.n, collator: s.collator}
		}
	}
}

// dropRepeatedSort drops a $sort that finds its input sorted.
func dropRepeatedSort(_ *parser, a, b stage) ([]stage, bool, error) {
	x, ok := a.(*sortStage)
	y, ok2 := b.(*sortStage)
	if !ok || !ok2 || y.limit > 0 || !x.pattern.extends(y.pattern) || x.collator != y.collator {
		return nil, false, nil
	}
	return []stage{x}, true, nil
}

// limitForward moves $limit and $skip in front of stages that give one
// document for each.
func limitForward(_ *parser, a, b stage) ([]stage, bool, error) {
	switch b.(type) {
	case *limitStage, *skipStage:
	default:
		return nil, false, nil
	}
	if one, ok := a.(oneForEach); ok && one.oneForEach() {
		return []stage{b, a}, true, nil
	}
	return nil, false, nil
}
