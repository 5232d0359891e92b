package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
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
	if n == int64(int32(n)) {
		c.Reply.Int32("n", int32(n))
	} else {
		c.Reply.Int64("n", n)
	}
	return nil
}

func count(c *kernel.Call, ns storage.Namespace, a *exec.CountArgs) (int64, error) {
	limit, err := a.AtMost()
	if err != nil {
		return 0, err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return 0, err
	}
	m := catalog.Of(info)
	if m.ReadThrough() {
		return pipeline.CountView(c, ns, a, limit)
	}
	if err := write.NoteRead(c, info); err != nil {
		return 0, err
	}
	x := exec.NewExecution(c)
	x.Env.Bare = true // as in mongod, which has them only in aggregate, find and updates
	q := canonical.Query{Filter: a.Query, Hint: a.Hint, Fields: []string{}}
	if q.Collator, err = canonical.OperationCollation(a.Collation, m); err != nil {
		return 0, err
	}
	x.Env.Collation = q.Collator
	if err := canonical.CompileFilter(c, &q, m); err != nil {
		return 0, err
	}
	if info == nil {
		return 0, nil
	}
	if n, ok, err := exec.CountWhole(c, info, &q); ok || err != nil {
		return exec.ClampCount(n, a.Skip, limit), err
	}
	how, err := exec.ChooseAccessPath(c, x, info, &q)
	if err != nil {
		return 0, err
	}
	most := int64(0)
	if limit > 0 {
		most = a.Skip + limit
	}
	if exec.Countable(how, info) {
		n, ok, err := exec.CountEntries(c, x, info, how.Plan, most)
		if ok || err != nil {
			return exec.ClampCount(n, a.Skip, limit), err
		}
	}
	n, err := countMatches(c, x, info, how, &q, most)
	return exec.ClampCount(n, a.Skip, limit), err
}

// countMatches counts by reading the documents, until there are most of them
// unless that is 0.
func countMatches(c *kernel.Call, x *exec.Execution, info *storage.Info, how *exec.AccessPath, q *canonical.Query, most int64) (n int64, err error) {
	src, err := how.Open(x, info, q)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	for most == 0 || n < most {
		_, ok, err := src.Next()
		if !ok || err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
