package pipeline

import (
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// eventFields are the fields of an event that are known before the event is made.
var eventFields = map[string]bool{"operationType": true, "ns": true, "ns.db": true, "ns.coll": true}

// findEvents gives a change stream the conditions of the following $match on
// eventFields, so that it need not make the events that cannot match. The $match itself
// stays.
func findEvents(p *stage.Parser, out *Pipeline) (err error) {
	if !out.IsChangeStream() || len(out.stages) < 2 {
		return nil
	}
	m, ok := out.stages[1].(*flow.Match)
	if !ok {
		return nil
	}
	head, _ := SplitFilter(m.Filter, func(c Condition) (Condition, bool) {
		known := len(c.paths) > 0
		for _, path := range c.paths {
			known = known && eventFields[path]
		}
		return c, known
	})
	if head == nil {
		return nil
	}
	first, err := flow.NewMatch(p, head)
	if err == nil {
		out.stages[0].(*source.Special).Source.Events = first.Matcher
	}
	return err
}
