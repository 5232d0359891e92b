package agg

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// packPlan is how packs answer the stages at the head of a pipeline.
type packPlan interface {
	// open runs these stages over packs.
	open(x *Exec, src Packs) Iterator
	// replaces is how many stages they are.
	replaces() int
	// appendSpec writes what explain shows in place of the first of them, if
	// it shows them differently.
	appendSpec(b *value.Builder) bool
}

// planPacks is how packs with these fields answer the head of a pipeline, nil
// if they cannot.
func planPacks(stages []stage, shared, time string) packPlan {
	if len(stages) == 0 {
		return nil
	}
	switch s := stages[0].(type) {
	case *groupStage:
		if g := groupPacks(s, shared, time); g != nil {
			return g
		}
		if l := topPoint(s, shared, time); l != nil {
			return l
		}
	case *sortStage:
		if l := sortedPoint(stages, shared, time); l != nil {
			return l
		}
		if b := sortPacks(s, time); b != nil {
			return b
		}
	}
	return nil
}

// within reports whether a path is a field or lies below it.
func within(path, field string) bool {
	return field != "" && (path == field || strings.HasPrefix(path, field) && path[len(field)] == '.')
}
