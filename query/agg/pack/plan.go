package pack

import (
	"strings"

	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Plan runs the first stages of a pipeline on packs.
type Plan interface {
	// Open runs these stages over packs.
	Open(x *stage.Exec, src stage.Packs) stage.Iterator
	// Replaces returns the number of these stages.
	Replaces() int
	// AppendSpec writes what explain shows in place of the first of these stages. It
	// returns false if explain shows them as they are.
	AppendSpec(b *value.Builder) bool
}

// NewPlan returns the plan for packs with these fields, nil if stages cannot be run on
// packs.
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
