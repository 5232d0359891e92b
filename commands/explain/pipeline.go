package explain

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Aggregate explains an aggregate.
func Aggregate(c *kernel.Call, body value.Doc, verbosity string) error {
	var a exec.AggregateArgs
	if err := exec.AggregateSpec.Decode(body, &a); err != nil {
		return err
	}
	c.Body = body
	return AggregateArgs(c, &a, verbosity)
}

// AggregateArgs explains an aggregate whose arguments have been decoded. The reply
// has {stages: [{$cursor: …}, …]}, or is that of a find if the source does everything.
func AggregateArgs(c *kernel.Call, a *exec.AggregateArgs, verbosity string) error {
	r, err := pipeline.CompileAggregate(c, a)
	if err != nil {
		return err
	}
	return Pipeline(c, r, a.Hint, verbosity)
}

// Pipeline explains a compiled pipeline. Those with $out and $merge can be
// explained with verbosity queryPlanner only, as they would write.
func Pipeline(c *kernel.Call, r *pipeline.Aggregation, hint value.Value, verbosity string) error {
	if r.Pipeline.Writes() && verbosity != "queryPlanner" {
		return mongoerr.New(51029, "explain of a pipeline with $out or $merge is only supported with verbosity queryPlanner")
	}
	r.Agg.NowMillis = c.Svc.Real.NowMillis
	c.Reply.String("explainVersion", "1")
	if r.Pipeline.IsSource() {
		return appendStages(c, r, nil, r.Pipeline, verbosity)
	}
	p, under, err := r.Pipeline.Resolved(r.Agg)
	if err != nil {
		return err
	}
	r.Pipeline, r.NS = p, storage.Namespace{DB: under.DB, Coll: under.Coll}
	info, err := exec.Lookup(c, r.NS)
	if err != nil {
		return err
	}
	l := r.Pipeline.Leading()
	if r.Pipeline.IsSource() || l.Near != nil {
		return appendStages(c, r, nil, r.Pipeline, verbosity)
	}
	if catalog.Of(info).Kind == catalog.TimeSeries {
		return explainSeries(c, r, info, &l, hint, verbosity)
	}
	request := r.Pipeline.Request(&l, r.NS.DB, r.NS.Coll)
	q, err := canonical.FromRequest(&request, canonical.HintOf(hint))
	if err != nil {
		return err
	}
	if err := q.CheckCombination(); err != nil {
		return err
	}
	e := New(r.Exec, r.NS, info, q, verbosity)
	if e.Exec.Explained = r.Pipeline.IsFind(l); e.Exec.Explained { // the source does everything
		e.Shape.Limit = l.Limit
		return e.appendPlan(c.Body)
	}
	e.take = l.Limit
	rest := r.Pipeline.Rest(l, true)
	if info != nil {
		if e.access, err = exec.ChooseAccessPath(c, e.Exec, info, e.Query); err != nil {
			return err
		}
		switch {
		case e.access.Backwards:
			rest = r.Pipeline.RestBackwards(l)
		case !e.access.Sorted:
			e.Shape.Sort, rest = nil, r.Pipeline.Rest(l, false)
			if l.Sort != nil { // all documents must be sorted
				e.take = 0
			}
		}
	}
	return appendStages(c, r, e, rest, verbosity)
}

// appendStages writes the cursor stage, if the pipeline reads a collection,
// and then those that are left to the pipeline, after running them if
// statistics are requested.
func appendStages(c *kernel.Call, r *pipeline.Aggregation, e *Explanation, rest *agg.Pipeline, verbosity string) error {
	v := agg.QueryPlanner
	var returned, took int64
	if verbosity != "queryPlanner" {
		v = agg.ExecutionStats
		start := c.Svc.Real.NowMillis()
		var err error
		if returned, err = runExplained(r, e, rest); err != nil {
			return mongoerr.From(kernel.Translate(r.NS, err)).WithPrefix(exec.AggregationFailed(c, r.NS))
		}
		took = c.Svc.Real.NowMillis() - start
	}
	b, behind := c.Reply, rest.Explain(v, r.Agg)
	if e != nil && len(behind) == 0 { // the pipeline is a find
		if err := e.appendSource(b, returned, took); err != nil {
			return err
		}
		return appendExplainServer(c, b, c.Body)
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
	return appendExplainServer(c, b, c.Body)
}

// runExplained runs a pipeline for its statistics, and counts what its source
// returns.
func runExplained(r *pipeline.Aggregation, e *Explanation, rest *agg.Pipeline) (returned int64, err error) {
	if e == nil {
		it, err := r.Pipeline.Open(r.Agg)
		if err != nil {
			return 0, err
		}
		return 0, pipeline.Drain(it)
	}
	src := &countedDocs{src: exec.EmptyDocs{}}
	if e.info != nil {
		if src.src, err = e.access.Documents(e.Exec, e.info, e.Query); err != nil {
			return 0, err
		}
	}
	it, err := rest.Run(r.Agg, src)
	if err != nil {
		return 0, err
	}
	err = pipeline.Drain(it)
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

func (e *Explanation) appendCursorStage(b *value.Builder, returned, took int64) error {
	b.StartDocument("").StartDocument("$cursor")
	defer func() { b.End(); b.End() }()
	return e.appendSource(b, returned, took)
}

// appendSource writes what is known of the source of a pipeline.
func (e *Explanation) appendSource(b *value.Builder, returned, took int64) error {
	stage := exec.NoCollection
	if e.info != nil {
		stage = e.access.Plan.Explain(&e.Shape)
	}
	e.appendPlanner(b, e.access, stage)
	if e.verbosity == "queryPlanner" {
		return nil
	}
	o := &outcome{matched: returned, millis: took}
	if e.info != nil {
		o.take(e.Exec, e.access.Plan)
	}
	return e.appendOutcome(o, e.access, stage)
}
