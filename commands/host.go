package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
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
	if r.RecordID {
		q.meta = []expr.MetaKind{expr.MetaRecordID}
	}
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

// openViewPipeline reads a view, or a time series, through a filter.
func (c *Call) openViewPipeline(x *execution, ns storage.Namespace, filter, collationSpec value.Doc, more ...value.Value) (agg.Iterator, error) {
	var stages []value.Value
	if filter != nil && !filter.IsEmpty() {
		stages = append(stages, value.Document(value.NewDoc("$match", value.Document(filter))))
	}
	stages = append(stages, more...)
	info, err := c.lookup(ns)
	if err != nil {
		return nil, err
	}
	collator, err := operationCollation(collationSpec, metaOf(info))
	if err != nil {
		return nil, err
	}
	if err := checkViewCollation(ns, info, collator); err != nil {
		return nil, err
	}
	x.env.Collation = collator
	p, err := agg.Compile(value.NewArray(stages...).Doc(), agg.Options{DB: ns.DB, Coll: ns.Coll, Collation: collator, Scope: x.scope, Text: c.textIndex})
	if err != nil {
		return nil, err
	}
	e := x.aggExec(x.disk)
	e.Host = &host{x: x, c: c, main: e, hint: x.hint}
	return p.Open(e)
}

// findOnView answers a find on a view by the pipeline that says the same.
func (c *Call) findOnView(ns storage.Namespace, info *storage.Info, a *findArgs) (*finder, error) {
	if err := a.checkOnView(); err != nil {
		return nil, err
	}
	f := &finder{exec: newExecution(c)}
	f.exec.hint, f.exec.disk = a.Hint, a.AllowDiskUse
	var err error
	if f.exec.scope, err = f.exec.letScope(a.Let); err != nil {
		return nil, err
	}
	if a.Sort != nil {
		if _, natural := isNatural(a.Sort); natural {
			return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Sort option $natural not supported in aggregation.")
		}
	}
	f.it, err = c.openViewPipeline(f.exec, ns, a.Filter, a.Collation, a.stages()...)
	return f, err
}

// stages are those of a pipeline that does what the find does behind its
// filter.
func (a *findArgs) stages() (stages []value.Value) {
	add := func(name string, v value.Value) {
		stages = append(stages, value.Document(value.NewDoc(name, v)))
	}
	if a.Sort != nil && !a.Sort.IsEmpty() {
		add("$sort", value.Document(a.Sort))
	}
	if a.Skip > 0 {
		add("$skip", value.Int64(a.Skip))
	}
	if a.Limit > 0 {
		add("$limit", value.Int64(a.Limit))
	}
	if a.Projection != nil && !a.Projection.IsEmpty() {
		add("$project", value.Document(a.Projection))
	}
	return stages
}

// checkOnView refuses the options of find that a pipeline cannot have.
func (a *findArgs) checkOnView() error {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"min", a.Min != nil}, {"max", a.Max != nil}, {"returnKey", bool(a.ReturnKey)},
		{"showRecordId", bool(a.ShowRecordID)}, {"tailable", bool(a.Tailable)}, {"awaitData", bool(a.AwaitData)},
	} {
		if o.given {
			return mongoerr.Newf(mongoerr.InvalidPipelineOperator, "Option %s not supported in aggregation.", o.name)
		}
	}
	return nil
}

func (c *Call) countView(ns storage.Namespace, a *countArgs, limit int64) (int64, error) {
	var stages []value.Value
	if a.Skip > 0 {
		stages = append(stages, value.Document(value.NewDoc("$skip", value.Int64(a.Skip))))
	}
	if limit > 0 {
		stages = append(stages, value.Document(value.NewDoc("$limit", value.Int64(limit))))
	}
	stages = append(stages, value.Document(value.NewDoc("$count", value.String("n"))))
	x := newExecution(c)
	x.hint = a.Hint
	it, err := c.openViewPipeline(x, ns, a.Query, a.Collation, stages...)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	d, err := it.Next()
	if err != nil || d == nil {
		return 0, err
	}
	return d.Lookup("n").TruncInt64(), nil
}
