package commands

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// readQuery is a compiled filter with all that decides how records are
// found: the common part of find, count, distinct, update, delete and the
// head of an aggregation.
type readQuery struct {
	filter     value.Doc
	matcher    *match.Matcher
	near       *match.Near // of the filter, nil if there is none
	sort       value.Doc
	hint       value.Value
	min, max   value.Doc
	limit      int64          // at most so many are needed; 0: no limit
	nearAll    bool           // of a $near all are wanted, whatever the limit
	counted    bool           // a part of a query whose use of an index is known
	fields     []string       // that the result is made of; nil: whole documents
	distinct   string         // the path whose distinct values will do, "": all documents
	last       bool           // of each value, the last document in the order of the sort is wanted
	grouped    bool           // they are to be grouped: arrays are values
	collator   value.Collator // of the operation
	scope      *expr.Scope
	meta       []expr.MetaKind // wanted of each document, beside what matching leaves
	projection value.Doc       // for the shape of the query
	asked      plan.Asked
	upsert     bool // the filter also tells what to insert
}

// needs are the paths that the planner must know to be in an index to do
// without records; nil if records are needed in any case, as where it depends
// on them who may see a document and how.
func (q *readQuery) needs(info *storage.Info) []string {
	m := metaOf(info)
	switch {
	case q.near != nil, !m.keysWillDo():
		return nil
	case m.hides() && q.distinct != "": // of a value, the first entry may have expired
		return nil
	}
	return q.fields
}

// keysWillDo tells whether every entry of an index stands for a document that
// is shown as it is stored, unless it has expired.
func (m *collectionMeta) keysWillDo() bool {
	return !m.isQueue && m.kind == ordinary && (m.docTTL == nil || !m.docTTL.ExposeTS)
}

// lookup returns the description of a collection, nil if there is none.
func (c *Call) lookup(ns storage.Namespace) (info *storage.Info, err error) {
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err == nil {
			info = coll.Info()
		}
		return nil
	})
	return info, err
}

// operationCollation reads a command's collation; without one, the
// collection's default applies.
func operationCollation(spec value.Doc, m *collectionMeta) (value.Collator, error) {
	if spec.IsEmpty() {
		return m.collator(), nil
	}
	c, err := collation.Parse(spec)
	if err != nil || c == nil {
		return nil, err
	}
	return c, nil
}

// letScope compiles a command's let: a scope for its expressions and the
// values of its variables.
func (x *execution) letScope(let value.Doc) (*expr.Scope, error) {
	if let == nil {
		return nil, nil
	}
	scope, vars, err := expr.ScopeWithLet(let)
	if err != nil {
		return nil, err
	}
	return scope, vars.Once(x.env)
}

// compileFilter compiles the filter of a query against a collection.
func (c *Call) compileFilter(q *readQuery, meta *collectionMeta) error {
	m, err := match.Compile(q.filter, match.Options{
		Collation: q.collator, Scope: q.scope, AllowNear: true, Text: meta.textMatcher(), NoExpr: q.upsert, Script: c.svc.scripts,
	})
	if q.upsert && mongoerr.Is(err, mongoerr.QueryFeatureNotAllowed) {
		return mongoerr.New(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in the query predicate for an upsert")
	}
	if err != nil {
		return err
	}
	q.matcher = m
	q.near = findNear(m.Root())
	if meta.text == nil && hasText(m.Root()) {
		return mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
	}
	if err := q.checkSort(); err != nil {
		return err
	}
	return q.checkCombination()
}

// findNear returns the $near of a filter; it can only stand at the top.
func findNear(n match.Node) *match.Near {
	if near, ok := n.(*match.Near); ok {
		return near
	}
	if and, ok := n.(*match.And); ok {
		for _, child := range and.Nodes {
			if near := findNear(child); near != nil {
				return near
			}
		}
	}
	return nil
}

func hasText(n match.Node) bool {
	if _, ok := n.(*match.Text); ok {
		return true
	}
	for _, child := range n.Children() {
		if hasText(child) {
			return true
		}
	}
	return false
}

// checkHint refuses hints of impossible types.
func checkHint(v value.Value) error {
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

// isDirection tells whether a value is 1 or -1.
func isDirection(v value.Value) bool {
	n, ok := v.AsInt64()
	return ok && (n == 1 || n == -1)
}

// wrongNatural tells whether a hint or a sort has a $natural in it and is
// anything but {$natural: ±1}.
func wrongNatural(d value.Doc) bool {
	n := d.Lookup("$natural")
	return !n.IsMissing() && (d.Len() > 1 || !isDirection(n))
}

// isNatural reads {$natural: ±1}.
func isNatural(d value.Doc) (direction int, ok bool) {
	name, v := d.First()
	if name != "$natural" {
		return 0, false
	}
	if v.AsDouble() < 0 {
		return -1, true
	}
	return 1, true
}

// pointID returns the _id a filter asks for by plain equality and nothing
// else.
func pointID(filter value.Doc) (value.Value, bool) {
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

// textIndex is the text index of a collection, or of the one under a view, for
// $text in pipelines.
func (c *Call) textIndex(db, coll string) match.TextMatcher {
	info, err := c.underViews(storage.Namespace{DB: db, Coll: coll})
	if err != nil {
		return plainText
	}
	return metaOf(info).textMatcher()
}
