package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// checkCombination refuses what a filter, a sort and a hint cannot say
// together, in mongod's order: $near and $text bring an index of their own,
// and the natural order is that of no index.
func (q *readQuery) checkCombination() error {
	_, sorted := isNatural(q.sort)
	natural, hinted := value.Value{}, q.hint.Kind() == value.KindString
	if q.hint.Kind() == value.KindDocument {
		hinted = !q.hint.Doc().IsEmpty()
		natural = q.hint.Doc().Lookup("$natural")
	}
	text := (sorted || hinted) && hasText(q.matcher.Root())
	reason := ""
	switch {
	case q.near != nil && sorted:
		reason = "geoNear expression not allowed with $natural sort order"
	case q.near != nil && !natural.IsMissing():
		reason = "geoNear expression not allowed with $natural hint"
	case text && sorted:
		reason = "text expression not allowed with $natural sort order"
	case text:
		reason = "text and hint not allowed in same query"
	case sorted && hinted && natural.IsMissing():
		reason = "index hint not allowed with $natural sort order"
	case sorted && hinted && natural.AsDouble() != q.sort.Lookup("$natural").AsDouble():
		reason = "$natural hint must be in the same direction as $natural sort order"
	default:
		return nil
	}
	return mongoerr.New(mongoerr.BadValue, reason)
}

// checkTailable refuses tailable cursors of filters that bring their own
// order.
func (q *readQuery) checkTailable() error {
	switch {
	case hasText(q.matcher.Root()):
		return mongoerr.New(mongoerr.BadValue, "text and tailable cursor not allowed in same query")
	case q.near != nil:
		return mongoerr.New(mongoerr.BadValue, "Tailable cursors and geo $near cannot be used together")
	}
	return nil
}
