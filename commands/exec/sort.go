package exec

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/value"
)

// CheckSort refuses sorts that cannot be, also where an index would make the
// sorting needless.
func (q *Query) CheckSort() error {
	if q.Sort.IsEmpty() || plainSort(q.Sort) {
		return nil
	}
	if wrongNatural(q.Sort) {
		return mongoerr.New(mongoerr.BadValue, "$natural sort cannot be set to a value other than -1 or 1.")
	}
	if _, natural := isNatural(q.Sort); natural {
		return nil
	}
	_, err := compileSort(q.Sort, 0, q.Collator, q.metadata())
	return err
}

// plainSort recognises the sorts that nearly everyone uses: fields by 1 and
// -1.
func plainSort(sort value.Doc) bool {
	for name, v := range sort.All() {
		if !isDirection(v) {
			return false
		}
		if name == "" || strings.ContainsAny(name, "$.") {
			return false
		}
	}
	return sort.Len() <= 3 // more need a look for names that occur twice
}

// metadata is what matching the query leaves with each document.
func (q *Query) metadata() (kinds []expr.MetaKind) {
	if q.near != nil {
		kinds = append(kinds, expr.MetaGeoNearDistance, expr.MetaGeoNearPoint)
	}
	if q.Matcher != nil && HasText(q.Matcher.Root()) {
		kinds = append(kinds, expr.MetaTextScore)
	}
	return kinds
}

// everyMetadata are the kinds whose presence has been checked before.
var everyMetadata = []expr.MetaKind{expr.MetaGeoNearDistance, expr.MetaGeoNearPoint, expr.MetaTextScore}

// compileSort makes the $sort of a pattern.
func compileSort(pattern value.Doc, limit int64, c value.Collator, has []expr.MetaKind) (*agg.Pipeline, error) {
	stages := []value.Value{value.Document(value.NewDoc("$sort", value.Document(pattern)))}
	if limit > 0 {
		stages = append(stages, value.Document(value.NewDoc("$limit", value.Int64(limit))))
	}
	return agg.Compile(value.NewArray(stages...).Doc(), agg.Options{DB: "local", Coll: "sort", Collation: c, Metadata: has})
}

// neededNames name metadata that a projection may ask for in vain.
var neededNames = map[expr.MetaKind]string{
	expr.MetaGeoNearDistance: "$geoNear distance", expr.MetaGeoNearPoint: "$geoNear point", expr.MetaTextScore: "text score",
}

// NeedMeta notes the metadata that the result is made of.
func (q *Query) NeedMeta(a *FindArgs, p *project.Projection) error {
	if p != nil {
		if err := q.checkMeta(p.Meta()); err != nil {
			return err
		}
		q.Meta = p.Meta()
	}
	if a.ShowRecordID {
		q.Meta = append(q.Meta[:len(q.Meta):len(q.Meta)], expr.MetaRecordID)
	}
	if a.ReturnKey {
		q.Meta = append(q.Meta[:len(q.Meta):len(q.Meta)], expr.MetaIndexKey)
	}
	return nil
}

// checkMeta refuses a projection of metadata that the query does not leave.
func (q *Query) checkMeta(wanted []expr.MetaKind) error {
	has := map[expr.MetaKind]bool{}
	for _, k := range q.metadata() {
		has[k] = true
	}
	for _, k := range wanted {
		if name := neededNames[k]; name != "" && !has[k] {
			return mongoerr.Newf(40218, "query requires %s metadata, but it is not available", name)
		}
		if k == expr.MetaSortKey && q.Sort.IsEmpty() {
			return mongoerr.New(mongoerr.BadValue, "cannot use sortKey $meta projection without a sort")
		}
	}
	return nil
}

// sortKey is the value of {$meta: "sortKey"}: for each field of the sort what
// the document is sorted by.
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
