package canonical

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Query is a compiled filter with all that decides how records are
// found: the common part of find, count, distinct, update, delete and the
// head of an aggregation.
type Query struct {
	Filter     value.Doc
	Matcher    *match.Matcher
	Near       *match.Near // of the filter, nil if it has none
	Sort       value.Doc
	Hint       value.Value
	Min, Max   value.Doc
	Limit      int64          // at most so many are needed; 0: no limit
	NearAll    bool           // a $near returns all records; Limit does not apply to it
	Counted    bool           // a part of a query whose use of an index has been counted
	Fields     []string       // that the result is made of; nil: whole documents
	Distinct   string         // the path whose distinct values are enough; "": all documents
	Last       bool           // with Distinct: the last document of each value in the order of the sort
	Grouped    bool           // the values are for a $group, which does not unwind arrays
	Collator   value.Collator // of the operation
	Scope      *expr.Scope
	Meta       []expr.MetaKind // metadata that each document must have, besides that of the filter
	Projection value.Doc       // for the shape of the query
	Asked      plan.Asked
	Upsert     bool // the filter also defines the document to insert
}

// Needs are the paths that the planner must know to be in an index to do
// without records; nil if records are needed in any case, as where it depends
// on them who may see a document and how.
func (q *Query) Needs(info *storage.Info) []string {
	m := catalog.Of(info)
	switch {
	case q.Near != nil, !m.KeysSuffice(), slices.Contains(q.Meta, expr.MetaExpiresAt):
		return nil
	case m.MayHide() && q.Distinct != "": // the first document of a value may have expired
		return nil
	}
	return q.Fields
}

// OperationCollation reads a command's collation; without one, the
// collection's default applies.
func OperationCollation(spec value.Doc, m *catalog.Meta) (value.Collator, error) {
	if spec.IsEmpty() {
		return m.Collator(), nil
	}
	c, err := collation.Parse(spec)
	if err != nil || c == nil {
		return nil, err
	}
	return c, nil
}

// CompileFilter compiles the filter of a query against a collection.
func CompileFilter(c *kernel.Call, q *Query, meta *catalog.Meta) error {
	m, err := match.Compile(q.Filter, match.Options{
		Collation: q.Collator, Scope: q.Scope, AllowNear: true, Text: meta.TextMatcher(), NoExpr: q.Upsert, Script: c.Svc.Scripts, Operation: c,
	})
	if q.Upsert && mongoerr.Is(err, mongoerr.QueryFeatureNotAllowed) {
		return mongoerr.New(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in the query predicate for an upsert")
	}
	if err != nil {
		return err
	}
	q.Matcher = m
	q.Near = FindNear(m.Root())
	if meta.Text == nil && HasText(m.Root()) {
		return mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
	}
	if err := q.CheckSort(); err != nil {
		return err
	}
	return q.CheckCombination()
}

// FindNear returns the $near of a filter; it can only stand at the top.
func FindNear(n match.Node) *match.Near {
	if near, ok := n.(*match.Near); ok {
		return near
	}
	if and, ok := n.(*match.And); ok {
		for _, child := range and.Nodes {
			if near := FindNear(child); near != nil {
				return near
			}
		}
	}
	return nil
}

// HasText reports whether a filter has a $text.
func HasText(n match.Node) bool {
	if _, ok := n.(*match.Text); ok {
		return true
	}
	for _, child := range n.Children() {
		if HasText(child) {
			return true
		}
	}
	return false
}

// CheckHint refuses hints of impossible types.
func CheckHint(v value.Value) error {
	switch v.Kind() {
	case value.KindDocument:
		if wrongNatural(v.Doc()) {
			return mongoerr.New(mongoerr.BadValue, "$natural hint cannot be set to a value other than -1 or 1.")
		}
		return nil
	case value.Missing, value.KindString:
		return nil
	}
	return mongoerr.Newf(mongoerr.FailedToParse, "Hint must be a string or an object")
}

// IsDirection reports whether a value is 1 or -1.
func IsDirection(v value.Value) bool {
	n, ok := v.AsInt64()
	return ok && (n == 1 || n == -1)
}

// wrongNatural reports whether a hint or a sort has a $natural but is not {$natural: ±1}.
func wrongNatural(d value.Doc) bool {
	n := d.Lookup("$natural")
	return !n.IsMissing() && (d.Len() > 1 || !IsDirection(n))
}

// Natural reads {$natural: ±1}.
func Natural(d value.Doc) (direction int, ok bool) {
	name, v := d.First()
	if name != "$natural" {
		return 0, false
	}
	if v.AsDouble() < 0 {
		return -1, true
	}
	return 1, true
}

// PointID returns the _id a filter asks for by plain equality and nothing
// else.
func PointID(filter value.Doc) (value.Value, bool) {
	it := filter.Iter()
	if !it.Next() || it.Key() != "_id" {
		return value.Value{}, false
	}
	v := it.Value()
	switch v.Kind() {
	case value.KindRegex, value.KindArray, value.KindUndefined, value.KindNull:
		return value.Value{}, false
	case value.KindDocument:
		name, arg := v.Doc().First()
		if name == "$eq" && v.Doc().Len() == 1 {
			v = arg
			switch v.Kind() {
			case value.KindRegex, value.KindArray, value.KindUndefined, value.KindNull:
				return value.Value{}, false
			}
		} else if strings.HasPrefix(name, "$") {
			return value.Value{}, false
		}
	}
	return v, !it.Next()
}
