package commands

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// txnState is where a session's txnNumber stands.
type txnState uint8

const (
	txnNone       txnState = iota // no number yet
	txnRetryable                  // a retryable write
	txnInProgress                 // a transaction is open
	txnCommitted
	txnAborted
)

// String names the state as mongod's messages do.
func (s txnState) String() string {
	return [...]string{"TransactionState::None", "TransactionState::ExecutedRetryableWrite", "TransactionState::InProgress", "TransactionState::Committed", "TransactionState::AbortedWithoutPrepare"}[s]
}

// transaction is an open multi-document transaction. It belongs to whoever
// has the session's turn; what is written once at its beginning may be read
// by anyone.
type transaction struct {
	sends   queueChanges // what it does to queues; told once it has committed (t.sends.committed())
	number  int64
	now     int64     // instant of the first statement
	started time.Time // real time, for the limit on its lifetime
	level   string    // read concern
	api     string    // the parameters of the stable API that all statements must have
	tx      storage.Txn
	log     *recorder // what the commit will append to the change log
	view    storage.Tx
	cursors bool // it has opened cursors
	failed  bool // a statement failed in a way that ends it
}

// beginTransaction opens a transaction for the session. An older one that is
// still open ends.
func (c *Call) beginTransaction() error {
	ss, n := c.session, *c.generic.txnNumber
	if ss.number == n && ss.state != txnNone {
		return mongoerr.New(mongoerr.ConflictingOperationInProgress, "Only servers in a sharded cluster can start a new transaction at the active transaction number")
	}
	c.svc.endTransaction(ss, txnAborted)
	tx, err := c.svc.engine.Begin(c.ctx)
	if err != nil {
		return translate(storage.Namespace{}, err)
	}
	t := &transaction{number: n, now: c.now, started: c.svc.real.Now(), level: c.generic.level, api: c.apiParameters(), tx: tx}
	t.log = c.svc.oplog.newRecorder(tx, c.now)
	t.log.inTxn, t.log.lsid, t.log.txn = true, ss.recordID, n
	t.view = t.log.logged()
	ss.number, ss.state, ss.history = n, txnInProgress, nil
	ss.txn.Store(t)
	c.svc.metrics.transactions.started.Add(1)
	return nil
}

// continueTransaction checks that the number is that of the open
// transaction.
func (c *Call) continueTransaction() error {
	ss, n := c.session, *c.generic.txnNumber
	if ss.number != n || ss.state == txnRetryable || ss.state == txnNone {
		return mongoerr.Newf(mongoerr.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d", n, ss.number)
	}
	switch {
	case ss.state == txnInProgress:
		t := ss.txn.Load()
		c.now = t.now
		if api := c.apiParameters(); api != t.api {
			return mongoerr.Newf(mongoerr.APIMismatchError, "API parameter mismatch: %s used params %s, the transaction's first command used %s", c.cmd.name, api, t.api)
		}
		return nil
	case ss.state == txnCommitted && c.cmd.name == "commitTransaction":
		return nil
	case ss.state == txnCommitted:
		return mongoerr.Newf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been committed.", n)
	}
	return mongoerr.Newf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d, txnRetryCounter: 0 } has been aborted.", n)
}

// endTransaction leaves the session's open transaction, if any, in a final
// state, and lets those go on who wait for what it had written. The caller
// has the session's turn.
func (s *Service) endTransaction(ss *session, state txnState) {
	t := ss.txn.Load()
	if t == nil {
		return
	}
	t.tx.Abort() // after a commit this does nothing
	t.log.release()
	ss.txn.Store(nil)
	ss.state = state
	s.metrics.latency.transactions.observe(s.real.Now().Sub(t.started))
	if state == txnAborted {
		s.metrics.transactions.aborted.Add(1)
	} else {
		s.metrics.transactions.committed.Add(1)
	}
	if t.cursors {
		s.cursors.killWhere(func(cur *cursor) bool {
			return cur.session == ss && cur.txnNumber != nil && *cur.txnNumber == t.number
		})
	}
	s.sessions.txnEnded.signal()
}

// reapTransactions aborts the transactions that have been open for longer
// than transactionLifetimeLimitSeconds, so that none can hold up others for
// ever. A statement that is running in one is ended first.
func (s *Service) reapTransactions(now time.Time) {
	limit := time.Duration(s.params.int("transactionLifetimeLimitSeconds")) * time.Second
	for _, ss := range s.sessions.list() {
		t := ss.txn.Load()
		if t == nil || now.Sub(t.started) < limit {
			continue
		}
		s.killStatements(ss, mongoerr.New(mongoerr.TransactionExceededLifetimeLimitSeconds, "operation was interrupted because the transaction exceeded the configured 'transactionLifetimeLimitSeconds'"))
		s.abortLater(ss, t)
	}
}

// abortLater aborts a transaction as soon as its session is free.
func (s *Service) abortLater(ss *session, t *transaction) {
	if !ss.tryCheckOut() {
		go func() {
			if ss.checkOut(s.background) == nil {
				s.abortIfOpen(ss, t)
				ss.checkIn()
			}
		}()
		return
	}
	s.abortIfOpen(ss, t)
	ss.checkIn()
}

func (s *Service) abortIfOpen(ss *session, t *transaction) {
	if ss.txn.Load() == t {
		s.endTransaction(ss, txnAborted)
	}
}

// killStatements ends the commands that run in a session.
func (s *Service) killStatements(ss *session, cause error) {
	s.ops.kill(cause, func(op *operation) bool { return op.session == ss })
}

// sessionEnded is called with the turn when a session is forgotten.
func (s *Service) sessionEnded(ss *session) { s.endTransaction(ss, txnAborted) }

// lifetimeCheckEvery is how often transactions are looked over.
func (s *Service) transactionHousekeeping(ctx context.Context) {
	for {
		limit := time.Duration(s.params.int("transactionLifetimeLimitSeconds")) * time.Second
		select {
		case <-ctx.Done():
			return
		case <-s.real.After(min(max(limit/2, 100*time.Millisecond), time.Second)):
		}
		s.reapTransactions(s.real.Now())
	}
}
