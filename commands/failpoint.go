package commands

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// failing runs a command on which the fail point took effect.
func failing(s *kernel.Service, c *kernel.Call, d observe.FailData) error {
	if d.Block > 0 {
		if err := s.Block(c, d.Block); err != nil {
			return err
		}
		c.Began = s.Real.Now() // the wait does not count as the command's time
	}
	switch {
	case d.Closes:
		c.Response.Drop = true
		return nil
	case d.Code != 0:
		e := mongoerr.New(d.Code, "Failing command via 'failCommand' failpoint")
		for name, v := range d.Extra.All() {
			e = e.WithExtra(name, v)
		}
		c.FixedLabels, e.Labels = d.Labels != nil, d.Labels
		return e
	}
	err := execute(s, c)
	switch {
	case d.Concern == nil || !c.Cmd.Has(kernel.Writes):
	case err == nil:
		c.FixedLabels = d.Labels != nil
		concernFailed(c, d.Concern, d.Labels)
	default:
		c.Injected = d.Concern
		if d.Labels != nil {
			labelled := *mongoerr.From(err)
			labelled.Labels, c.FixedLabels = d.Labels, true
			return &labelled
		}
	}
	return err
}
