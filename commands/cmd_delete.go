package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type deleteArgs struct {
	Delete  value.Value `arg:"delete,required"`
	Deletes array       `arg:"deletes"`
	Ordered *bool       `arg:"ordered"`
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
	ns, err := c.namespaceOf(a.Delete)
	if err != nil {
		return err
	}
	statements, n, err := c.batch("deletes", a.Deletes)
	if err != nil {
		return err
	}
	c.svc.metrics.opcounters.remove.Add(int64(n))
	w := &batchWrite{c: c, ns: ns, ordered: a.Ordered == nil || *a.Ordered}
	for i, d := range statements {
		out, err := c.retried(i, func() (updated, error) { return c.deleteStatement(w, d, a.Let) })
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

func (c *Call) deleteStatement(w *batchWrite, d, let value.Doc) (updated, error) {
	var s deleteStatementArgs
	if err := deleteStatementSpec.decodeNested("delete.deletes", d, &s); err != nil {
		return updated{}, err
	}
	limit, ok := s.Limit.AsInt64()
	if !s.Limit.IsNumber() {
		return updated{}, wrongType("delete.deletes", "limit", s.Limit, numberTypes)
	}
	if !ok || limit < 0 || limit > 1 {
		return updated{}, mongoerr.Newf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", s.Limit)
	}
	if err := c.checkSingle(limit == 0, "limit=0"); err != nil {
		return updated{}, err
	}
	m := modification{ns: w.ns, filter: s.Q, let: let, multi: limit == 0, collation: s.Collation, hint: s.Hint}
	return c.modify(&m)
}
