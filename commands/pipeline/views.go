package pipeline

import (
	"slices"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// behindFilter returns a pipeline of a $match and further stages.
func behindFilter(filter value.Doc, stages ...value.Value) args.Array {
	if !filter.IsEmpty() {
		stages = slices.Insert(stages, 0, stageOf("$match", value.Document(filter)))
	}
	return args.Array(value.NewArray(stages...).Doc())
}

func stageOf(name string, v value.Value) value.Value { return value.Document(value.NewDoc(name, v)) }

// FindAsAggregate returns the aggregate that is equivalent to a find on ns.
func FindAsAggregate(a *exec.FindArgs, ns storage.Namespace) (*exec.AggregateArgs, error) {
	if err := checkOnView(a); err != nil {
		return nil, err
	}
	sort, hint, err := canonical.NaturalAsHint(a.Sort, a.Hint)
	if err != nil {
		return nil, err
	}
	var stages []value.Value
	add := func(name string, v value.Value) { stages = append(stages, stageOf(name, v)) }
	if !sort.IsEmpty() {
		add("$sort", value.Document(sort))
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
	return &exec.AggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Filter, stages...),
		Collation: a.Collation, Hint: hint, Let: a.Let, AllowDiskUse: a.AllowDiskUse,
	}, nil
}

// checkOnView refuses the options of find that a pipeline cannot have.
func checkOnView(a *exec.FindArgs) error {
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

// FindOnView runs a find on a view as the equivalent pipeline.
func FindOnView(c *kernel.Call, ns storage.Namespace, a *exec.FindArgs) (*exec.Finder, error) {
	by, err := FindAsAggregate(a, ns)
	if err != nil {
		return nil, err
	}
	r, err := CompileAggregate(c, by)
	if err != nil {
		return nil, err
	}
	it, err := r.Pipeline.Open(r.Agg)
	return &exec.Finder{Exec: r.Exec, It: it, What: exec.AggregationFailed}, err
}

// CountAsAggregate returns the aggregate that is equivalent to a count on ns. Its
// result is one document {count: n}, or none if n is 0.
func CountAsAggregate(a *exec.CountArgs, ns storage.Namespace, limit int64) *exec.AggregateArgs {
	var stages []value.Value
	if a.Skip > 0 {
		stages = append(stages, stageOf("$skip", value.Int64(a.Skip)))
	}
	if limit > 0 {
		stages = append(stages, stageOf("$limit", value.Int64(limit)))
	}
	stages = append(stages, stageOf("$count", value.String("count")))
	return &exec.AggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Query, stages...), Collation: a.Collation, Hint: a.Hint,
	}
}

// CountView counts the documents of a view that a count asks for.
func CountView(c *kernel.Call, ns storage.Namespace, a *exec.CountArgs, limit int64) (int64, error) {
	r, err := OpenAggregate(c, CountAsAggregate(a, ns, limit))
	if err != nil {
		return 0, err
	}
	defer r.It.Close()
	d, err := r.It.Next()
	if err != nil || d == nil {
		return 0, err
	}
	return d.Lookup("count").SafeInt64(), nil
}

// documents returns the aggregate that yields the documents of ns that match the query of a
// distinct.
func documents(a *exec.DistinctArgs, ns storage.Namespace, stages ...value.Value) *exec.AggregateArgs {
	return &exec.AggregateArgs{
		Aggregate: value.String(ns.Coll), Pipeline: behindFilter(a.Query, stages...), Collation: a.Collation, Hint: a.Hint,
	}
}

// DistinctAsAggregate returns the aggregate that is equivalent to a distinct on
// ns. Arrays on the path are unwound, but not those directly within arrays, since
// paths do not lead into them.
func DistinctAsAggregate(a *exec.DistinctArgs, ns storage.Namespace) *exec.AggregateArgs {
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
	return documents(a, ns, append(stages, stageOf("$group", value.Document(group)))...)
}

// DistinctView collects the values of a view's documents.
func DistinctView(c *kernel.Call, ns storage.Namespace, a *exec.DistinctArgs, set *exec.DistinctSet) error {
	r, err := OpenAggregate(c, documents(a, ns))
	if err != nil {
		return err
	}
	defer r.It.Close()
	for {
		d, err := r.It.Next()
		if d == nil || err != nil {
			return err
		}
		if err := set.Add(c, d); err != nil {
			return err
		}
	}
}
