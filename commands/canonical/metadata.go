package canonical

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/value"
)

// CheckSort refuses invalid sorts, even if an index would provide the order.
func (q *Query) CheckSort() error {
	if q.Sort.IsEmpty() || plainSort(q.Sort) {
		return nil
	}
	if wrongNatural(q.Sort) {
		return errNaturalSort
	}
	if _, natural := Natural(q.Sort); natural {
		return nil
	}
	_, err := CompileSort(q.Sort, 0, q.Collator, q.metadata())
	return err
}

// plainSort reports whether a sort is a common one: fields by 1 and -1.
func plainSort(sort value.Doc) bool {
	for name, v := range sort.All() {
		if !IsDirection(v) {
			return false
		}
		if name == "" || strings.ContainsAny(name, "$.") {
			return false
		}
	}
	return sort.Len() <= 3 // more need a look for names that occur twice
}

// metadata returns the kinds of metadata that the filter sets for each document.
func (q *Query) metadata() (kinds []expr.MetaKind) {
	if q.Near != nil {
		kinds = append(kinds, expr.MetaGeoNearDistance, expr.MetaGeoNearPoint)
	}
	if q.Matcher != nil && HasText(q.Matcher.Root()) {
		kinds = append(kinds, expr.MetaTextScore)
	}
	return kinds
}

// EveryMetadata are the kinds whose presence has been checked before.
var EveryMetadata = []expr.MetaKind{expr.MetaGeoNearDistance, expr.MetaGeoNearPoint, expr.MetaTextScore, expr.MetaScore, expr.MetaScoreDetails}

// CompileSort makes the $sort of a pattern.
func CompileSort(pattern value.Doc, limit int64, c value.Collator, has []expr.MetaKind) (*agg.Pipeline, error) {
	stages := []value.Value{value.Document(value.NewDoc("$sort", value.Document(pattern)))}
	if limit > 0 {
		stages = append(stages, value.Document(value.NewDoc("$limit", value.Int64(limit))))
	}
	return agg.Compile(value.NewArray(stages...).Doc(), agg.Options{DB: "local", Coll: "sort", Collation: c, Metadata: has})
}

// NeedMeta notes the metadata that the result is made of: what its projection asks for,
// the id of each record, the key of the index entry that led to it.
func (q *Query) NeedMeta(p *project.Projection, recordID, indexKey bool) error {
	if p != nil {
		if err := q.checkMeta(p.Meta()); err != nil {
			return err
		}
		q.Meta = p.Meta()
	}
	if sortsByExpiry(q.Sort) && !slices.Contains(q.Meta, expr.MetaExpiresAt) {
		q.Meta = append(q.Meta[:len(q.Meta):len(q.Meta)], expr.MetaExpiresAt)
	}
	if recordID {
		q.Meta = append(q.Meta[:len(q.Meta):len(q.Meta)], expr.MetaRecordID)
	}
	if indexKey {
		q.Meta = append(q.Meta[:len(q.Meta):len(q.Meta)], expr.MetaIndexKey)
	}
	return nil
}

// sortsByExpiry reports whether a sort uses {$meta: "expiresAt"}.
func sortsByExpiry(sort value.Doc) bool {
	for _, v := range sort.All() {
		if v.Kind() == value.KindDocument && v.Doc().Lookup("$meta").Str() == "expiresAt" {
			return true
		}
	}
	return false
}

// checkMeta refuses a projection of metadata that the query does not leave.
func (q *Query) checkMeta(wanted []expr.MetaKind) error {
	has := map[expr.MetaKind]bool{}
	for _, k := range q.metadata() {
		has[k] = true
	}
	for _, k := range wanted {
		if name := agg.MissingMetadata(k, has); name != "" {
			return mongoerr.Newf(40218, "query requires %s metadata, but it is not available", name)
		}
		if k == expr.MetaSortKey && q.Sort.IsEmpty() {
			return mongoerr.New(mongoerr.BadValue, "cannot use sortKey $meta projection without a sort")
		}
	}
	return nil
}
