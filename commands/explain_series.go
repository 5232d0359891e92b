package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// explainSeries explains a pipeline over a time series: how its buckets are
// found ($cursor), what is unpacked of them ($_internalUnpackBucket), and the
// stages behind that.
func (c *Call) explainSeries(r *aggregation, info *storage.Info, l *agg.Leading, hint value.Value, verbosity string) (err error) {
	q := &readQuery{filter: l.Filter, matcher: l.Matcher, fields: l.Fields, hint: hint, collator: r.exec.env.Collation}
	if q.matcher == nil {
		if q.matcher, err = match.Compile(q.filter, match.Options{Collation: q.collator}); err != nil {
			return err
		}
	}
	b, err := c.queryBuckets(info, q)
	if err != nil {
		return err
	}
	e := &explained{c: c, ns: b.info.Namespace, info: b.info, exec: r.exec, query: &b.query, verbosity: verbosity}
	e.shape = plan.Shape{Filter: b.query.matcher.Parsed(), Namespace: e.ns.String()}
	e.exec.packed, e.exec.explained = true, true
	if e.access, err = c.access(e.exec, b.info, &b.query); err != nil {
		return translate(r.ns, err)
	}
	rest := r.pipeline.Rest(*l, false)
	m := b.open(e.exec, e.access, q)
	defer m.Close()
	var took int64
	v := agg.QueryPlanner
	if verbosity != "queryPlanner" {
		v = agg.ExecutionStats
		start := c.svc.real.NowMillis()
		it, err := rest.Run(r.agg, m)
		if err == nil {
			err = drain(it)
		}
		if err != nil {
			return mongoerr.From(translate(r.ns, err)).WithPrefix(aggregationFailed)
		}
		took = c.svc.real.NowMillis() - start
	}
	out := c.reply
	out.StartArray("stages")
	if err := e.appendCursorStage(out, m.counts.read, took); err != nil {
		return err
	}
	m.appendUnpackStage(out, q, v)
	series := b.meta.series
	for _, d := range rest.ExplainOverPacks(v, r.agg, series.MetaField, series.TimeField) {
		out.Document("", d)
	}
	out.End()
	return c.appendExplainServer(out, c.Body)
}

// appendUnpackStage writes what is unpacked, and which measurements pass.
func (m *measurements) appendUnpackStage(b *value.Builder, q *readQuery, v agg.Verbosity) {
	o := m.b.meta.series
	b.StartDocument("").StartDocument("$_internalUnpackBucket")
	if q.fields == nil {
		b.StartArray("exclude").End()
	} else {
		b.StartArray("include")
		for _, name := range topFields(q.fields) {
			b.String("", name)
		}
		b.End()
	}
	b.String("timeField", o.TimeField)
	if o.MetaField != "" {
		b.String("metaField", o.MetaField)
	}
	b.Int32("bucketMaxSpanSeconds", int32(o.MaxSpan))
	if !m.b.pushdown.MetaOnly {
		if whole := m.b.pushdown.WholeFilter(); !whole.IsEmpty() {
			b.Document("wholeBucketFilter", whole)
		}
		b.Document("eventFilter", m.b.matcher.Parsed())
	}
	b.End()
	if v >= agg.ExecutionStats {
		b.Int64("nBucketsUnpacked", m.counts.unpacked).Int64("nReturned", m.counts.returned)
	}
	b.End()
}
