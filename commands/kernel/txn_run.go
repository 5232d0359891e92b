package kernel

import (
	"context"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// TransactionCommands end transactions.
func TransactionCommands() []Command {
	return []Command{
		{Name: "commitTransaction", Run: runCommitTransaction, Flags: AdminOnly | InTxn | Writes, Help: "commit the session's transaction"},
		{Name: "abortTransaction", Run: runAbortTransaction, Flags: AdminOnly | InTxn | Writes, Help: "abort the session's transaction"},
	}
}

// InTransaction runs a statement of a multi-document transaction. A
// statement that fails aborts it.
func (c *Call) InTransaction() error {
	if err := c.restoreSession(); err != nil {
		return err
	}
	if err := c.checkNumber(); err != nil {
		return err
	}
	begin := c.continueTransaction
	if c.Generic.StartTxn != nil {
		begin = c.beginTransaction
	}
	if err := begin(); err != nil {
		return err
	}
	if err := c.afterClusterTime(); err != nil {
		return err
	}
	err := c.checkCatalogConcern()
	if err == nil {
		err = c.Cmd.Run(c)
	}
	t := c.Session.Txn.Load()
	if t != nil && (err != nil || t.Failed) && !EndOfTransaction[c.Cmd.Name] {
		c.Svc.endTransaction(c.Session, session.TxnAborted)
	}
	return err
}

// Transaction is the open multi-document transaction of the command, if any.
func (c *Call) Transaction() *session.Transaction {
	if c.Session == nil || c.Generic.Autocommit == nil {
		return nil
	}
	return c.Session.Txn.Load()
}

type endTransactionArgs struct {
	Commit          value.Value `arg:"commitTransaction"`
	Abort           value.Value `arg:"abortTransaction"`
	CommitTimestamp value.Value `arg:"commitTimestamp"`
	RecoveryToken   value.Doc   `arg:"recoveryToken"`
}

var (
	commitSpec = args.New[endTransactionArgs]("commitTransaction")
	abortSpec  = args.New[endTransactionArgs]("abortTransaction")
)

func runCommitTransaction(c *Call) error {
	var a endTransactionArgs
	if err := commitSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "commitTransaction must be run within a transaction")
	}
	if t := c.Transaction(); t != nil { // else it has been committed before
		if err := c.commit(t); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) commit(t *session.Transaction) error {
	if err := c.waitUnlocked(); err != nil {
		return err
	}
	// Once begun, a commit is not given up half way: what a cancelled one
	// has done would not be known.
	err := t.Tx.CommitWith(context.WithoutCancel(c.Ctx), func(tx storage.Tx) error {
		t.Log.Tx, t.Log.Now = tx, c.Svc.Clock.NowMillis()
		if err := t.Log.Flush(); err != nil {
			return err
		}
		return c.saveCommitted(tx, t)
	})
	if err != nil {
		c.Svc.endTransaction(c.Session, session.TxnAborted)
		return Translate(storage.Namespace{}, err)
	}
	t.Log.Committed()
	c.Svc.endTransaction(c.Session, session.TxnCommitted)
	c.Svc.Changes.Signal()
	return nil
}

func runAbortTransaction(c *Call) error {
	var a endTransactionArgs
	if err := abortSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "abortTransaction must be run within a transaction")
	}
	c.Svc.endTransaction(c.Session, session.TxnAborted)
	return nil
}

// DescribeTransaction is the part of currentOp about a transaction.
func (s *Service) DescribeTransaction(b *value.Builder, t *session.Transaction) {
	open := s.Real.Now().Sub(t.Started)
	limit := s.Params.Int("transactionLifetimeLimitSeconds")
	b.StartDocument("transaction")
	b.StartDocument("parameters").Int64("txnNumber", t.Number).Bool("autocommit", false)
	b.StartDocument("readConcern")
	if t.Level != "" {
		b.String("level", t.Level)
	}
	b.End().End()
	b.String("startWallClockTime", observe.IsoTime(t.Now)).Int64("timeOpenMicros", open.Microseconds()).
		String("expiryTime", observe.IsoTime(t.Now+limit*1000))
	b.End()
}
