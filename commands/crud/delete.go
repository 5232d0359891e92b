package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/value"
)

type deleteArgs struct {
	Delete  value.Value    `arg:"delete,required"`
	Deletes args.Array     `arg:"deletes"`
	Ordered args.Flag      `arg:"ordered"`
	Let     value.Doc      `arg:"let"`
	Bypass  args.LooseBool `arg:"bypassDocumentValidation"`
	EncInfo value.Value    `arg:"encryptionInformation"`
	UUID    args.UUID      `arg:"collectionUUID"`
}

var (
	deleteSpec          = args.New[deleteArgs]("delete")
	deletePool          args.Pool[deleteArgs]
	deleteStatementPool args.Pool[write.DeleteStatementArgs]
)

func runDelete(c *kernel.Call) error {
	a := deletePool.Get()
	defer deletePool.Put(a)
	if err := deleteSpec.Decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.WriteNamespace(a.Delete)
	if err != nil {
		return err
	}
	statements, err := gate.Batch(c, "deletes", a.Deletes)
	if err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Remove.Add(int64(statements.N))
	w := newBatch(c, ns, a.Ordered.Or(true), false)
	w.UUID = a.UUID
	defer w.Release()
	s := deleteStatementPool.Get()
	defer deleteStatementPool.Put(s)
	err = eachStatement(w, statements, s.Read, func(i int) error {
		out, err := deleteStatement(c, w, i, s, a.Let)
		w.N += out.Matched
		return err
	})
	if err != nil {
		return err
	}
	c.Svc.Metrics.Document.Deleted.Add(w.N)
	c.Reply.Int32("n", int32(w.N))
	c.LeavesNothing()
	w.Finish()
	return nil
}

// deleteStatement runs the i-th statement of a command.
func deleteStatement(c *kernel.Call, w *write.BatchWrite, i int, s *write.DeleteStatementArgs, let value.Doc) (write.Updated, error) {
	if done := c.Statement(i); done != nil {
		return write.OutcomeOf(done), nil
	}
	if err := c.CheckSingle(s.Multi(), "limit=0"); err != nil {
		return write.Updated{}, err
	}
	if err := c.ExpectUUID(w.NS, w.UUID); err != nil {
		return write.Updated{}, err
	}
	if out, handled, err := write.FastDelete(c, w, s, let); handled {
		return out, err
	}
	m := s.Modification(w.NS, let)
	_, out, err := write.Modify(c, &m)
	return out, err
}
