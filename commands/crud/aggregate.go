package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/explain"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/value"
)

func runAggregate(c *kernel.Call) error {
	c.Body = c.Body.Clone() // the cursor keeps parts of it
	var a exec.AggregateArgs
	if err := exec.AggregateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Command.Add(1)
	size, err := a.Check()
	if err != nil {
		return err
	}
	explained := a.Explain.Bool()
	if err := concern.CheckStageConcern(c, value.Doc(a.Pipeline), explained); err != nil {
		return err
	}
	if explained {
		return explain.AggregateArgs(c, &a, "queryPlanner")
	}
	if err := canonical.HeedQuerySettings(c, c.Body, false); err != nil {
		return err
	}
	r, err := pipeline.OpenAggregate(c, &a)
	if err != nil {
		return err
	}
	req := exec.CursorRequest{NS: r.NS, It: r.It, Exec: r.Exec, BatchSize: size, SetOp: r.Exec.Resume}
	if r.Pipeline.IsChangeStream() {
		cs := c.Stream.(*changestream.Stream)
		if err := cs.Resume.Check(r.Pipeline); err != nil {
			r.It.Close()
			return err
		}
		req.Tailable, req.AwaitData, req.It = true, true, &changestream.End{Iterator: r.It, Stream: cs}
	}
	if r.Pipeline.Writes() {
		req.BatchSize = 0
		if err := pipeline.Drain(r.It); err != nil {
			return err
		}
		req.It, req.SingleBatch = exec.EmptyDocs{}, true
	}
	return exec.FirstBatch(c, req)
}
