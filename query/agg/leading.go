package agg

import (
	"maps"
	"slices"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Leading is the part at the head of a pipeline that the source may take
// over.
type Leading struct {
	Filter  value.Doc      // nil: everything
	Matcher *match.Matcher // nil: everything
	Near    *Near
	Sort    value.Doc // pattern, nil: none
	Skip    int64     // behind Sort; Limit includes it
	Limit   int64     // 0: none
	Sample  int64     // 0: none
	Fields  []string  // fields that are needed of the documents, sorted; nil: all

	// Distinct is the path by which the documents are grouped, if the first of
	// each group is enough; "" if it is not.
	Distinct string
	Last     bool            // it is the last instead
	Meta     []expr.MetaKind // metadata of the source that the stages ask for

	matches int // stages that Filter stands for
	geo     *geoNearStage
	sortAt  int // position of the $sort, -1: none
}

// Leading finds what the source may take over.
func (p *Pipeline) Leading() Leading {
	l := Leading{sortAt: -1}
	rest := p.stages
	switch s := p.first().(type) {
	case *geoNearStage:
		l.geo, l.Near = s, s.near
		l.Filter, l.Matcher = s.query, s.matcher
	case *matchStage:
		l.Filter, l.Matcher, l.matches = s.filter, s.matcher, 1
		rest = rest[1:]
	}
	if l.geo == nil {
		p.leadingOrder(&l, rest)
	} else if len(rest) > 1 {
		if s, ok := rest[1].(*limitStage); ok {
			l.Limit = s.n
		}
	}
	l.Fields = p.fields()
	if l.geo == nil {
		l.Distinct = l.grouped(rest)
	}
	l.Meta = p.readsOwnMeta()
	return l
}

// readsOwnMeta lists the metadata of the source that the stages ask for: record
// ids and keys of the index.
func (p *Pipeline) readsOwnMeta() (kinds []expr.MetaKind) {
	for _, s := range p.stages {
		r, ok := s.(readsMeta)
		if !ok {
			continue
		}
		for _, k := range r.metadata() {
			if (k == expr.MetaRecordID || k == expr.MetaIndexKey) && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// leadingOrder finds a $sort, $skip, $limit or $sample behind the $match.
func (p *Pipeline) leadingOrder(l *Leading, rest []stage) {
	if len(rest) == 0 {
		return
	}
	switch s := rest[0].(type) {
	case *sortStage:
		if !s.pattern.metaOnly() {
			l.Sort, l.Limit, l.sortAt = s.pattern.doc(), s.limit, l.matches
		}
	case *limitStage:
		l.Limit = s.n
	case *sampleStage:
		l.Sample = s.size
	}
}

// grouped finds a $group that needs but the first document of each group: it
// only tells which groups there are, or takes the first of them, or the last,
// in the order of a sort that begins with what it groups by.
func (l *Leading) grouped(rest []stage) string {
	if l.sortAt >= 0 {
		if rest = rest[1:]; l.Limit > 0 {
			return ""
		}
	}
	if len(rest) == 0 {
		return ""
	}
	g, ok := rest[0].(*groupStage)
	if !ok {
		return ""
	}
	path, ok := g.by.FieldPath()
	if !ok || l.sortAt < 0 && len(g.fields) > 0 {
		return ""
	}
	if first, _ := l.Sort.First(); l.sortAt >= 0 && first != path {
		return ""
	}
	for _, a := range g.fields {
		if a.op != g.fields[0].op || a.op != "$first" && a.op != "$last" {
			return ""
		}
	}
	l.Last = len(g.fields) > 0 && g.fields[0].op == "$last"
	return path
}

// fields lists the fields that the pipeline needs, nil if it needs all.
func (p *Pipeline) fields() []string {
	d, ok := dependencies(p.stages)
	if !ok || d.whole {
		return nil
	}
	fields := slices.Sorted(maps.Keys(d.paths))
	if fields == nil {
		fields = []string{}
	}
	return fields
}

// dependencies collects what stages read; ok is false if whole documents
// come out at the end.
func dependencies(stages []stage) (d deps, ok bool) {
	for _, s := range stages {
		if s.deps(&d) == seesNone {
			return d, true
		}
		if d.whole {
			return d, true
		}
	}
	return d, false
}

// Bind completes the part with what depends on the variables of a run.
func (l *Leading) Bind(env *expr.Env) (err error) {
	if l.geo != nil {
		l.Near, err = l.geo.bind(env)
	}
	return err
}

// request asks for the documents of a collection, of which the source may take
// over l.
func (p *Pipeline) request(l *Leading, db, coll string) Request {
	return Request{
		DB: db, Coll: coll, Filter: l.Filter, Matcher: l.Matcher, Sort: l.Sort, Limit: l.Limit,
		Fields: l.Fields, Distinct: l.Distinct, Last: l.Last, Near: l.Near, Sample: l.Sample, Meta: l.Meta, Collation: p.opts.Collation,
	}
}

// behind is the pipeline to run over a source that was asked for l.
func (p *Pipeline) behind(l Leading, src Source) *Pipeline {
	if src.Backwards {
		return p.RestBackwards(l)
	}
	return p.Rest(l, src.Sorted)
}

// IsFind reports whether the filter, the order and the limit of l are all
// there is: the pipeline is a find.
func (p *Pipeline) IsFind(l Leading) bool {
	if l.geo != nil {
		return false
	}
	rest := p.stages[l.matches:]
	if len(rest) == 0 {
		return true
	}
	_, limited := rest[0].(*limitStage)
	return len(rest) == 1 && (l.sortAt >= 0 || limited)
}

// RestBackwards is Rest for a source that gives the last of each group, and
// more only in the opposite order: there it is the first that counts.
func (p *Pipeline) RestBackwards(l Leading) *Pipeline {
	out := p.Rest(l, true)
	out.stages = append([]stage{out.stages[0].(*groupStage).ofFirst()}, out.stages[1:]...)
	return out
}

// Rest is the pipeline to run over a source that took over the filter of l
// and, if sorted, its order.
func (p *Pipeline) Rest(l Leading, sorted bool) *Pipeline {
	rest := p.stages[l.matches:]
	if sorted && l.sortAt >= 0 {
		s := rest[0].(*sortStage)
		rest = rest[1:]
		if s.limit > 0 {
			rest = append([]stage{&limitStage{n: s.limit}}, rest...)
		}
	}
	return &Pipeline{stages: rest, opts: p.opts, writes: p.writes}
}
