package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func runCount(c *kernel.Call) error {
	var a exec.CountArgs
	if err := exec.CountSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := exec.FindNamespace(c, a.Count)
	if err != nil {
		return err
	}
	if err := canonical.CheckHint(a.Hint); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Command.Add(1)
	n, err := count(c, ns, &a)
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Append("n", value.Int(n))
	return nil
}

func count(c *kernel.Call, ns storage.Namespace, a *exec.CountArgs) (n int64, err error) {
	limit, err := a.AtMost()
	if err != nil {
		return 0, err
	}
	var rest func() (int64, error)
	err = c.InOneView(func() error {
		n, rest, err = beginCount(c, ns, a, limit)
		return err
	})
	if err == nil && rest != nil {
		n, err = rest()
	}
	return n, err
}

// beginCount counts what matches, or prepares what takes longer: rest is nil, or counts.
func beginCount(c *kernel.Call, ns storage.Namespace, a *exec.CountArgs, limit int64) (n int64, rest func() (int64, error), err error) {
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return 0, nil, err
	}
	m := catalog.Of(info)
	if m.ReadThrough() {
		return 0, func() (int64, error) { return pipeline.CountView(c, ns, a, limit) }, nil
	}
	if err := write.NoteRead(c, info); err != nil {
		return 0, nil, err
	}
	x := exec.NewExecution(c)
	x.Env.Bare = true // as in mongod, which has them only in aggregate, find and updates
	q := a.Canonical()
	if err := x.Compile(&q, m, a.Collation, nil); err != nil || info == nil {
		return 0, nil, err
	}
	if n, ok, err := exec.CountWhole(c, info, &q); ok || err != nil {
		return exec.ClampCount(n, a.Skip, limit), nil, err
	}
	how, err := exec.ChooseAccessPath(c, x, info, &q)
	if err != nil {
		return 0, nil, err
	}
	wanted := int64(0)
	if limit > 0 {
		wanted = a.Skip + limit
	}
	if exec.Countable(how, info) {
		n, ok, err := exec.CountEntries(c, x, info, how.Plan, wanted)
		if ok || err != nil {
			return exec.ClampCount(n, a.Skip, limit), nil, err
		}
	}
	src, err := how.Open(x, info, &q)
	if err != nil {
		return 0, nil, err
	}
	x.ReadAhead(exec.FirstChunk)
	return 0, func() (int64, error) {
		n, err := countMatches(src, wanted)
		return exec.ClampCount(n, a.Skip, limit), err
	}, nil
}

// countMatches counts by reading the documents, up to a limit; 0: no limit.
func countMatches(src exec.RecordSource, limit int64) (n int64, err error) {
	defer src.Close()
	for limit == 0 || n < limit {
		_, ok, err := src.Next()
		if !ok || err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
