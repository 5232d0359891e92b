package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type insertArgs struct {
	Insert    value.Value     `arg:"insert,required"`
	Documents args.Array      `arg:"documents"`
	Ordered   args.Flag       `arg:"ordered"`
	Bypass    args.LooseBool  `arg:"bypassDocumentValidation"`
	EmptyTS   args.StrictBool `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	EncInfo   value.Value     `arg:"encryptionInformation"`
	UUID      args.UUID       `arg:"collectionUUID"`
}

var (
	insertSpec = args.New[insertArgs]("insert")
	insertPool args.Pool[insertArgs]
)

func runInsert(c *kernel.Call) error {
	a := insertPool.Get()
	defer insertPool.Put(a)
	if err := insertSpec.Decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.WriteNamespace(a.Insert)
	if err != nil {
		return err
	}
	docs, err := gate.Batch(c, "documents", a.Documents)
	if err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Insert.Add(int64(docs.N))
	w := newBatch(c, ns, a.Ordered.Or(true), bool(a.Bypass))
	w.UUID = a.UUID
	defer w.Release()
	if err := w.InsertAll(docs); err != nil {
		return err
	}
	c.Svc.Metrics.Document.Inserted.Add(w.N)
	c.Reply.Int32("n", int32(w.N))
	c.LeavesNothing()
	w.Finish()
	return nil
}

// newBatch begins a write command. The caller ends it with release.
func newBatch(c *kernel.Call, ns storage.Namespace, ordered, bypass bool) *write.BatchWrite {
	w := write.BatchWrites.Get().(*write.BatchWrite)
	w.C, w.NS, w.Ordered, w.Bypass = c, ns, ordered, bypass
	return w
}
