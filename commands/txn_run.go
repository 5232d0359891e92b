package commands

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// transactionCommands end transactions.
func transactionCommands() []command {
	return []command{
		{name: "commitTransaction", run: runCommitTransaction, flags: adminOnly | inTxn | writes, help: "commit the session's transaction"},
		{name: "abortTransaction", run: runAbortTransaction, flags: adminOnly | inTxn | writes, help: "abort the session's transaction"},
	}
}

// String is how messages name a session: its id, the digest of its user, and
// what internal sessions have besides.
func (s *session) String() string {
	id := s.key.id
	return fmt.Sprintf("%x-%x-%x-%x-%x - %s -  - ", id[:4], id[4:6], id[6:8], id[8:10], id[10:], base64.StdEncoding.EncodeToString(s.record.uid[:]))
}

// inTransaction runs a statement of a multi-document transaction. A
// statement that fails aborts it.
func (c *Call) inTransaction() error {
	if err := c.restoreSession(); err != nil {
		return err
	}
	if err := c.checkNumber(); err != nil {
		return err
	}
	begin := c.continueTransaction
	if c.generic.startTxn != nil {
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
		err = c.cmd.run(c)
	}
	t := c.session.txn.Load()
	if t != nil && (err != nil || t.failed) && !endOfTransaction[c.cmd.name] {
		c.svc.endTransaction(c.session, txnAborted)
	}
	return err
}

// transaction is the open multi-document transaction of the command, if any.
func (c *Call) transaction() *transaction {
	if c.session == nil || c.generic.autocommit == nil {
		return nil
	}
	return c.session.txn.Load()
}

type endTransactionArgs struct {
	Commit          value.Value `arg:"commitTransaction"`
	Abort           value.Value `arg:"abortTransaction"`
	CommitTimestamp value.Value `arg:"commitTimestamp"`
	RecoveryToken   value.Doc   `arg:"recoveryToken"`
}

var (
	commitSpec = newArgs[endTransactionArgs]("commitTransaction")
	abortSpec  = newArgs[endTransactionArgs]("abortTransaction")
)

func runCommitTransaction(c *Call) error {
	var a endTransactionArgs
	if err := commitSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if c.generic.autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "commitTransaction must be run within a transaction")
	}
	if t := c.transaction(); t != nil { // else it has been committed before
		if err := c.commit(t); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) commit(t *transaction) error {
	if err := c.waitUnlocked(); err != nil {
		return err
	}
	// Once begun, a commit is not given up half way: what a cancelled one
	// has done would not be known.
	err := t.tx.CommitWith(context.WithoutCancel(c.ctx), func(tx storage.Tx) error {
		t.log.tx, t.log.now = tx, c.svc.clock.NowMillis()
		if err := t.log.flush(); err != nil {
			return err
		}
		return c.saveCommitted(tx, t)
	})
	if err != nil {
		c.svc.endTransaction(c.session, txnAborted)
		return translate(storage.Namespace{}, err)
	}
	t.log.committed()
	c.svc.endTransaction(c.session, txnCommitted)
	c.svc.changes.signal()
	return nil
}

func runAbortTransaction(c *Call) error {
	var a endTransactionArgs
	if err := abortSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if c.generic.autocommit == nil {
		return mongoerr.New(mongoerr.CommandFailed, "abortTransaction must be run within a transaction")
	}
	c.svc.endTransaction(c.session, txnAborted)
	return nil
}

// describeTransaction is the part of currentOp about a transaction.
func (s *Service) describeTransaction(b *value.Builder, t *transaction) {
	open := s.real.Now().Sub(t.started)
	limit := s.params.int("transactionLifetimeLimitSeconds")
	b.StartDocument("transaction")
	b.StartDocument("parameters").Int64("txnNumber", t.number).Bool("autocommit", false)
	b.StartDocument("readConcern")
	if t.level != "" {
		b.String("level", t.level)
	}
	b.End().End()
	b.String("startWallClockTime", isoTime(t.now)).Int64("timeOpenMicros", open.Microseconds()).
		String("expiryTime", isoTime(t.now+limit*1000))
	b.End()
}
