package exec

import (
	"github.com/duskdb/duskdb/value"
)

// Plain reports whether the statement has no option that matters.
func (s *UpdateStatementArgs) Plain() bool {
	return !s.Multi && !s.Upsert && s.U.Kind() == value.KindDocument && s.C == nil && s.Collation == nil &&
		s.ArrayFilters == nil && s.Hint.IsMissing() && s.Sort == nil
}
