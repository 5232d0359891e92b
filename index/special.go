package index

import (
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

func validLanguage(string) bool { return true }

func (s *Spec) loadText() error { s.TextOptions = textOptions(s.doc); return nil }

func (s *Spec) specialCells(value.Doc, *Field) (cells, bool, error) {
	return nil, false, cannotCreate("Unknown index plugin '%s'", s.Kind)
}

func (s *Spec) cover(match.Node) plan.Intervals { return nil }
