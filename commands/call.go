package commands

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Call is one running command.
type Call struct {
	ctx       context.Context
	svc       *Service
	conn      *Conn
	cmd       *command
	DB        string
	Body      value.Doc
	sequences []Sequence
	legacy    bool
	now       int64 // the instant of the command, milliseconds
	generic   generic
	session   *session
	op        *operation
	reply     *value.Builder
	exhaust   bool
	response  Response
	// took and counts are for the profiler.
	took   time.Duration
	counts opCounts
	// fixedLabels tells that an error carries exactly the labels it is to.
	fixedLabels bool
	// noOK is set by commands that write "ok" themselves.
	noOK bool
	// sends is what the running engine transaction does to queues.
	sends queueChanges

	user           *auth.User // who runs the command, nil without access control
	authorizedOnly bool       // a listing shows only what the user may use
	authChanged    bool       // users or roles were written to
}

// view runs fn on the state the command may see: that of its transaction,
// else the latest.
func (c *Call) view(fn func(storage.Tx) error) error {
	if t := c.transaction(); t != nil {
		return fn(t.tx)
	}
	return c.svc.engine.View(c.ctx, fn)
}

// update runs fn as a writer: inside the command's transaction, else as an
// engine transaction of its own. A write that meets a record locked by an
// open transaction waits for that transaction to end.
func (c *Call) update(fn func(storage.Tx) error) error {
	if t := c.transaction(); t != nil {
		return fn(t.tx)
	}
	for {
		if err := c.waitUnlocked(); err != nil {
			return err
		}
		ended := c.svc.sessions.txnEnded.wait()
		c.sends.begin()
		err := c.svc.engine.Update(c.ctx, fn)
		if err == nil {
			c.sends.committed()
			c.svc.changes.signal()
			return nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return failedWrite(err)
		}
		select {
		case <-ended:
		case <-c.ctx.Done():
			return mongoerr.From(context.Cause(c.ctx))
		}
	}
}

// transaction is the open multi-document transaction of the command, if any.
func (c *Call) transaction() *transaction {
	if c.session == nil || c.generic.autocommit == nil {
		return nil
	}
	return c.session.txn
}

// interrupted tells whether the command was killed or ran out of time.
func (c *Call) interrupted() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return mongoerr.From(context.Cause(c.ctx))
}

// wait honours the write concern after a successful write.
func (c *Call) wait() error {
	if !c.generic.durable {
		return nil
	}
	return c.svc.engine.Sync(c.ctx)
}
