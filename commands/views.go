package commands

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// readThrough tells whether a collection is read through a pipeline: a find, a
// count or a distinct on it becomes an aggregate, to run and to explain.
func (m *collectionMeta) readThrough() bool { return m.kind == view || m.kind == timeSeries }

// behindFilter is the pipeline of a filter and the stages behind it.
func behindFilter(filter value.Doc, stages ...value.Value) array {
	if !filter.IsEmpty() {
		stages = slices.Insert(stages, 0, stageOf("$match", value.Document(filter)))
	}
	return array(value.NewArray(stages...).Doc())
}

func stageOf(name string, v value.Value) value.Value { return value.Document(value.NewDoc(name, v)) }

// aggregate says what a find says of ns.
func (a *findArgs) aggregate(ns storage.Namespace) (*aggregateArgs, error) {
	if err := a.checkOnView(); err != nil {
		return nil, err
	}
	var stages []value.Value
	add := func(name string, v value.Value) { stages = append(stages, stageOf(name, v)) }
	if !a.Sort.IsEmpty() {
		add("$sort", value.Document(a.Sort))
	}
	if a.Skip > 0 {
		add("$skip", value.Int64(a.Skip))
	}
	if a.Limit > 0 {
		add("$limit", value.Int64(a.Limit))
	}
	if !a.Projection.IsEmpty() {
		add("$project", value.Document(a.Projection))
	}
	return &aggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Filter, stages...),
		Collation: a.Collation, Hint: a.Hint, Let: a.Let, AllowDiskUse: a.AllowDiskUse,
	}, nil
}

// checkOnView refuses the options of find that a pipeline cannot have.
func (a *findArgs) checkOnView() error {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"Option min", !a.Min.IsEmpty()},
		{"Option max", !a.Max.IsEmpty()},
		{"Option returnKey", bool(a.ReturnKey)},
		{"Option showRecordId", bool(a.ShowRecordID)},
		{"Tailable cursors are", bool(a.Tailable)},
		{"Option noCursorTimeout", bool(a.NoTimeout)},
		{"Option allowPartialResults", bool(a.AllowPartial)},
		{"Sort option $natural", a.Sort.Has("$natural")},
		{"Option singleBatch", bool(a.SingleBatch) && a.Limit != 1},
		{"Option readOnce", bool(a.ReadOnce)},
		{"Option $_requestResumeToken", bool(a.RequestToken)},
		{"Option $_resumeAfter", !a.ResumeAfter.IsEmpty()},
	} {
		if o.given {
			return mongoerr.Newf(mongoerr.InvalidPipelineOperator, "%s not supported in aggregation.", o.name)
		}
	}
	return nil
}

// findOnView answers a find on a view by the pipeline that says the same.
func (c *Call) findOnView(ns storage.Namespace, a *findArgs) (*finder, error) {
	by, err := a.aggregate(ns)
	if err != nil {
		return nil, err
	}
	r, err := c.compileAggregate(by)
	if err != nil {
		return nil, err
	}
	it, err := r.pipeline.Open(r.agg)
	return &finder{exec: r.exec, it: it, what: aggregationFailed}, err
}

// aggregate says what a count says of ns, in a document {count: n}.
func (a *countArgs) aggregate(ns storage.Namespace, limit int64) *aggregateArgs {
	var stages []value.Value
	if a.Skip > 0 {
		stages = append(stages, stageOf("$skip", value.Int64(a.Skip)))
	}
	if limit > 0 {
		stages = append(stages, stageOf("$limit", value.Int64(limit)))
	}
	stages = append(stages, stageOf("$count", value.String("count")))
	return &aggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Query, stages...), Collation: a.Collation, Hint: a.Hint,
	}
}

func (c *Call) countView(ns storage.Namespace, a *countArgs, limit int64) (int64, error) {
	r, err := c.openAggregate(a.aggregate(ns, limit))
	if err != nil {
		return 0, err
	}
	defer r.it.Close()
	d, err := r.it.Next()
	if err != nil || d == nil {
		return 0, err
	}
	return d.Lookup("count").SafeInt64(), nil
}

// documents says which documents of ns a distinct looks at.
func (a *distinctArgs) documents(ns storage.Namespace, stages ...value.Value) *aggregateArgs {
	return &aggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Query, stages...), Collation: a.Collation, Hint: a.Hint,
	}
}

// aggregate says what a distinct says of ns. Arrays are taken apart on the way
// to the values but for those within arrays, into which no path leads.
func (a *distinctArgs) aggregate(ns storage.Namespace) *aggregateArgs {
	var stages, objects []value.Value
	for i := 0; i <= len(a.Key); i++ {
		if i < len(a.Key) && a.Key[i] != '.' {
			continue
		}
		path := value.String("$" + a.Key[:i])
		stages = append(stages, stageOf("$unwind", value.Document(value.NewDoc("path", path, "preserveNullAndEmptyArrays", value.Bool(true)))))
		if i < len(a.Key) {
			objects = append(objects, stageOf("$eq", value.NewArray(stageOf("$type", path), value.String("object"))))
		}
	}
	if objects != nil {
		stages = append(stages, stageOf("$match", stageOf("$expr", stageOf("$and", value.NewArray(objects...)))))
	}
	group := value.NewDoc("_id", value.Null(), "distinct", stageOf("$addToSet", value.String("$"+a.Key)))
	return a.documents(ns, append(stages, stageOf("$group", value.Document(group)))...)
}

// distinctView collects the values of a view's documents.
func (c *Call) distinctView(ns storage.Namespace, a *distinctArgs, set *distinctSet) error {
	r, err := c.openAggregate(a.documents(ns))
	if err != nil {
		return err
	}
	defer r.it.Close()
	for {
		d, err := r.it.Next()
		if d == nil || err != nil {
			return err
		}
		set.add(d)
	}
}

// explainAs explains a command as the aggregate that it becomes.
func (c *Call) explainAs(a *aggregateArgs, body value.Doc, verbosity string) error {
	c.Body = body
	return c.explainAggregate(a, verbosity)
}

// underViews is the collection that stands under a view, or under the views it
// is a view of.
func (c *Call) underViews(ns storage.Namespace) (*storage.Info, error) {
	for range maxViewDepth {
		info, err := c.lookup(ns)
		if err != nil || metaOf(info).kind != view {
			return info, err
		}
		ns.Coll = strings.Clone(metaOf(info).viewOn)
	}
	return nil, nil // refused where the view is opened
}
