package canonical

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// CheckCombination refuses a filter, a sort and a hint that contradict each other, in
// mongod's order: $near and $text need their own index, and $natural uses no index.
func (q *Query) CheckCombination() error {
	_, sorted := Natural(q.Sort)
	text := (sorted || !q.Hint.IsZero()) && HasText(q.Matcher.Root())
	reason := ""
	switch {
	case q.Near != nil && sorted:
		reason = "geoNear expression not allowed with $natural sort order"
	case q.Near != nil && q.Hint.Natural != 0:
		reason = "geoNear expression not allowed with $natural hint"
	case text && sorted:
		reason = "text expression not allowed with $natural sort order"
	case text:
		reason = "text and hint not allowed in same query"
	default:
		return checkNatural(q.Sort, q.Hint)
	}
	return mongoerr.New(mongoerr.BadValue, reason)
}

// CheckTailable refuses tailable cursors of filters that bring their own
// order.
func (q *Query) CheckTailable() error {
	switch {
	case HasText(q.Matcher.Root()):
		return mongoerr.New(mongoerr.BadValue, "text and tailable cursor not allowed in same query")
	case q.Near != nil:
		return mongoerr.New(mongoerr.BadValue, "Tailable cursors and geo $near cannot be used together")
	}
	return nil
}

// NaturalAsHint replaces a sort by $natural by the hint that it is: a pipeline cannot have
// such a sort. It refuses a hint that contradicts the sort.
func NaturalAsHint(sort value.Doc, hint value.Value) (value.Doc, value.Value, error) {
	if err := checkNatural(sort, HintOf(hint)); err != nil {
		return nil, hint, err
	}
	if _, natural := Natural(sort); natural {
		return nil, value.Document(sort), nil
	}
	return sort, hint, nil
}

// checkNatural refuses a wrong sort by $natural, and a hint that contradicts it.
func checkNatural(sort value.Doc, hint plan.Hint) error {
	if wrongNatural(sort) {
		return errNaturalSort
	}
	direction, sorted := Natural(sort)
	switch {
	case !sorted || hint.IsZero():
		return nil
	case hint.Natural == 0:
		return mongoerr.New(mongoerr.BadValue, "index hint not allowed with $natural sort order")
	case hint.Natural != direction:
		return mongoerr.New(mongoerr.BadValue, "$natural hint must be in the same direction as $natural sort order")
	}
	return nil
}

var errNaturalSort = mongoerr.New(mongoerr.BadValue, "$natural sort cannot be set to a value other than -1 or 1.")
