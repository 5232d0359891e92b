package kernel

import (
	"errors"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// OplogConfig returns what the change log needs of the server.
func (s *Service) OplogConfig() oplog.Config {
	return oplog.Config{
		Engine: s.Engine, Clock: s.Clock, Logger: &s.Log, Stamps: &s.Stamps, Term: &s.Leader.Term,
		Bytes: s.Options.OplogBytes, Retention: s.Options.OplogMinRetentionMillis,
		Locked: s.Fsync.Held, TxnBytes: func() int64 { return s.Params.Int("transactionSizeLimitBytes") },
		OnPurged: func(r ttl.Purged) { s.Monitor.Metrics().CountPurged(r) },
		OnGone:   s.forgetGone,
	}
}

// Record runs fn in a transaction whose changes are logged at its end.
func (c *Call) Record(tx storage.Tx, fn func(storage.Tx) error) error {
	if c.log != nil { // of an earlier attempt, which is discarded
		c.log.Release()
	}
	r := c.Svc.Oplog.NewRecorder(tx, c.Now)
	c.log = r
	if c.Retry.On {
		r.Statement.ID, r.Statement.Returns = c.Retry.Stmt, c.Retry.Image
	}
	if err := fn(r.Logged()); err != nil {
		return err
	}
	if err := c.failWrite(); err != nil {
		return err
	}
	if err := r.Flush(); err != nil {
		return err
	}
	return c.saveStatements(tx, r.Last())
}

// Recorded must be called after Record, when the transaction was committed or has failed.
func (c *Call) Recorded(err error) {
	r := c.log
	c.log = nil
	if !errors.Is(err, storage.ErrConflict) { // after a conflict the same transaction runs again
		c.Retry.fails = nil
	}
	if r == nil {
		return
	}
	if err == nil {
		r.Committed()
		c.statementsSaved()
	}
	r.Release()
}

// Recorder returns where the changes of the running transaction are noted, be it of the
// engine or a multi-document one; nil if none runs.
func (c *Call) Recorder() *oplog.Recorder {
	if t := c.Transaction(); t != nil {
		return t.Log
	}
	return c.log
}
