package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type deleteArgs struct {
	Delete  value.Value `arg:"delete,required"`
	Deletes array       `arg:"deletes"`
	Ordered flag        `arg:"ordered"`
	Let     value.Doc   `arg:"let"`
	Bypass  looseBool   `arg:"bypassDocumentValidation"`
	EncInfo value.Value `arg:"encryptionInformation"`
	UUID    uuidArg     `arg:"collectionUUID"`
}

type deleteStatementArgs struct {
	Q         value.Doc   `arg:"q,required"`
	Limit     value.Value `arg:"limit,required"`
	Collation value.Doc   `arg:"collation"`
	Hint      value.Value `arg:"hint,any"`
	SampleID  value.Value `arg:"sampleId"`
}

var (
	deleteSpec          = newArgs[deleteArgs]("delete")
	deleteStatementSpec = newArgs[deleteStatementArgs]("delete.deletes")
)

func runDelete(c *Call) error {
	a := deleteSpec.borrow()
	defer deleteSpec.giveBack(a)
	if err := deleteSpec.decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.writeNamespace(a.Delete)
	if err != nil {
		return err
	}
	statements, err := c.batch("deletes", a.Deletes)
	if err != nil {
		return err
	}
	c.svc.metrics.opcounters.remove.Add(int64(statements.n))
	w := newBatch(c, ns, a.Ordered.or(true), false)
	w.uuid = a.UUID
	defer w.release()
	if err := checkStatements(statements, readDelete); err != nil {
		return err
	}
	s := deleteStatementSpec.borrow()
	defer deleteStatementSpec.giveBack(s)
	for i := range statements.n {
		d, _ := statements.next()
		if err := s.read(d); err != nil {
			return err
		}
		out, err := c.deleteStatement(w, i, s, a.Let)
		w.n += out.matched
		if err != nil {
			if err := w.fail(i, err); err != nil {
				return err
			}
			if w.stopped {
				break
			}
		}
	}
	c.svc.metrics.document.deleted.Add(w.n)
	c.reply.Int32("n", int32(w.n))
	c.leavesNothing()
	w.finish()
	return nil
}

func readDelete(d value.Doc) (*deleteStatementArgs, error) {
	s := &deleteStatementArgs{}
	return s, s.read(d)
}

// read reads a statement in the place of the one before.
func (s *deleteStatementArgs) read(d value.Doc) error {
	*s = deleteStatementArgs{}
	if err := deleteStatementSpec.decodeNested("delete.deletes", d, s); err != nil {
		return err
	}
	if !s.Limit.IsNumber() {
		return wrongType("delete.deletes", "limit", s.Limit, numberTypes)
	}
	if limit, ok := s.Limit.AsInt64(); !ok || limit < 0 || limit > 1 {
		return mongoerr.Newf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", s.Limit)
	}
	return nil
}

// deleteStatement runs the i-th statement of a command.
func (c *Call) deleteStatement(w *batchWrite, i int, s *deleteStatementArgs, let value.Doc) (updated, error) {
	if done := c.statement(i); done != nil {
		return done.outcome(), nil
	}
	if err := c.checkSingle(s.multi(), "limit=0"); err != nil {
		return updated{}, err
	}
	if err := c.expectUUID(w.ns, w.uuid); err != nil {
		return updated{}, err
	}
	if out, handled, err := c.expressDelete(w, s, let); handled {
		return out, err
	}
	m := s.modification(w.ns, let)
	return c.modify(&m)
}

func (s *deleteStatementArgs) multi() bool { return s.Limit.SafeInt64() == 0 }

// modification is what the statement asks for.
func (s *deleteStatementArgs) modification(ns storage.Namespace, let value.Doc) modification {
	return modification{ns: ns, filter: s.Q, let: let, multi: s.multi(), collation: s.Collation, hint: s.Hint}
}
