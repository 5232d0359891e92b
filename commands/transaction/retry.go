package transaction

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// InRetryableWrite runs a command that has a txnNumber outside a transaction.
func InRetryableWrite(c *kernel.Call) error {
	if err := c.RestoreSession(); err != nil {
		return err
	}
	if err := c.CheckNumber(); err != nil {
		return err
	}
	ss, n := c.Session, *c.Generic.TxnNumber
	if n > ss.Number {
		c.Svc.EndTransaction(ss, session.TxnAborted)
		ss.Number, ss.State, ss.History = n, session.TxnRetryable, ss.History.Forget()
	} else if ss.State != session.TxnRetryable {
		return mongoerr.New(mongoerr.IncompleteTransactionHistory, "Cannot retry a retryable write that has been converted into a transaction")
	}
	if err := c.ReadStatementIDs(); err != nil {
		return err
	}
	c.Retry.On, c.Retry.Stmt = true, oplog.NoStatement
	err := OutsideTransaction(c)
	if len(c.Retry.Retried) > 0 {
		c.Svc.Metrics.Transactions.RetriedCommands.Add(1)
		c.Svc.Metrics.Transactions.RetriedStatements.Add(int64(len(c.Retry.Retried)))
	}
	return err
}

// OutsideTransaction runs a command that is not a statement of a transaction.
func OutsideTransaction(c *kernel.Call) error {
	if c.Session != nil && c.Generic.Level != "snapshot" && !c.Cmd.Has(kernel.Continues) && c.Cmd.Name != "killCursors" {
		c.Svc.Snapshots.Leave(c.Session.Key, c.Svc.Real)
	}
	if c.Generic.ReadConcern != nil {
		if err := afterClusterTime(c); err != nil {
			return err
		}
		done, err := readSnapshot(c)
		if err != nil {
			return err
		}
		defer done()
	}
	return c.Cmd.Run(c)
}
