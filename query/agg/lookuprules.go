package agg

import "slices"

// The rules of the optimiser that join stages into a $lookup or a $unionWith.

// absorbUnwind joins an $unwind of a $lookup's result into the $lookup.
func absorbUnwind(_ *parser, a, b stage) ([]stage, bool, error) {
	l, ok := a.(*lookupStage)
	u, ok2 := b.(*unwindStage)
	if !ok || !ok2 || l.unwind != nil || u.path != l.as {
		return nil, false, nil
	}
	joined := *l
	joined.unwind = u
	return []stage{&joined}, true, nil
}

// matchIntoLookup moves conditions on the unwound result of a $lookup into
// its sub-pipeline.
func matchIntoLookup(p *parser, a, b stage) ([]stage, bool, error) {
	l, ok := a.(*lookupStage)
	m, ok2 := b.(*matchStage)
	if !ok || !ok2 || l.unwind == nil || l.unwind.preserve || l.unwind.index != "" {
		return nil, false, nil
	}
	moved, kept := splitFilter(m.filter, func(c conjunct) (conjunct, bool) { return c.stripped(l.as) })
	if moved == nil {
		return nil, false, nil
	}
	inner, err := l.p.newMatch(moved)
	if err != nil {
		return nil, false, err
	}
	stages, err := l.p.optimize(append(slices.Clone(l.sub.compiled()), inner))
	if err != nil {
		return nil, false, err
	}
	joined := *l
	joined.sub = l.part(stages)
	return p.withRest([]stage{&joined}, kept)
}

// matchIntoUnion asks both sides of a $unionWith for matching documents only.
func matchIntoUnion(_ *parser, a, b stage) ([]stage, bool, error) {
	u, ok := a.(*unionStage)
	m, ok2 := b.(*matchStage)
	if !ok || !ok2 || m.text || volatile(m) {
		return nil, false, nil
	}
	inner, err := u.p.newMatch(m.filter)
	if err != nil {
		return nil, false, err
	}
	stages, err := u.p.optimize(append(slices.Clone(u.sub.compiled()), inner))
	if err != nil {
		return nil, false, err
	}
	joined := *u
	joined.sub = newPipeline(stages, u.p.Options)
	joined.moved = m.filter
	return []stage{m, &joined}, true, nil
}
