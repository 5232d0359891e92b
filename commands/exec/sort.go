package exec

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

// sortKey returns the value of {$meta: "sortKey"}: for each field of the sort the value
// that the document is sorted by.
func sortKey(sort, d value.Doc, c value.Collator) value.Value {
	var key []value.Value
	for name, v := range sort.All() {
		key = append(key, sortValue(d, name, v.AsDouble() < 0, c))
	}
	return value.NewArray(key...)
}

// sortValue is what a document is sorted by: of arrays the least element, or
// the greatest when descending.
func sortValue(d value.Doc, path string, desc bool, c value.Collator) (best value.Value) {
	consider := func(v value.Value) {
		if v.IsMissing() {
			v = value.Null()
		}
		if order := value.CompareWith(v, best, c); best.IsMissing() || order < 0 && !desc || order > 0 && desc {
			best = v
		}
	}
	p := value.ParsePath(path)
	p.Walk(d, func(v value.Value) bool {
		if v.Kind() != value.KindArray {
			consider(v)
			return false
		}
		if v.Doc().IsEmpty() {
			consider(value.Undefined())
		}
		for e := range v.Doc().Values() {
			consider(e)
		}
		return false
	})
	if best.IsMissing() {
		return value.Null()
	}
	return best
}

// sort runs agg's $sort over an iterator.
func (x *Execution) sort(src agg.Iterator, pattern value.Doc, limit int64, collator value.Collator, disk *args.StrictBool) (agg.Iterator, error) {
	x.Running().Counts.Sorted = true
	p, err := canonical.CompileSort(pattern, limit, collator, canonical.EveryMetadata)
	if err != nil {
		return nil, err
	}
	return p.Run(x.AggExec(disk), src)
}

// AggExec makes the pipeline side of an execution.
func (x *Execution) AggExec(disk *args.StrictBool) *agg.Exec {
	svc := x.Running().Svc
	p := svc.Params
	return &agg.Exec{
		Env: x.Env, AllowDiskUse: disk == nil && p.Bool("allowDiskUseByDefault") || disk != nil && bool(*disk),
		MemoryLimit: p.Int("internalQueryMaxBlockingSortMemoryUsageBytes"),
		Limits: agg.Limits{
			Group:        p.Int("internalDocumentSourceGroupMaxMemoryBytes"),
			BucketAuto:   p.Int("internalDocumentSourceBucketAutoMaxMemoryBytes"),
			Window:       p.Int("internalDocumentSourceSetWindowFieldsMaxMemoryBytes"),
			Facet:        p.Int("internalQueryFacetBufferSizeBytes"),
			FacetDoc:     p.Int("internalQueryFacetMaxOutputDocSizeBytes"),
			LookupDoc:    p.Int("internalLookupStageIntermediateDocumentMaxSizeBytes"),
			Push:         p.Int("internalQueryMaxPushBytes"),
			AddToSet:     p.Int("internalQueryMaxAddToSetBytes"),
			ConcatArrays: p.Int("internalQueryMaxConcatArraysBytes"),
			SetUnion:     p.Int("internalQueryMaxSetUnionBytes"),
			TopN:         p.Int("internalQueryTopNAccumulatorBytes"),
		},
		TempDir: svc.Options.TempDir, Interrupt: x.Env.Interrupt,
	}
}
