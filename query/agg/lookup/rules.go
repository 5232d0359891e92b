package lookup

import (
	"slices"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// The rules of the optimiser that join stages into a $lookup or a $unionWith.

// AbsorbUnwind joins an $unwind of a $lookup's result into the $lookup.
func AbsorbUnwind(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	l, ok := a.(*lookupStage)
	u, ok2 := b.(*flow.Unwind)
	if !ok || !ok2 || l.unwind != nil || u.Path != l.as {
		return nil, false, nil
	}
	joined := *l
	joined.unwind = u
	return []stage.Stage{&joined}, true, nil
}

// MatchIntoLookup moves conditions on the unwound result of a $lookup into
// its sub-pipeline.
func MatchIntoLookup(p *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	l, ok := a.(*lookupStage)
	m, ok2 := b.(*flow.Match)
	if !ok || !ok2 || l.unwind == nil || l.unwind.Preserve || l.unwind.Index != "" {
		return nil, false, nil
	}
	moved, kept := pipeline.SplitFilter(m.Filter, func(c pipeline.Condition) (pipeline.Condition, bool) { return c.Stripped(l.as) })
	if moved == nil {
		return nil, false, nil
	}
	inner, err := flow.NewMatch(l.p, moved)
	if err != nil {
		return nil, false, err
	}
	stages, err := pipeline.Optimize(l.p, append(slices.Clone(l.sub.Stages()), inner))
	if err != nil {
		return nil, false, err
	}
	joined := *l
	joined.sub = l.part(stages)
	return pipeline.WithRest(p, []stage.Stage{&joined}, kept)
}

// MatchIntoUnion moves a $match into both sides of a $unionWith.
func MatchIntoUnion(_ *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	u, ok := a.(*unionStage)
	m, ok2 := b.(*flow.Match)
	if !ok || !ok2 || m.Text || volatile(m) {
		return nil, false, nil
	}
	inner, err := flow.NewMatch(u.p, m.Filter)
	if err != nil {
		return nil, false, err
	}
	stages, err := pipeline.Optimize(u.p, append(slices.Clone(u.sub.Stages()), inner))
	if err != nil {
		return nil, false, err
	}
	joined := *u
	joined.sub = pipeline.New(stages, &u.p.Options)
	joined.moved = m.Filter
	return []stage.Stage{m, &joined}, true, nil
}
