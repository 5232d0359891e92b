package commands

import (
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// appendUnmetConcern adds a write concern error to the reply of a write if its write
// concern is not satisfied: it requires more members than the set has, or the wait for
// the disk failed.
func appendUnmetConcern(c *kernel.Call) {
	if c.Transaction() != nil {
		return
	}
	code, text := concern.UnmetReason(c)
	if code == mongoerr.OK {
		return
	}
	var labels []string
	if c.Unsynced != nil && c.Cmd.Has(kernel.Commits) {
		labels = []string{mongoerr.LabelUnknownCommitResult} // to be sent again
	}
	concernFailed(c, concern.ConcernError(c, code, text), labels)
}

// concernFailed adds a write concern error to the reply of a command that otherwise
// succeeded, with the labels of the error's code and the given labels.
func concernFailed(c *kernel.Call, d value.Doc, labels []string) {
	if c.Unmet {
		return
	}
	c.Unmet = true
	c.Reply.Document("writeConcernError", d)
	tellTopology(c, mongoerr.Code(d.Lookup("code").SafeInt64()))
	if !c.FixedLabels {
		labels = append(labels, mongoerr.LabelsFor(mongoerr.OK, mongoerr.Operation{
			InTransaction: c.Generic.Autocommit != nil, CommitOrAbort: c.Cmd.Has(kernel.EndsTransaction),
			RetryableWrite: c.Generic.TxnNumber != nil && c.Generic.Autocommit == nil,
			WriteConcern:   mongoerr.Code(d.Lookup("code").SafeInt64()),
		})...)
	}
	if len(labels) == 0 {
		return
	}
	c.Reply.StartArray("errorLabels")
	for _, l := range labels {
		c.Reply.String("", l)
	}
	c.Reply.End()
}
