package pipeline

import (
	"maps"
	"slices"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Leading is the first part of a pipeline, which the source may take over.
type Leading struct {
	Filter  value.Doc      // nil: everything
	Matcher *match.Matcher // nil: everything
	Near    *stage.Near
	Sort    value.Doc // pattern, nil: none
	Limit   int64     // 0: none
	Fields  []string  // fields that are needed of the documents, sorted; nil: all

	// Distinct is the path that the documents are grouped by, if the pipeline needs
	// only the first document of each group; else it is "".
	Distinct string
	Last     bool            // asks, with Distinct, for the last document of each group instead
	Meta     []expr.MetaKind // metadata of the source that the stages read

	matches int // number of $match stages that Filter replaces
	geo     *source.GeoNear
	sortAt  int // position of the $sort, -1: none
}

// Leading finds what the source may take over.
func (p *Pipeline) Leading() Leading {
	l := Leading{sortAt: -1}
	rest := p.stages
	switch s := p.first().(type) {
	case *source.GeoNear:
		l.geo, l.Near = s, s.Near
		l.Filter, l.Matcher = s.Query, s.Matcher
	case *flow.Match:
		l.Filter, l.Matcher, l.matches = s.Filter, s.Matcher, 1
		rest = rest[1:]
	}
	if l.geo == nil {
		p.leadingOrder(&l, rest)
	} else if len(rest) > 1 {
		if s, ok := rest[1].(*flow.Limit); ok {
			l.Limit = s.N
		}
	}
	l.Fields = p.fields()
	if l.geo == nil {
		l.Distinct = l.grouped(rest)
	}
	l.Meta = p.readsOwnMeta()
	return l
}

// ownMeta are the kinds of metadata that the source of the documents provides.
var ownMeta = []expr.MetaKind{expr.MetaRecordID, expr.MetaIndexKey, expr.MetaExpiresAt}

// readsOwnMeta returns the metadata of the source that the stages read.
func (p *Pipeline) readsOwnMeta() (kinds []expr.MetaKind) {
	for _, s := range p.stages {
		r, ok := s.(stage.ReadsMeta)
		if !ok {
			continue
		}
		for _, k := range r.Metadata() {
			if slices.Contains(ownMeta, k) && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// leadingOrder finds a $sort or $limit behind the $match.
func (p *Pipeline) leadingOrder(l *Leading, rest []stage.Stage) {
	if len(rest) == 0 {
		return
	}
	switch s := rest[0].(type) {
	case *order.Stage:
		if !s.Pattern.MetaOnly() {
			l.Sort, l.Limit, l.sortAt = s.Pattern.Doc(), s.Limit, l.matches
		}
	case *flow.Limit:
		l.Limit = s.N
	}
}

// grouped finds a $group that needs only one document of each group: it has no
// accumulators, or only $first or only $last, in the order of a sort that begins with
// the field that it groups by.
func (l *Leading) grouped(rest []stage.Stage) string {
	if l.sortAt >= 0 {
		if rest = rest[1:]; l.Limit > 0 {
			return ""
		}
	}
	if len(rest) == 0 {
		return ""
	}
	g, ok := rest[0].(*group.Stage)
	if !ok {
		return ""
	}
	path, ok := g.By.FieldPath()
	if !ok || l.sortAt < 0 && len(g.Fields) > 0 {
		return ""
	}
	if first, _ := l.Sort.First(); l.sortAt >= 0 && first != path {
		return ""
	}
	for _, a := range g.Fields {
		if a.Op != g.Fields[0].Op || a.Op != "$first" && a.Op != "$last" {
			return ""
		}
	}
	l.Last = len(g.Fields) > 0 && g.Fields[0].Op == "$last"
	return path
}

// fields lists the fields that the pipeline needs, nil if it needs all.
func (p *Pipeline) fields() []string {
	d, ok := Dependencies(p.stages)
	if !ok || d.Whole {
		return nil
	}
	fields := slices.Sorted(maps.Keys(d.Paths))
	if fields == nil {
		fields = []string{}
	}
	return fields
}

// Dependencies collects the fields that stages read. ok is false if whole documents are
// the result.
func Dependencies(stages []stage.Stage) (d stage.Deps, ok bool) {
	for _, s := range stages {
		if s.Deps(&d) == stage.SeesNone {
			return d, true
		}
		if d.Whole {
			return d, true
		}
	}
	return d, false
}

// Bind sets the fields that depend on the variables of a run.
func (l *Leading) Bind(env *expr.Env) (err error) {
	if l.geo != nil {
		l.Near, err = l.geo.Bind(env)
	}
	return err
}

// Request returns the request for the documents of a collection. The source may take
// over l.
func (p *Pipeline) Request(l *Leading, db, coll string) stage.Request {
	return stage.Request{
		DB: db, Coll: coll, Filter: l.Filter, Matcher: l.Matcher, Sort: l.Sort, Limit: l.Limit,
		Fields: l.Fields, Distinct: l.Distinct, Last: l.Last, Near: l.Near, Meta: l.Meta, Collation: p.opts.Collation,
	}
}

// behind returns the pipeline to run on the documents of a source that was opened with l.
func (p *Pipeline) behind(l Leading, src stage.Source) *Pipeline {
	if src.Backwards {
		return p.RestBackwards(l)
	}
	return p.Rest(l, src.Sorted)
}

// IsFind reports whether the pipeline does nothing but the filter, sort, skip and limit
// of l, as a find does.
func (p *Pipeline) IsFind(l Leading) bool {
	if l.geo != nil {
		return false
	}
	rest := p.stages[l.matches:]
	if len(rest) == 0 {
		return true
	}
	_, limited := rest[0].(*flow.Limit)
	return len(rest) == 1 && (l.sortAt >= 0 || limited)
}

// RestBackwards is Rest for a source in the opposite order of the sort, which returns
// the last documents first: $last becomes $first.
func (p *Pipeline) RestBackwards(l Leading) *Pipeline {
	out := p.Rest(l, true)
	out.stages = append([]stage.Stage{out.stages[0].(*group.Stage).OfFirst()}, out.stages[1:]...)
	return out
}

// Rest returns the pipeline to run on the documents of a source that took over the
// filter of l and, if sorted is set, its order.
func (p *Pipeline) Rest(l Leading, sorted bool) *Pipeline {
	rest := p.stages[l.matches:]
	if sorted && l.sortAt >= 0 {
		s := rest[0].(*order.Stage)
		rest = rest[1:]
		if s.Limit > 0 {
			rest = append([]stage.Stage{&flow.Limit{N: s.Limit}}, rest...)
		}
	}
	return &Pipeline{stages: rest, opts: p.opts, writes: p.writes}
}
