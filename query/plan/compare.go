package plan

import "cmp"

// comparePlans orders plans of equal cost.
func comparePlans(a, b *Plan) int {
	return cmp.Or(
		cmp.Compare(a.Examined, b.Examined),
		compareBool(b.Sorted, a.Sorted),
		cmp.Compare(b.equalities, a.equalities),
		compareBool(b.Covered, a.Covered),
		cmp.Compare(a.name(), b.name()),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (p *Plan) name() string {
	if p.Index != nil {
		return p.Index.Name
	}
	return ""
}
