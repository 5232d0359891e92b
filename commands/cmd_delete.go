package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type deleteArgs struct {
	Delete  value.Value `arg:"delete,required"`
	Deletes array       `arg:"deletes"`
	Ordered flag        `arg:"ordered"`
	Let     value.Doc   `arg:"let"`
	Bypass  looseBool   `arg:"bypassDocumentValidation"`
	EncInfo value.Value `arg:"encryptionInformation"`
}

type deleteStatementArgs struct {
	Q         value.Doc   `arg:"q,required"`
	Limit     value.Value `arg:"limit,required"`
	Collation value.Doc   `arg:"collation"`
	Hint      value.Value `arg:"hint"`
	SampleID  value.Value `arg:"sampleId"`
}

var (
	deleteSpec          = newArgs[deleteArgs]("delete")
	deleteStatementSpec = newArgs[deleteStatementArgs]("delete.deletes")
)

func runDelete(c *Call) error {
	var a deleteArgs
	if err := deleteSpec.decode(c.Body, &a); err != nil {
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
	w := &batchWrite{c: c, ns: ns, ordered: a.Ordered.or(true)}
	if err := checkStatements(statements, readDelete); err != nil {
		return err
	}
	for i := range statements.n {
		d, _ := statements.next()
		s, err := readDelete(d)
		if err != nil {
			return err
		}
		out, err := c.retried(i, func() (updated, error) { return c.deleteStatement(w, s, a.Let) })
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
	return w.finish()
}

func readDelete(d value.Doc) (*deleteStatementArgs, error) {
	s := &deleteStatementArgs{}
	if err := deleteStatementSpec.decodeNested("delete.deletes", d, s); err != nil {
		return nil, err
	}
	if !s.Limit.IsNumber() {
		return nil, wrongType("delete.deletes", "limit", s.Limit, numberTypes)
	}
	if limit, ok := s.Limit.AsInt64(); !ok || limit < 0 || limit > 1 {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", s.Limit)
	}
	return s, nil
}

func (c *Call) deleteStatement(w *batchWrite, s *deleteStatementArgs, let value.Doc) (updated, error) {
	multi := s.Limit.TruncInt64() == 0
	if err := c.checkSingle(multi, "limit=0"); err != nil {
		return updated{}, err
	}
	m := modification{ns: w.ns, filter: s.Q, let: let, multi: multi, collation: s.Collation, hint: s.Hint}
	return c.modify(&m)
}
