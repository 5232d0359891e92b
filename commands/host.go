package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// host is the world around an aggregation pipeline: it opens collections
// for $lookup and its kin, and writes for $out and $merge.
type host struct {
	x      *execution
	c      *Call
	main   *agg.Exec // of the command's own pipeline, to which the hint belongs
	hint   value.Value
	bypass bool
}

// Resolve implements agg.Host.
func (h *host) Resolve(db, coll string) (agg.Namespace, error) {
	ns := storage.Namespace{DB: db, Coll: coll}
	info, err := h.x.running().lookup(ns)
	if err != nil {
		return agg.Namespace{}, err
	}
	out := agg.Namespace{DB: db, Coll: coll}
	m := metaOf(info)
	if m.collation != nil {
		out.Collator = m.collation
	}
	switch m.kind {
	case view:
		out.Coll, out.Pipeline = m.viewOn, m.pipeline
		if out.Pipeline == nil {
			out.Pipeline = value.NewArray().Doc()
		}
	}
	return out, nil
}

// Open implements agg.Host.
func (h *host) Open(x *agg.Exec, r agg.Request) (agg.Source, error) {
	info, err := h.x.running().lookup(storage.Namespace{DB: r.DB, Coll: r.Coll})
	if err != nil {
		return agg.Source{}, err
	}
	if info == nil && r.Near != nil {
		return agg.Source{}, mongoerr.Newf(mongoerr.NamespaceNotFound, "$geoNear requires a geo index to run, but %s.%s does not exist", r.DB, r.Coll)
	}
	if info == nil {
		return agg.Source{Iterator: emptyDocs{}, Sorted: true}, nil
	}
	if err := h.x.running().noteRead(info); err != nil {
		return agg.Source{}, err
	}
	q := &readQuery{filter: r.Filter, matcher: r.Matcher, sort: r.Sort, limit: r.Limit, fields: r.Fields, distinct: r.Distinct, last: r.Last, grouped: true, hint: r.Hint, collator: r.Collation}
	if x == h.main {
		q.hint = h.hint
	}
	q.meta = r.Meta
	if q.matcher == nil {
		if q.matcher, err = match.Compile(q.filter, match.Options{Collation: q.collator}); err != nil {
			return agg.Source{}, err
		}
	}
	if metaOf(info).text == nil && hasText(q.matcher.Root()) {
		return agg.Source{}, mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
	}
	if err := q.checkCombination(); err != nil {
		return agg.Source{}, err
	}
	sub := h.x.sub(x.Env)
	if r.Near != nil {
		return h.c.openNear(sub, info, q, r.Near)
	}
	if metaOf(info).kind == timeSeries {
		it, err := h.c.openMeasurements(sub, info, q)
		return agg.Source{Iterator: it}, err
	}
	plan, err := h.x.running().access(sub, info, q)
	if err != nil {
		return agg.Source{}, err
	}
	h.x.plans = append(h.x.plans, plan)
	it, err := plan.documents(sub, info, q)
	return agg.Source{Iterator: it, Sorted: plan.sorted, Backwards: plan.backwards}, err
}

// Special implements agg.Host.
func (h *host) Special(x *agg.Exec, s agg.Special) (agg.Iterator, error) {
	open := specialSources[s.Stage]
	if open == nil {
		return nil, mongoerr.Newf(mongoerr.CommandNotSupported, "%s is not supported", s.Stage)
	}
	return open(h, x, s)
}
