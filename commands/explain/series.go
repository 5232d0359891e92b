package explain

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// explainSeries explains a pipeline over a time series: how its buckets are
// found ($cursor), what is unpacked of them ($_internalUnpackBucket), and the
// stages behind that.
func explainSeries(c *kernel.Call, r *pipeline.Aggregation, info *storage.Info, l *agg.Leading, hint value.Value, verbosity string) error {
	request := r.Pipeline.Request(l, r.NS.DB, r.NS.Coll)
	q, err := canonical.FromRequest(&request, canonical.HintOf(hint))
	if err != nil {
		return err
	}
	b, err := exec.QueryBuckets(c, info, q)
	if err != nil {
		return err
	}
	e := New(r.Exec, b.Info.Namespace, b.Info, &b.Query, verbosity)
	e.Exec.Packed = true
	if e.access, err = exec.ChooseAccessPath(c, e.Exec, b.Info, &b.Query); err != nil {
		return kernel.Translate(r.NS, err)
	}
	rest := r.Pipeline.Rest(*l, false)
	m := b.Open(e.Exec, e.access, q)
	defer m.Close()
	var took int64
	v := agg.QueryPlanner
	if verbosity != "queryPlanner" {
		v = agg.ExecutionStats
		start := c.Svc.Real.NowMillis()
		it, err := rest.Run(r.Agg, m)
		if err == nil {
			err = pipeline.Drain(it)
		}
		if err != nil {
			return mongoerr.From(kernel.Translate(r.NS, err)).WithPrefix(exec.AggregationFailed(c, r.NS))
		}
		took = c.Svc.Real.NowMillis() - start
	}
	out := c.Reply
	out.StartArray("stages")
	if err := e.appendCursorStage(out, m.Counts.Read, took); err != nil {
		return err
	}
	appendUnpackStage(m, out, q, v)
	series := b.Meta.Series
	for _, d := range rest.ExplainOverPacks(v, r.Agg, series.MetaField, series.TimeField) {
		out.Document("", d)
	}
	out.End()
	return appendExplainServer(c, out, c.Body)
}

// appendUnpackStage writes what is unpacked, and which measurements pass.
func appendUnpackStage(m *exec.Measurements, b *value.Builder, q *canonical.Query, v agg.Verbosity) {
	o := m.B.Meta.Series
	b.StartDocument("").StartDocument("$_internalUnpackBucket")
	if q.Fields == nil {
		b.StartArray("exclude").End()
	} else {
		b.StartArray("include")
		for _, name := range exec.TopFields(q.Fields) {
			b.String("", name)
		}
		b.End()
	}
	b.String("timeField", o.TimeField)
	if o.MetaField != "" {
		b.String("metaField", o.MetaField)
	}
	b.Int32("bucketMaxSpanSeconds", int32(o.MaxSpan))
	if !m.B.Pushdown.MetaOnly {
		if whole := m.B.Pushdown.WholeFilter(); !whole.IsEmpty() {
			b.Document("wholeBucketFilter", whole)
		}
		b.Document("eventFilter", m.B.Matcher.Parsed())
	}
	b.End()
	if v >= agg.ExecutionStats {
		b.Int64("nBucketsUnpacked", m.Counts.Unpacked).Int64("nReturned", m.Counts.Returned)
	}
	b.End()
}
