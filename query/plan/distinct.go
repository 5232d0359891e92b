package plan

import "slices"

// Distinct returns a plan, among those considered, that finds the distinct
// values at a path by skipping from one value to the next; nil if no plan can.
// Its entries must be exactly those of the matching records. With elements,
// the elements of arrays are the values, and nothing else of the records is
// needed. Otherwise the first record of each value may be needed.
func Distinct(q *Query, coll *Collection, chosen *Plan, path string, elements bool) *Plan {
	if q.Collation != nil || !q.Min.IsEmpty() || !q.Max.IsEmpty() {
		return nil
	}
	if chosen.Type == CollScan && chosen.Exact && q.Hint.IsZero() && q.Sort.IsEmpty() {
		return distinctWhole(q, coll, path, elements)
	}
	for _, p := range append([]*Plan{chosen}, chosen.Rejected...) {
		if i := p.distinctField(path); i >= 0 && p.Exact && (p.Sorted || q.Sort.IsEmpty()) {
			return p.distinct(q, i, elements)
		}
	}
	return nil
}

// suffices reports whether the plan's keys contain everything that is needed
// of the first entry of each value.
func (p *Plan) suffices(q *Query, path string, elements bool) bool {
	return q.Fields != nil && !slices.ContainsFunc(q.Fields, func(need string) bool { return !p.Index.tells(need) && (!elements || need != path) })
}

// distinctWhole scans the index with the fewest fields of those that begin
// with the path. Where a missing field is a value too, it must have an entry.
func distinctWhole(q *Query, coll *Collection, path string, elements bool) (best *Plan) {
	for _, x := range coll.Indexes {
		if x.Hidden || x.Partial != nil || x.Sparse && (!elements || len(x.Fields) > 1) || x.Fields[0].Path != path {
			continue
		}
		p := &Plan{Type: IndexScan, Index: x, Ranges: RangesOf(Range{}), Whole: true, Exact: true}
		for range x.Fields {
			p.Bounds = append(p.Bounds, all)
		}
		if p.distinctField(path) < 0 || best != nil && len(best.Index.Fields) <= len(x.Fields) {
			continue
		}
		best = p.distinct(q, 0, elements)
	}
	return best
}

// distinctField finds the field of the plan's index that contains all values
// at a path; -1 if there is no such field.
func (p *Plan) distinctField(path string) int {
	if p.Type != IndexScan || !readable(p.Index) || positional(path) {
		return -1
	}
	for i := range p.Index.Fields {
		f := &p.Index.Fields[i]
		if f.Path != path {
			continue
		}
		n := components(path)
		if p.Index.deepest(i, n-1) > 0 || p.Index.Multikey&Elsewhere != 0 {
			return -1
		}
		// If the values are arrays, all their elements are needed, also those
		// outside of the bounds.
		if p.Index.arrays(i) && !p.Bounds[i].isAll() {
			return -1
		}
		return i
	}
	return -1
}

func (p *Plan) distinct(q *Query, field int, elements bool) *Plan {
	out := *p
	out.Rejected, out.Filtered = nil, false
	out.Skip = field + 1
	path := p.Index.Fields[field].Path
	out.Covered = p.suffices(q, path, elements)
	if elements && !out.Covered || !elements && !p.Index.tells(path) { // arrays are values as a whole
		return nil
	}
	return &out
}
