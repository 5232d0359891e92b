package kernel

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// beginTransaction opens a transaction for the session. An older one that is
// still open ends.
func (c *Call) beginTransaction() error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if ss.Number == n && ss.State != session.TxnNone {
		return mongoerr.New(mongoerr.ConflictingOperationInProgress, "Only servers in a sharded cluster can start a new transaction at the active transaction number")
	}
	c.Svc.endTransaction(ss, session.TxnAborted)
	tx, err := c.Svc.Engine.Begin(c.Ctx)
	if err != nil {
		return Translate(storage.Namespace{}, err)
	}
	t := &session.Transaction{Number: n, Now: c.Now, Started: c.Svc.Real.Now(), Level: c.Generic.Level, Api: c.apiParameters(), Tx: tx}
	t.Log = c.Svc.Oplog.NewRecorder(tx, c.Now)
	t.Log.InTxn, t.Log.Lsid, t.Log.Txn = true, ss.RecordID, n
	t.View = t.Log.Logged()
	ss.Number, ss.State, ss.History = n, session.TxnInProgress, nil
	ss.Txn.Store(t)
	c.Svc.Metrics.Transactions.Started.Add(1)
	return nil
}

// continueTransaction checks that the number is that of the open
// transaction.
func (c *Call) continueTransaction() error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if ss.Number != n || ss.State == session.TxnRetryable || ss.State == session.TxnNone {
		return mongoerr.Newf(mongoerr.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d", n, ss.Number)
	}
	switch {
	case ss.State == session.TxnInProgress:
		t := ss.Txn.Load()
		c.Now = t.Now
		if api := c.apiParameters(); api != t.Api {
			return mongoerr.Newf(mongoerr.APIMismatchError, "API parameter mismatch: %s used params %s, the transaction's first command used %s", c.Cmd.Name, api, t.Api)
		}
		return nil
	case ss.State == session.TxnCommitted && c.Cmd.Name == "commitTransaction":
		return nil
	case ss.State == session.TxnCommitted:
		return mongoerr.Newf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been committed.", n)
	}
	return mongoerr.Newf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been aborted.", n)
}

// endTransaction leaves the session's open transaction, if any, in a final
// state, and lets those go on who wait for what it had written. The caller
// has the session's turn.
func (s *Service) endTransaction(ss *session.Session, state session.State) {
	t := ss.Txn.Load()
	if t == nil {
		return
	}
	t.Tx.Abort() // after a commit this does nothing
	t.Log.Release()
	ss.Txn.Store(nil)
	ss.State = state
	s.Metrics.Latency.Transactions.Observe(s.Real.Now().Sub(t.Started))
	if state == session.TxnAborted {
		s.Metrics.Transactions.Aborted.Add(1)
	} else {
		s.Metrics.Transactions.Committed.Add(1)
	}
	if t.Cursors {
		s.Cursors.KillWhere(func(cur *Cursor) bool {
			return cur.Session == ss && cur.TxnNumber != nil && *cur.TxnNumber == t.Number
		})
	}
	s.Sessions.TxnEnded.Signal()
}

// ReapTransactions aborts the transactions that have been open for longer
// than transactionLifetimeLimitSeconds, so that none can hold up others for
// ever. A statement that is running in one is ended first.
func (s *Service) ReapTransactions(now time.Time) {
	limit := time.Duration(s.Params.Int("transactionLifetimeLimitSeconds")) * time.Second
	for _, ss := range s.Sessions.List() {
		t := ss.Txn.Load()
		if t == nil || now.Sub(t.Started) < limit {
			continue
		}
		s.KillStatements(ss, mongoerr.New(mongoerr.TransactionExceededLifetimeLimitSeconds, "operation was interrupted because the transaction exceeded the configured 'transactionLifetimeLimitSeconds'"))
		s.AbortLater(ss, t)
	}
}

// AbortLater aborts a transaction as soon as its session is free.
func (s *Service) AbortLater(ss *session.Session, t *session.Transaction) {
	if !ss.TryCheckOut() {
		go func() {
			if ss.CheckOut(s.Background) == nil {
				s.AbortIfOpen(ss, t)
				ss.CheckIn()
			}
		}()
		return
	}
	s.AbortIfOpen(ss, t)
	ss.CheckIn()
}

func (s *Service) AbortIfOpen(ss *session.Session, t *session.Transaction) {
	if ss.Txn.Load() == t {
		s.endTransaction(ss, session.TxnAborted)
	}
}

// KillStatements ends the commands that run in a session.
func (s *Service) KillStatements(ss *session.Session, cause error) {
	s.Ops.Kill(cause, func(op *Operation) bool { return op.Session == ss })
}

// sessionEnded is called with the turn when a session is forgotten.
func (s *Service) sessionEnded(ss *session.Session) { s.endTransaction(ss, session.TxnAborted) }

// lifetimeCheckEvery is how often transactions are looked over.
func (s *Service) transactionHousekeeping(ctx context.Context) {
	for {
		limit := time.Duration(s.Params.Int("transactionLifetimeLimitSeconds")) * time.Second
		select {
		case <-ctx.Done():
			return
		case <-s.Real.After(min(max(limit/2, 100*time.Millisecond), time.Second)):
		}
		s.ReapTransactions(s.Real.Now())
	}
}
