package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// explainAggregateCommand explains {aggregate: …}.
func explainAggregateCommand(c *Call, body value.Doc, verbosity string) error {
	var a aggregateArgs
	if err := aggregateSpec.decode(body, &a); err != nil {
		return err
	}
	c.Body = body
	return c.explainAggregate(&a, verbosity)
}

// explainAggregate writes {stages: [{$cursor: …}, …]}.
func (c *Call) explainAggregate(a *aggregateArgs, verbosity string) error {
	r, err := c.compileAggregate(a)
	if err != nil {
		return err
	}
	return c.explainCompiled(r, a.Hint, verbosity)
}

// explainCompiled explains a pipeline.
func (c *Call) explainCompiled(r *aggregation, hint value.Value, verbosity string) error {
	if r.pipeline.Writes() && verbosity != "queryPlanner" {
		return mongoerr.New(51029, "explain of a pipeline with $out or $merge is only supported with verbosity queryPlanner")
	}
	r.agg.NowMillis = c.svc.real.NowMillis
	c.reply.String("explainVersion", "1")
	if r.pipeline.IsSource() {
		return c.appendStages(r, nil, r.pipeline, verbosity)
	}
	p, under, err := r.pipeline.Resolved(r.agg)
	if err != nil {
		return err
	}
	r.pipeline, r.ns = p, storage.Namespace{DB: under.DB, Coll: under.Coll}
	info, err := c.lookup(r.ns)
	if err != nil {
		return err
	}
	l := r.pipeline.Leading()
	if r.pipeline.IsSource() || l.Near != nil {
		return c.appendStages(r, nil, r.pipeline, verbosity)
	}
	if metaOf(info).kind == timeSeries {
		return c.explainSeries(r, info, &l, hint, verbosity)
	}
	e := &explained{c: c, ns: r.ns, info: info, exec: r.exec, verbosity: verbosity}
	e.query = &readQuery{filter: l.Filter, matcher: l.Matcher, sort: l.Sort, limit: l.Limit, fields: l.Fields, distinct: l.Distinct, last: l.Last, grouped: true, hint: hint, collator: r.exec.env.Collation}
	if e.query.matcher == nil {
		if e.query.matcher, err = match.Compile(l.Filter, match.Options{Collation: e.query.collator}); err != nil {
			return err
		}
	}
	if err := e.query.checkCombination(); err != nil {
		return err
	}
	e.shape = plan.Shape{
		Filter: e.query.matcher.Parsed(), Namespace: r.ns.String(), Sort: l.Sort,
		SortMemory: c.svc.params.int("internalQueryMaxBlockingSortMemoryUsageBytes"),
	}
	if r.pipeline.IsFind(l) { // all of it is left to the source
		e.shape.Limit, e.exec.explained = l.Limit, true
		return e.appendPlan(c.Body)
	}
	e.take = l.Limit
	rest := r.pipeline.Rest(l, true)
	if info != nil {
		if e.access, err = c.access(e.exec, info, e.query); err != nil {
			return err
		}
		switch {
		case e.access.backwards:
			rest = r.pipeline.RestBackwards(l)
		case !e.access.sorted:
			e.shape.Sort, rest = nil, r.pipeline.Rest(l, false)
			if l.Sort != nil { // all of it is to be sorted
				e.take = 0
			}
		}
	}
	return c.appendStages(r, e, rest, verbosity)
}

// appendStages writes the cursor stage, if the pipeline reads a collection,
// and then those that are left to the pipeline, after running them if
// statistics are asked for.
func (c *Call) appendStages(r *aggregation, e *explained, rest *agg.Pipeline, verbosity string) error {
	v := agg.QueryPlanner
	var returned, took int64
	if verbosity != "queryPlanner" {
		v = agg.ExecutionStats
		start := c.svc.real.NowMillis()
		var err error
		if returned, err = c.runExplained(r, e, rest); err != nil {
			return mongoerr.From(translate(r.ns, err)).WithPrefix(aggregationFailed)
		}
		took = c.svc.real.NowMillis() - start
	}
	b, behind := c.reply, rest.Explain(v, r.agg)
	if e != nil && len(behind) == 0 { // it is but a find
		if err := e.appendSource(b, returned, took); err != nil {
			return err
		}
		return c.appendExplainServer(b, c.Body)
	}
	b.StartArray("stages")
	if e != nil {
		if err := e.appendCursorStage(b, returned, took); err != nil {
			return err
		}
	}
	for _, d := range behind {
		b.Document("", d)
	}
	b.End()
	return c.appendExplainServer(b, c.Body)
}

// runExplained runs a pipeline for its statistics, and counts what its source
// returns.
func (c *Call) runExplained(r *aggregation, e *explained, rest *agg.Pipeline) (returned int64, err error) {
	if e == nil {
		it, err := r.pipeline.Open(r.agg)
		if err != nil {
			return 0, err
		}
		return 0, drain(it)
	}
	src := &countedDocs{src: emptyDocs{}}
	if e.info != nil {
		if src.src, err = e.access.documents(e.exec, e.info, e.query); err != nil {
			return 0, err
		}
	}
	it, err := rest.Run(r.agg, src)
	if err != nil {
		return 0, err
	}
	err = drain(it)
	return src.n, err
}

// countedDocs counts what it passes on.
type countedDocs struct {
	src agg.Iterator
	n   int64
}

func (i *countedDocs) Next() (value.Doc, error) {
	d, err := i.src.Next()
	if d != nil {
		i.n++
	}
	return d, err
}

func (i *countedDocs) Close() { i.src.Close() }

func (e *explained) appendCursorStage(b *value.Builder, returned, took int64) error {
	b.StartDocument("").StartDocument("$cursor")
	defer func() { b.End(); b.End() }()
	return e.appendSource(b, returned, took)
}

// appendSource writes what is known of the source of a pipeline.
func (e *explained) appendSource(b *value.Builder, returned, took int64) error {
	stage := noCollection
	if e.info != nil {
		stage = e.access.plan.Explain(&e.shape)
	}
	e.appendPlanner(b, e.access, stage)
	if e.verbosity == "queryPlanner" {
		return nil
	}
	o := &outcome{matched: returned, millis: took}
	if e.info != nil {
		o.take(e.exec, e.access.plan)
	}
	return e.appendOutcome(o, e.access, stage)
}
