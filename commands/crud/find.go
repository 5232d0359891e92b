package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

func runFind(c *kernel.Call) error {
	if handled, err := exec.FastFind(c); handled || err != nil {
		return err
	}
	if !c.Body.Lookup("singleBatch").Truthy() {
		// A cursor keeps parts of the command, whose message is overwritten.
		c.Body = c.Body.Clone()
	}
	a := new(exec.FindArgs)
	if err := exec.FindSpec.Decode(c.Body, a); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Query.Add(1)
	ns, err := exec.FindNamespace(c, a.Find)
	if err != nil {
		return err
	}
	if err := canonical.HeedQuerySettings(c, c.Body, false); err != nil {
		return err
	}
	size := int64(-1)
	if a.BatchSize != nil {
		size = *a.BatchSize
	}
	f, err := beginFind(c, ns, a, size)
	if err != nil {
		return kernel.Translate(ns, err)
	}
	return exec.FirstBatch(c, exec.CursorRequest{
		NS: ns, It: &exec.InContext{Src: f.It, Exec: f.Exec, NS: ns, What: f.What, Computed: len(a.Projection) > 0}, Exec: f.Exec, BatchSize: size, SingleBatch: bool(a.SingleBatch),
		NoTimeout: bool(a.NoTimeout), Tailable: f.Follows, AwaitData: bool(a.AwaitData),
	})
}

// beginFind opens a find, and reads its first documents if they are wanted in the first
// batch. It is a function of its own so that finds by _id do not allocate its closure.
func beginFind(c *kernel.Call, ns storage.Namespace, a *exec.FindArgs, size int64) (f *exec.Finder, err error) {
	err = c.InOneView(func() error {
		if f, err = openFind(c, ns, a); err == nil && size != 0 {
			f.Exec.ReadAhead(exec.FirstRead(size))
		}
		return err
	})
	return f, err
}

// openFind compiles a find and opens its iterator, all in one view:
//
//  1. It refuses options that contradict each other or the transaction.
//  2. It looks for the collection. A find on a view or a time series becomes a pipeline.
//  3. It compiles the filter with the collation and the variables, and the projection.
//  4. It notes which metadata and which fields the result needs: an index may have them all.
//  5. It plans the query and opens the chain of iterators (Finder.Open).
func openFind(c *kernel.Call, ns storage.Namespace, a *exec.FindArgs) (*exec.Finder, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if err := checkFindInTransaction(c, a); err != nil {
		return nil, err
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return nil, err
	}
	info, err := exec.Lookup(c, ns) // step 2
	if err != nil {
		return nil, err
	}
	m := catalog.Of(info)
	if m.ReadThrough() {
		return pipeline.FindOnView(c, ns, a)
	}
	if err := write.NoteRead(c, info); err != nil {
		return nil, err
	}
	f := &exec.Finder{Exec: exec.NewExecution(c), Query: a.Canonical(), What: exec.FindFailed}
	q := &f.Query // step 3
	if err := f.Exec.Compile(q, m, a.Collation, a.Let); err != nil {
		return nil, err
	}
	p, err := f.Projection(a)
	if err != nil {
		return nil, err
	}
	if err := q.NeedMeta(p, bool(a.ShowRecordID), bool(a.ReturnKey)); err != nil { // step 4
		return nil, err
	}
	q.Fields = a.Fields(p)
	if bool(a.Tailable) {
		if err := q.CheckTailable(); err != nil {
			return nil, err
		}
	}
	if bool(a.Tailable) && !m.Capped && info != nil {
		return nil, mongoerr.Newf(mongoerr.BadValue, "error processing query: ns=%s tailable cursor requested on non capped collection", ns)
	}
	return f, f.Open(c, info, a, p) // step 5
}

// checkFindInTransaction refuses what a transaction cannot do.
func checkFindInTransaction(c *kernel.Call, a *exec.FindArgs) error {
	switch {
	case c.Transaction() == nil:
		return nil
	case bool(a.Tailable):
		return mongoerr.New(mongoerr.InvalidOptions, "It is illegal to open a tailable cursor in a transaction")
	case bool(a.ReadOnce):
		return oplog.NotInTransaction("The 'readOnce' option is not supported within a transaction.")
	}
	return nil
}
