package transaction

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// beginTransaction opens a transaction for the session. An older one that is
// still open ends.
func beginTransaction(c *kernel.Call) error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if ss.Number == n && ss.State != session.TxnNone {
		return mongoerr.New(mongoerr.ConflictingOperationInProgress, "Only servers in a sharded cluster can start a new transaction at the active transaction number")
	}
	c.Svc.EndTransaction(ss, session.TxnAborted)
	c.Svc.Snapshots.Leave(ss.Key, c.Svc.Real)
	tx, err := c.Svc.Engine.Begin(c.Ctx)
	if errors.Is(err, storage.ErrManySnapshots) && snapshotGivesWay(c.Svc) {
		tx, err = c.Svc.Engine.Begin(c.Ctx)
	}
	if err != nil {
		return kernel.Translate(storage.Namespace{}, err)
	}
	t := &session.Transaction{Number: n, Now: c.Now, Started: c.Svc.Real.Now(), Level: c.Generic.Level, APIParameters: c.APIParameters(), Tx: tx}
	t.Log = c.Svc.Oplog.NewTxnRecorder(tx, c.Now, ss.RecordID, n)
	t.View = t.Log.Logged()
	ss.Number, ss.State, ss.History = n, session.TxnInProgress, nil
	ss.Txn.Store(t)
	c.Svc.Metrics.Transactions.Started.Add(1)
	return nil
}

// snapshotGivesWay forgets a snapshot for a transaction.
func snapshotGivesWay(s *kernel.Service) bool {
	s.Snapshots.Mu.Lock()
	defer s.Snapshots.Mu.Unlock()
	return s.Snapshots.GiveWay(s.Real.Now(), s.Engine.Snapshots())
}

// continueTransaction checks that the number is that of the open
// transaction.
func continueTransaction(c *kernel.Call) error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if ss.Number != n || ss.State == session.TxnRetryable || ss.State == session.TxnNone {
		return mongoerr.Newf(mongoerr.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d", n, ss.Number)
	}
	switch {
	case ss.State == session.TxnInProgress:
		t := ss.Txn.Load()
		c.Now = t.Now
		if api := c.APIParameters(); api != t.APIParameters {
			return mongoerr.Newf(mongoerr.APIMismatchError, "API parameter mismatch: %s used params %s, the transaction's first command used %s", c.Cmd.Name, api, t.APIParameters)
		}
		return nil
	case ss.State == session.TxnCommitted && c.Cmd.Has(kernel.Commits):
		return nil
	case ss.State == session.TxnCommitted:
		return mongoerr.Newf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been committed.", n)
	}
	return mongoerr.Newf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been aborted.", n)
}

// Reap aborts the transactions that have been open for longer
// than transactionLifetimeLimitSeconds, so that they do not block other writers
// any longer. It first ends the statement that is running in a transaction.
func Reap(s *kernel.Service, now time.Time) {
	limit := time.Duration(s.Params.Int("transactionLifetimeLimitSeconds")) * time.Second
	for _, ss := range s.Sessions.List() {
		t := ss.Txn.Load()
		if t == nil || now.Sub(t.Started) < limit {
			continue
		}
		KillStatements(s, ss, mongoerr.New(mongoerr.TransactionExceededLifetimeLimitSeconds, "operation was interrupted because the transaction exceeded the configured 'transactionLifetimeLimitSeconds'"))
		AbortLater(s, ss, t)
	}
}

// AbortLater aborts a transaction as soon as its session is free.
func AbortLater(s *kernel.Service, ss *session.Session, t *session.Transaction) {
	if !ss.TryCheckOut() {
		go func() {
			if ss.CheckOut(s.Background) == nil {
				AbortIfOpen(s, ss, t)
				ss.CheckIn()
			}
		}()
		return
	}
	AbortIfOpen(s, ss, t)
	ss.CheckIn()
}

// AbortIfOpen aborts a transaction if it is still the session's open one. The caller has
// the session's turn.
func AbortIfOpen(s *kernel.Service, ss *session.Session, t *session.Transaction) {
	if ss.Txn.Load() == t {
		s.EndTransaction(ss, session.TxnAborted)
	}
}

// KillStatements ends the commands that run in a session.
func KillStatements(s *kernel.Service, ss *session.Session, cause error) {
	s.Ops.Kill(cause, func(op *kernel.Operation) bool { return op.Session == ss })
}

// sessionEnded is called when a session is removed. The caller has the session's
// turn.
func sessionEnded(s *kernel.Service, ss *session.Session) {
	s.EndTransaction(ss, session.TxnAborted)
	s.Snapshots.Leave(ss.Key, s.Real)
}

// Housekeeping aborts transactions that have outlived
// transactionLifetimeLimitSeconds, and forgets snapshots that are old or left, until ctx ends.
func Housekeeping(s *kernel.Service, ctx context.Context) {
	for {
		limit := time.Duration(s.Params.Int("transactionLifetimeLimitSeconds")) * time.Second
		select {
		case <-ctx.Done():
			return
		case <-s.Real.After(min(max(limit/2, 100*time.Millisecond), time.Second)):
		}
		Reap(s, s.Real.Now())
		s.Snapshots.Mu.Lock()
		s.Snapshots.Expire(s.Real.Now(), s.Engine.Snapshots())
		s.Snapshots.Mu.Unlock()
	}
}

// ForgetLeft forgets snapshots as soon as they have been left for long enough, until ctx ends.
func ForgetLeft(s *kernel.Service, ctx context.Context) {
	limits := s.Engine.Snapshots()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Snapshots.Left():
		}
		for wait := limits.Linger; wait > 0; wait = s.Snapshots.ForgetLeft(s.Real.Now(), limits) {
			select {
			case <-ctx.Done():
				return
			case <-s.Real.After(wait):
			}
		}
	}
}
