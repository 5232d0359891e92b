package agg

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
)

func TestNames(t *testing.T) {
	if n := len(StageNames()); n != len(definitions)-5 {
		t.Errorf("%d stages", n)
	}
	if n := len(group.Accumulators()); n != 25 {
		t.Errorf("%d accumulators", n)
	}
	if n := len(window.Operators()); n != 35 {
		t.Errorf("%d window operators: %v", n, window.Operators())
	}
	if !slices.IsSortedFunc(definitions, func(a, b stage.Definition) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted")
	}
}
