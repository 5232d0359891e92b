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
	work      *workspace // that the Call is part of; nil outside of a connection
	ctx       context.Context
	kill      context.CancelCauseFunc
	transact  callTransaction        // see logged
	writing   func(storage.Tx) error // what the running engine transaction does
	svc       *Service
	conn      *Conn
	cmd       *command
	DB        string
	Body      value.Doc
	sequences []Sequence
	legacy    bool
	now       int64  // the instant of the command, milliseconds
	stamp     uint64 // $$CLUSTER_TIME of all its statements, 0: nothing has asked for it
	generic   generic
	session   *session
	op        *operation // nil until it runs
	reply     *value.Builder
	exhaust   bool
	response  Response
	// took and counts are for the profiler.
	began  time.Time // real time
	took   time.Duration
	counts opCounts
	// fixedLabels tells that an error carries exactly the labels it is to.
	fixedLabels bool
	// attempted tells that the command went as far as to write, whether it
	// did or not; unmet that the reply has a writeConcernError.
	attempted, unmet bool
	// unsynced is why what was written is not known to be on disk, although
	// the write concern asks for that.
	unsynced error
	// injected is the writeConcernError that a fail point gives an error.
	injected value.Doc
	// noOK is set by commands that write "ok" themselves.
	noOK bool
	// snapshot is the state that a read with read concern snapshot sees.
	snapshot storage.Tx
	held     *heldSnapshot
	// changeStream is set by commands that open or read a change stream.
	changeStream bool
	stream       liveStream // the change stream that the command has opened
	// log is where the changes of the running engine transaction are noted,
	// outside multi-document transactions.
	log   *recorder
	retry retryable
	// sends is what the running engine transaction does to queues.
	sends queueChanges

	user           *auth.User // who runs the command, nil without access control
	granted        *[]grant   // where what the client may do is noted, nil: nowhere
	authorizedOnly bool       // a listing shows only what the user may use
	authChanged    bool       // users or roles were written to
	forgotten      bool       // nothing looks at the Call when it is over

	settings *querySetting // what holds for the shape of the query; nil: nothing
	scripts  scripts       // in which the JavaScript of the command runs
}

// view runs fn on the state the command may see: that of its transaction,
// else the latest.
func (c *Call) view(fn func(storage.Tx) error) error {
	if t := c.transaction(); t != nil {
		return fn(t.view)
	}
	if c.snapshot != nil {
		return fn(c.snapshot)
	}
	return c.svc.engine.View(c.ctx, fn)
}

// update runs fn as a writer: inside the command's transaction, else as an
// engine transaction of its own. A write that meets a record locked by an
// open transaction waits for that transaction to end.
func (c *Call) update(fn func(storage.Tx) error) error {
	if t := c.transaction(); t != nil {
		return fn(t.view)
	}
	c.attempted = true
	for {
		if err := c.waitUnlocked(); err != nil {
			return err
		}
		ended := c.svc.sessions.txnEnded.count()
		c.writing = fn
		err := c.svc.share(c.ctx, c.logged())
		c.writing = nil
		c.recorded(err)
		if err == nil {
			c.sends.committed()
			c.svc.changes.signal()
			return nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return failedWrite(err)
		}
		select {
		case <-c.svc.sessions.txnEnded.after(ended):
		case <-c.ctx.Done():
			return mongoerr.From(context.Cause(c.ctx))
		}
	}
}

// logged is what an engine transaction of the command runs: the writes, whose
// changes are logged. It is made once for all commands that use the Call.
func (c *Call) logged() func(storage.Tx) error {
	if c.transact.of != c {
		c.transact = callTransaction{of: c, run: func(tx storage.Tx) error {
			c.sends.begin()
			return c.record(tx, c.writing)
		}}
	}
	return c.transact.run
}

// callTransaction is a function that belongs to a Call, but not to a copy.
type callTransaction struct {
	of  *Call
	run func(storage.Tx) error
}

// share runs an update that may be run again, and together with those of
// other commands, if the engine can do that.
func (s *Service) share(ctx context.Context, fn func(storage.Tx) error) error {
	if sharer, ok := s.engine.(storage.Sharer); ok {
		return sharer.UpdateShared(ctx, fn)
	}
	return s.engine.Update(ctx, fn)
}

// interrupted tells whether the command was killed or ran out of time.
func (c *Call) interrupted() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return mongoerr.From(context.Cause(c.ctx))
}
