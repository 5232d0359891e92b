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
	r, err := openAggregate(c, &a, size)
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

// openAggregate opens a pipeline, and reads its first documents if they are wanted in the
// first batch.
func openAggregate(c *kernel.Call, a *exec.AggregateArgs, size int64) (r *pipeline.Aggregation, err error) {
	if exec.StartsStream(value.Doc(a.Pipeline)) || writes(value.Doc(a.Pipeline)) {
		return pipeline.OpenAggregate(c, a)
	}
	err = c.InOneView(func() error {
		if r, err = pipeline.OpenAggregate(c, a); err == nil && size != 0 {
			r.Exec.ReadAhead(exec.FirstChunk)
		}
		return err
	})
	return r, err
}

// writes reports whether a pipeline ends with $out or $merge.
func writes(pipeline value.Doc) (last bool) {
	for stage := range pipeline.Values() {
		name, _ := stage.Doc().First()
		last = name == "$out" || name == "$merge"
	}
	return last
}
