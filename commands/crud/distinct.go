package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func runDistinct(c *kernel.Call) error {
	var a exec.DistinctArgs
	if err := exec.DistinctSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := exec.FindNamespace(c, a.Distinct)
	if err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Command.Add(1)
	if err := canonical.HeedQuerySettings(c, c.Body, false); err != nil {
		return err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return err
	}
	if err := write.NoteRead(c, info); err != nil {
		return err
	}
	x := exec.NewExecution(c)
	x.Env.Bare = true // as in mongod, which has them only in aggregate, find and updates
	collator, err := canonical.OperationCollation(a.Collation, catalog.Of(info))
	if err != nil {
		return err
	}
	set := newDistinctSet(a.Key, collator)
	if err := fillDistinct(c, x, ns, info, &a, collator, set); err != nil {
		return kernel.Translate(ns, err)
	}
	if set.Bytes > kernel.MaxDocumentBytes {
		return mongoerr.New(17217, "distinct too big, 16mb cap")
	}
	c.Reply.Append("values", value.NewArray(set.Sorted()...))
	if c.Held != nil {
		c.Reply.Append("atClusterTime", clustertime.Value(c.Held.TS))
	}
	if catalog.Of(info).ReadThrough() { // rewritten as an aggregation, whose answer mongod gives with an int
		c.NoOK = true
		c.Reply.Int32("ok", 1)
	}
	return nil
}

func fillDistinct(c *kernel.Call, x *exec.Execution, ns storage.Namespace, info *storage.Info, a *exec.DistinctArgs, collator value.Collator, set *exec.DistinctSet) error {
	if catalog.Of(info).ReadThrough() {
		return pipeline.DistinctView(c, ns, a, set)
	}
	q := canonical.Query{Filter: a.Query, Hint: a.Hint, Collator: collator, Fields: []string{a.Key}, Distinct: a.Key}
	x.Env.Collation = collator
	if err := canonical.CompileFilter(c, &q, catalog.Of(info)); err != nil || info == nil {
		return err
	}
	src, err := exec.OpenRecords(c, x, info, &q)
	if err != nil {
		return err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if !ok || err != nil {
			return err
		}
		set.Add(r.Doc)
	}
}

func newDistinctSet(key string, c value.Collator) *exec.DistinctSet {
	return &exec.DistinctSet{Path: value.ParsePath(key), Collator: c, Seen: map[string]struct{}{}}
}
