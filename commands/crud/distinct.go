package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
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
	d := &distinct{c: c, ns: ns, a: &a}
	if err := c.InOneView(d.open); err != nil {
		return err
	}
	if err := d.fill(); err != nil {
		return kernel.Translate(ns, err)
	}
	if err := c.AwaitReplyMemory(d.set.Bytes()); err != nil {
		return err
	}
	c.Reply.StartArray("values")
	for _, v := range d.set.Sorted() {
		c.Reply.Append("", v)
	}
	c.Reply.End()
	if c.Held != nil {
		c.Reply.Append("atClusterTime", clustertime.Value(c.Held.TS))
	}
	if d.throughView { // rewritten as an aggregation, whose answer mongod gives with an int
		c.NoOK = true
		c.Reply.Int32("ok", 1)
	}
	return nil
}

// distinct is a running distinct.
type distinct struct {
	c           *kernel.Call
	ns          storage.Namespace
	a           *exec.DistinctArgs
	set         *exec.DistinctSet
	throughView bool              // the pipeline of a view gives the documents
	src         exec.RecordSource // nil for a view, and without a collection
	refused     error             // what the query could not be opened for
}

// open plans the query and reads its first records.
func (d *distinct) open() error {
	info, err := exec.Lookup(d.c, d.ns)
	if err != nil {
		return err
	}
	if err := write.NoteRead(d.c, info); err != nil {
		return err
	}
	m := catalog.Of(info)
	collator, err := canonical.OperationCollation(d.a.Collation, m)
	if err != nil {
		return err
	}
	d.set, d.src, d.refused = exec.NewDistinctSet(d.a.Key, collator), nil, nil
	if d.throughView = m.ReadThrough(); !d.throughView {
		d.refused = d.openRecords(info, collator)
	}
	return nil
}

func (d *distinct) openRecords(info *storage.Info, collator value.Collator) (err error) {
	x := exec.NewExecution(d.c)
	x.Env.Bare = true // as in mongod, which has them only in aggregate, find and updates
	x.Env.Collation = collator
	q := d.a.Canonical()
	q.Collator, q.Scope = collator, d.c.Svc.RootScope()
	if err := canonical.CompileFilter(d.c, &q, catalog.Of(info)); err != nil || info == nil {
		return err
	}
	if d.src, err = exec.OpenRecords(d.c, x, info, &q); err == nil {
		x.ReadAhead(exec.FirstChunk)
	}
	return err
}

// fill collects the values.
func (d *distinct) fill() error {
	switch {
	case d.refused != nil:
		return d.refused
	case d.throughView:
		return pipeline.DistinctView(d.c, d.ns, d.a, d.set)
	case d.src == nil:
		return nil
	}
	defer d.src.Close()
	for {
		r, ok, err := d.src.Next()
		if !ok || err != nil {
			return err
		}
		if err := d.set.Add(d.c, r.Doc); err != nil {
			return err
		}
	}
}
