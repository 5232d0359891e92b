package pipeline

import (
	"math"
	"slices"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// The optimiser. Each rule looks at a stage and the next one, and either leaves them or
// returns the stages that replace them. A rule swaps or joins stages only if the result
// is the same for every input.

// maxRewrites ends the optimiser if the rules have a mistake that makes it loop.
const maxRewrites = 10000

// Optimize rewrites stages until no rule applies.
func Optimize(p *stage.Parser, stages []stage.Stage) ([]stage.Stage, error) {
	stages, err := joinRuns(p, dropEmptyMatches(slices.Clone(stages)))
	if err != nil {
		return nil, err
	}
	i := 0
	for n := 0; i+1 < len(stages) && n < maxRewrites; n++ {
		out, changed, err := rewritePair(p, stages[i], stages[i+1])
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
	trimUnwinds(stages)
	if p.Within == "" {
		group.FindSlots(stages)
	}
	return stages, p.CheckOptimized(stages)
}

func rewritePair(p *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	for _, rule := range p.Language.Rules {
		out, changed, err := rule(p, a, b)
		if changed || err != nil {
			return out, changed, err
		}
	}
	return nil, false, nil
}

// dropEmptyMatches drops {$match: {}}.
func dropEmptyMatches(stages []stage.Stage) []stage.Stage {
	return slices.DeleteFunc(stages, func(s stage.Stage) bool {
		m, ok := s.(*flow.Match)
		return ok && m.Filter.IsEmpty()
	})
}

// joinRuns joins runs of three and more $match stages at once; joining them one by one would
// compile the filter of the first as many times.
func joinRuns(p *stage.Parser, stages []stage.Stage) ([]stage.Stage, error) {
	for i := 0; i < len(stages); i++ {
		var filters []value.Value
		for _, s := range stages[i:] {
			m, ok := s.(*flow.Match)
			if !ok {
				break
			}
			filters = append(filters, value.Document(m.Filter))
		}
		if len(filters) < 3 {
			continue
		}
		m, err := flow.NewMatch(p, value.NewDoc("$and", value.NewArray(filters...)))
		if err != nil {
			return nil, err
		}
		stages = slices.Replace(stages, i, i+len(filters), stage.Stage(m))
	}
	return stages, nil
}

// trimUnwinds sets which fields the stages behind each $unwind need, so that its documents,
// one for each element, have no others.
func trimUnwinds(stages []stage.Stage) {
	needs := stage.Deps{Whole: true} // of the stages behind
	for i := len(stages) - 1; i >= 0; i-- {
		if u, ok := stages[i].(*flow.Unwind); ok {
			if stages[i] = u.Needing(nil); !needs.Whole {
				stages[i] = u.Needing(&needs)
			}
		}
		var own stage.Deps
		if stages[i].Deps(&own) == stage.SeesNone {
			needs = own
			continue
		}
		needs.Whole = needs.Whole || own.Whole
		for path := range own.Paths {
			needs.Add(path)
		}
	}
}

// JoinMatches joins two $match stages.
func JoinMatches(p *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	x, ok := a.(*flow.Match)
	y, ok2 := b.(*flow.Match)
	if !ok || !ok2 {
		return nil, false, nil
	}
	m, err := flow.NewMatch(p, flow.Both(x.Filter, y.Filter))
	return []stage.Stage{m}, true, err
}

// JoinLimits replaces two $limit stages by the smaller one.
func JoinLimits(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	x, ok := a.(*flow.Limit)
	y, ok2 := b.(*flow.Limit)
	if !ok || !ok2 {
		return nil, false, nil
	}
	return []stage.Stage{&flow.Limit{N: min(x.N, y.N)}}, true, nil
}

// JoinSkips adds two $skip stages up, and drops {$skip: 0}.
func JoinSkips(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	x, ok := a.(*flow.Skip)
	if ok && x.N == 0 {
		return []stage.Stage{b}, true, nil
	}
	y, ok2 := b.(*flow.Skip)
	if !ok || !ok2 || x.N > math.MaxInt64-y.N {
		return nil, false, nil
	}
	return []stage.Stage{&flow.Skip{N: x.N + y.N}}, true, nil
}

// JoinSortLimit joins a $limit into a $sort, which then keeps only that many documents.
func JoinSortLimit(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	s, ok := a.(*order.Stage)
	l, ok2 := b.(*flow.Limit)
	if !ok || !ok2 {
		return nil, false, nil
	}
	n := l.N
	if s.Limit > 0 {
		n = min(n, s.Limit)
	}
	return []stage.Stage{&order.Stage{Pattern: s.Pattern, Limit: n, Collator: s.Collator}}, true, nil
}

// widenSorts sets the limit of a $sort that is followed by $skip and $limit: the sum of
// both.
func widenSorts(stages []stage.Stage) {
	for i := 0; i+2 < len(stages); i++ {
		s, ok := stages[i].(*order.Stage)
		k, ok2 := stages[i+1].(*flow.Skip)
		l, ok3 := stages[i+2].(*flow.Limit)
		if ok && ok2 && ok3 && s.Limit == 0 && k.N <= math.MaxInt64-l.N {
			stages[i] = &order.Stage{Pattern: s.Pattern, Limit: k.N + l.N, Collator: s.Collator}
		}
	}
}

// DropRepeatedSort drops a $sort whose input is sorted already.
func DropRepeatedSort(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	x, ok := a.(*order.Stage)
	y, ok2 := b.(*order.Stage)
	if !ok || !ok2 || y.Limit > 0 || !x.Pattern.Extends(y.Pattern) || x.Collator != y.Collator {
		return nil, false, nil
	}
	return []stage.Stage{x}, true, nil
}

// LimitForward moves $limit and $skip in front of stages that return one document for
// each input document.
func LimitForward(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	switch b.(type) {
	case *flow.Limit, *flow.Skip:
	default:
		return nil, false, nil
	}
	if one, ok := a.(stage.OneForEach); ok && one.OneForEach() {
		return []stage.Stage{b, a}, true, nil
	}
	return nil, false, nil
}
