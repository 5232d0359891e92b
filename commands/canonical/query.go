package canonical

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Query is a compiled query: the common part of find, count, distinct, update, delete and
// the head of an aggregation.
type Query struct {
	plan.Query                 // what the planner knows of it; [Query.ForPlanner] sets the rest
	Filter     value.Doc       // the filter that Matcher was compiled from
	Near       *match.Near     // the $near in the filter, nil if it has none
	NearAll    bool            // a $near returns all records; Limit does not apply to it
	Counted    bool            // a part of a query whose use of an index has been counted
	Distinct   string          // the path whose distinct values are enough; "": all documents
	Last       bool            // asks, with Distinct, for the last document of each value in the order of the sort
	Grouped    bool            // the values are for a $group, which does not unwind arrays
	Collator   value.Collator  // the order of strings in the operation
	Scope      *expr.Scope     // the variables that expressions may use
	Meta       []expr.MetaKind // metadata that each document must have, besides that of the filter
	Upsert     bool            // the filter also defines the document to insert
}

// ForPlanner returns the query as it is planned over a collection. implied are the
// conditions that follow from its $expr.
func (q *Query) ForPlanner(info *storage.Info, implied []match.Node) plan.Query {
	m, p := catalog.Of(info), q.Query
	p.NS, p.Collation, p.Implied = info.Namespace.String(), CollationDoc(q.Collator), implied
	if q.needsRecords(m) {
		p.Fields = nil
	}
	m.ResolveHint(&p.Hint)
	if n, natural := Natural(q.Sort); natural {
		p.Sort = nil
		if p.Hint.IsZero() {
			p.Hint.Natural = n
		}
	}
	return p
}

// needsRecords reports whether no index covers the query, as where a record decides who may
// see the document and how.
func (q *Query) needsRecords(m *catalog.Meta) bool {
	return q.Near != nil || !m.KeysSuffice() || slices.Contains(q.Meta, expr.MetaExpiresAt) ||
		m.MayHide() && q.Distinct != "" // the first document of a value may have expired
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

// FromRequest returns the query for the documents that a pipeline asks for.
func FromRequest(r *agg.Request, hint plan.Hint) (*Query, error) {
	q := &Query{
		Filter: r.Filter, Distinct: r.Distinct, Last: r.Last, Grouped: true, Collator: r.Collation, Meta: r.Meta,
		Query: plan.Query{Matcher: r.Matcher, Sort: r.Sort, Limit: r.Limit, Fields: r.Fields, Hint: hint},
	}
	var err error
	if q.Matcher == nil {
		q.Matcher, err = match.Compile(q.Filter, match.Options{Collation: q.Collator})
	}
	return q, err
}
