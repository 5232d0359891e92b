package canonical

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// CheckCombination refuses a filter, a sort and a hint that contradict each other, in
// mongod's order: $near and $text need their own index, and $natural uses no index.
func (q *Query) CheckCombination() error {
	_, sorted := Natural(q.Sort)
	natural, hinted := value.Value{}, q.Hint.Kind() == value.KindString
	if q.Hint.Kind() == value.KindDocument {
		hinted = !q.Hint.Doc().IsEmpty()
		natural = q.Hint.Doc().Lookup("$natural")
	}
	text := (sorted || hinted) && HasText(q.Matcher.Root())
	reason := ""
	switch {
	case q.Near != nil && sorted:
		reason = "geoNear expression not allowed with $natural sort order"
	case q.Near != nil && !natural.IsMissing():
		reason = "geoNear expression not allowed with $natural hint"
	case text && sorted:
		reason = "text expression not allowed with $natural sort order"
	case text:
		reason = "text and hint not allowed in same query"
	default:
		_, _, err := NaturalAsHint(q.Sort, q.Hint)
		return err
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
	if wrongNatural(sort) {
		return nil, hint, errNaturalSort
	}
	direction, sorted := Natural(sort)
	if !sorted {
		return sort, hint, nil
	}
	if hint.Kind() == value.KindString || !hint.Doc().IsEmpty() {
		switch hinted, natural := Natural(hint.Doc()); {
		case !natural:
			return nil, hint, mongoerr.New(mongoerr.BadValue, "index hint not allowed with $natural sort order")
		case hinted != direction:
			return nil, hint, mongoerr.New(mongoerr.BadValue, "$natural hint must be in the same direction as $natural sort order")
		}
	}
	return nil, value.Document(sort), nil
}

var errNaturalSort = mongoerr.New(mongoerr.BadValue, "$natural sort cannot be set to a value other than -1 or 1.")
