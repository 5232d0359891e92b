package pack

import (
	"strings"

	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Plan is how packs answer the stages at the head of a pipeline.
type Plan interface {
	// Open runs these stages over packs.
	Open(x *stage.Exec, src stage.Packs) stage.Iterator
	// Replaces is how many stages they are.
	Replaces() int
	// AppendSpec writes what explain shows in place of the first of them, if
	// it shows them differently.
	AppendSpec(b *value.Builder) bool
}

// NewPlan is how packs with these fields answer the head of a pipeline, nil
// if they cannot.
func NewPlan(stages []stage.Stage, shared, time string) Plan {
	if len(stages) == 0 {
		return nil
	}
	switch s := stages[0].(type) {
	case *group.Stage:
		if g := groupPacks(s, shared, time); g != nil {
			return g
		}
		if l := topPoint(s, shared, time); l != nil {
			return l
		}
	case *order.Stage:
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
