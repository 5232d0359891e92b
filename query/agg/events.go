package agg

// eventFields are the fields of an event that tell, without it being made,
// whether a filter can match.
var eventFields = map[string]bool{"operationType": true, "ns": true, "ns.db": true, "ns.coll": true}

// findEvents tells a change stream which events the $match behind it can let
// through, so that the others need not be made. The $match itself stays.
func (p *parser) findEvents(out *Pipeline) (err error) {
	if !out.IsChangeStream() || len(out.stages) < 2 {
		return nil
	}
	m, ok := out.stages[1].(*matchStage)
	if !ok {
		return nil
	}
	head, _ := splitFilter(m.filter, func(c conjunct) (conjunct, bool) {
		known := len(c.paths) > 0
		for _, path := range c.paths {
			known = known && eventFields[path]
		}
		return c, known
	})
	if head == nil {
		return nil
	}
	first, err := p.newMatch(head)
	if err == nil {
		out.stages[0].(*specialStage).special.Events = first.matcher
	}
	return err
}
