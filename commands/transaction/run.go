package transaction

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Commands returns the commands that end transactions.
func Commands() []kernel.Command {
	return []kernel.Command{
		{Name: "commitTransaction", Run: runCommitTransaction, Flags: kernel.AdminOnly | kernel.InTxn | kernel.Writes | kernel.EndsTransaction | kernel.Commits, Help: "commit the session's transaction"},
		{Name: "abortTransaction", Run: runAbortTransaction, Flags: kernel.AdminOnly | kernel.InTxn | kernel.Writes | kernel.EndsTransaction, Help: "abort the session's transaction"},
	}
}

// InTransaction runs a statement of a multi-document transaction. A
// statement that fails aborts it.
func InTransaction(c *kernel.Call) error {
	unread := commitsOpen(c)
	if !unread {
		if err := c.RestoreSession(); err != nil {
			return err
		}
	}
	if err := c.CheckNumber(); err != nil {
		return err
	}
	begin := func() error { return continueTransaction(c) }
	if c.Generic.StartTxn != nil {
		begin = func() error { return beginTransaction(c) }
	}
	if err := begin(); err != nil {
		return recoverCommit(c, err)
	}
	if err := afterClusterTime(c); err != nil {
		return err
	}
	if t := c.Session.Txn.Load(); t != nil {
		t.Tx.Within(c.Ctx) // so that what ends the statement ends its reads
		if later, ok := t.Tx.(storage.LateClaimer); ok {
			later.ClaimLater()
		}
	}
	err := checkCatalogConcern(c)
	if err == nil {
		err = c.Cmd.Run(c)
	}
	t := c.Session.Txn.Load()
	if err == nil && t != nil && !t.Failed {
		err = claim(t)
	}
	if t != nil && (err != nil || t.Failed) && !c.Cmd.Has(kernel.EndsTransaction) {
		c.Svc.EndTransaction(c.Session, session.TxnAborted)
	}
	if unread && mongoerr.Is(err, mongoerr.InterruptedDueToReplStateChange) {
		return InTransaction(c) // what has been stored of the session has the answer
	}
	return err
}

// commitsOpen reports whether a command commits the transaction that is open here. The commit
// finds out whether another server has gone on with the session.
func commitsOpen(c *kernel.Call) bool {
	t := c.Session.Txn.Load()
	return c.Cmd.Has(kernel.Commits) && t != nil && c.Session.Restored && c.Generic.TxnNumber != nil && t.Number == *c.Generic.TxnNumber
}

// claim makes sure, at the end of a statement, that no other server has written what it has.
func claim(t *session.Transaction) error {
	if later, ok := t.Tx.(storage.LateClaimer); ok {
		return kernel.Translate(storage.Namespace{}, later.Claim())
	}
	return nil
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
	endPool    args.Pool[endTransactionArgs]
)

func runCommitTransaction(c *kernel.Call) error {
	a := endPool.Get()
	defer endPool.Put(a)
	if err := commitSpec.Decode(c.Body, a); err != nil {
		return err
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "commitTransaction must be run within a transaction")
	}
	if t := c.Transaction(); t != nil { // nil if it has been committed before
		if err := commit(c, t); err != nil {
			return err
		}
	}
	c.LeavesNothing()
	return nil
}

func commit(c *kernel.Call, t *session.Transaction) error {
	if err := c.WaitUnlocked(); err != nil {
		return err
	}
	// A commit that has begun is not cancelled, because its outcome would be
	// unknown.
	stored := c.Session.Stored // stays as it is if there is nothing to commit
	err := t.Tx.CommitWith(context.WithoutCancel(c.Ctx), func(tx storage.Tx) (err error) {
		t.Log.Tx, t.Log.Now = tx, c.Svc.Clock.NowMillis()
		if err := t.Log.Flush(); err != nil {
			return err
		}
		stored, err = c.SaveCommitted(tx, t)
		return err
	})
	if err != nil {
		c.Svc.EndTransaction(c.Session, session.TxnAborted)
		if errors.Is(err, storage.ErrUnavailable) {
			c.Session.Number-- // the next commit finds out what has become of this one, or prevents it
			c.Session.State = session.TxnNone
		}
		return kernel.Translate(storage.Namespace{}, err)
	}
	c.Session.Stored = stored
	t.Log.Committed()
	t.Queues.Committed()
	c.Svc.EndTransaction(c.Session, session.TxnCommitted)
	c.Svc.Changes.Signal()
	return nil
}

func runAbortTransaction(c *kernel.Call) error {
	var a endTransactionArgs
	if err := abortSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "abortTransaction must be run within a transaction")
	}
	c.Svc.EndTransaction(c.Session, session.TxnAborted)
	c.LeavesNothing()
	return nil
}

// DescribeTransaction writes the fields of currentOp about a transaction.
func DescribeTransaction(s *kernel.Service, b *value.Builder, t *session.Transaction) {
	open := s.Real.Now().Sub(t.Started)
	limit := s.Params.Int("transactionLifetimeLimitSeconds")
	b.StartDocument("transaction")
	b.StartDocument("parameters").Int64("txnNumber", t.Number).Bool("autocommit", false)
	b.StartDocument("readConcern")
	if t.Level != "" {
		b.String("level", t.Level)
	}
	b.End().End()
	b.String("startWallClockTime", observe.ISOTime(t.Now)).Int64("timeOpenMicros", open.Microseconds()).
		String("expiryTime", observe.ISOTime(t.Now+limit*1000))
	b.End()
}

// OpenLog opens the change log and the records of sessions.
func OpenLog(s *kernel.Service) error {
	s.Oplog = oplog.New(s.OplogConfig())
	s.Sessions.OnEnd = func(ss *session.Session) { sessionEnded(s, ss) }
	s.Snapshots.Join(s.Engine, s.Real)
	if err := s.Oplog.Open(s.Background); err != nil {
		return err
	}
	return session.OpenRecords(s.Background, s.Engine)
}
