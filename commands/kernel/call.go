package kernel

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/runtimehints"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Call is one running command. Its parts are embedded, so that c.DB is the database of
// the request; each is described with its type.
type Call struct {
	Svc  *Service                // the server that runs it
	Conn *Conn                   // the connection that sent it
	Cmd  *Command                // its entry in the command table
	Ctx  context.Context         // ends when the command is killed or its client disconnects
	Kill context.CancelCauseFunc // ends Ctx
	Now  int64                   // the command's time, used for all its steps, in milliseconds

	Request
	Generic Generic // the arguments that every command takes
	Authorization
	Outcome
	Progress
	SessionState
	QueryState
	transactions

	turn     limits.Turn // its place among the commands that wait while memory is short
	steps    int         // counted up to longSteps
	Work     *workspace  // the memory that holds the Call; nil for work of the server itself
	reusable bool        // whether nothing uses the Call after the command
	long     bool        // whether TakesLong was called
}

// Authorization is the user of a command and the user's privileges.
type Authorization struct {
	User           *auth.User       // nil without access control
	Granted        *[]session.Grant // receives the privileges that are checked; nil: not recorded
	AuthorizedOnly bool             // a listing shows only what the user may use
}

// Outcome is the reply of a command, and the state that affects it.
type Outcome struct {
	Reply    *value.Builder // the reply so far
	Response Response       // how the server sends the reply
	NoOK     bool           // the command writes "ok" itself

	// FixedLabels reports whether an error has its labels already, and gets no others.
	FixedLabels bool
	// Attempted reports whether the command went as far as to write, successfully or
	// not.
	Attempted bool
	// Unmet reports whether the reply has a writeConcernError.
	Unmet bool
	// Unsynced is the error of the wait for the disk that the write concern asks for.
	Unsynced error
	// Injected is the writeConcernError that a fail point adds.
	Injected value.Doc
}

// Progress is what currentOp, the profiler and the metrics show of a command.
type Progress struct {
	Op     *Operation    // nil until the command runs
	Began  time.Time     // real time
	Took   time.Duration // set when the command is over
	Counts observe.Counts
}

// SessionState is the state of a command that depends on its session: its snapshot and its
// retryable write.
type SessionState struct {
	Session  *session.Session // nil: none
	Retry    retryable
	Snapshot storage.Tx            // the state that a read with read concern "snapshot" sees; nil: the latest
	Held     *session.HeldSnapshot // the registered snapshot behind Snapshot
	Stamp    uint64                // $$CLUSTER_TIME in all its statements; 0: not used yet
}

// QueryState is the state that the queries of a command share.
type QueryState struct {
	Settings     *QuerySetting // the query settings of its shape; nil: none
	Scripts      scripts       // the scopes of its JavaScript
	ChangeStream bool          // the command opens or reads a change stream
	Wanted       int64         // documents still missing from its batch; 0: unknown
	Stream       liveStream    // the change stream that the command has opened
}

// transactions runs the engine transactions of a command, one after the other.
type transactions struct {
	sharedView storage.Tx             // the View that the reads share, see InOneView
	transact   callTransaction        // the cached function that logged returns
	writing    func(storage.Tx) error // the function that the running one calls
	log        *oplog.Recorder        // notes its changes, outside multi-document transactions
	// queues has the changes of the running one to queues; nil: it has none.
	queues *queue.Changes
}

// View runs fn on the state that the command reads: that of its transaction or snapshot,
// else the latest.
func (c *Call) View(fn func(storage.Tx) error) error { return c.view(fn, storage.Engine.View) }

// ViewBriefly is View for a function that is likely to read once, and that starts over
// each time it runs.
func (c *Call) ViewBriefly(fn func(storage.Tx) error) error {
	return c.view(fn, briefly)
}

func briefly(e storage.Engine, ctx context.Context, fn func(storage.Tx) error) error {
	return storage.ViewBriefly(ctx, e, fn)
}

func (c *Call) view(fn func(storage.Tx) error, view func(storage.Engine, context.Context, func(storage.Tx) error) error) error {
	if t := c.Transaction(); t != nil {
		return fn(t.View)
	}
	if c.Snapshot != nil {
		return fn(c.Snapshot)
	}
	if c.sharedView != nil {
		return fn(c.sharedView)
	}
	return view(c.Svc.Engine, c.Ctx, fn)
}

// InOneView runs a part of a command whose Views see one state: they are one View of the
// engine. After an Update of the part, its reads see the latest state again. A part should
// be short, as the engine keeps the state for it.
func (c *Call) InOneView(part func() error) error {
	if c.sharedView != nil || c.Snapshot != nil || c.Transaction() != nil {
		return part()
	}
	defer func() { c.sharedView = nil }()
	return c.Svc.Engine.View(c.Ctx, func(tx storage.Tx) error {
		c.sharedView = tx
		return part()
	})
}

// SharesView reports whether a part of the command runs in one View.
func (c *Call) SharesView() bool { return c.sharedView != nil }

// Update runs fn as a writer: inside the command's transaction, else as an
// engine transaction of its own. A write that meets a record locked by an
// open transaction waits for that transaction to end (see conflictWait).
func (c *Call) Update(fn func(storage.Tx) error) error {
	if t := c.Transaction(); t != nil {
		return fn(t.View)
	}
	c.Attempted = true
	var wait conflictWait
	c.sharedView = nil
	for {
		if err := c.WaitUnlocked(); err != nil {
			return err
		}
		ended := c.Svc.Sessions.TxnEnded.Count()
		c.writing = fn
		err := c.Svc.share(c.Ctx, c.logged())
		c.writing = nil
		c.Recorded(err)
		if err == nil {
			c.queues.Committed()
			c.Svc.Changes.Signal()
			if c.Svc.disk.full.Load() {
				c.Svc.NoteDiskRoom()
			}
			return nil
		}
		if DiskFull(err) {
			c.Svc.NoteDiskFull(err)
		}
		if !errors.Is(err, storage.ErrConflict) {
			return FailedWrite(err)
		}
		if stop := wait.next(c, ended, err); stop != nil {
			return stop
		}
	}
}

// logged returns the function that an engine transaction of the command calls: it writes,
// and logs the changes. It is made once for all commands that use the Call.
func (c *Call) logged() func(storage.Tx) error {
	if c.transact.of != c {
		c.transact = callTransaction{of: c, run: func(tx storage.Tx) error {
			c.queues.Begin()
			return c.Record(tx, c.writing)
		}}
	}
	return c.transact.run
}

// callTransaction is the cached transaction function of a Call. The field of shows whether the
// Call was copied since: then the function is made anew.
type callTransaction struct {
	of  *Call
	run func(storage.Tx) error
}

// share runs an update. If the engine can, it combines the updates of several commands in
// one commit, and may call fn more than once.
func (s *Service) share(ctx context.Context, fn func(storage.Tx) error) error {
	if sharer, ok := s.Engine.(storage.Sharer); ok {
		return sharer.UpdateShared(ctx, fn)
	}
	return s.Engine.Update(ctx, fn)
}

// Interrupted returns why the command must stop, if it was killed or ran out of time;
// nil otherwise.
func (c *Call) Interrupted() error {
	if c.Svc.FailPoints.Interrupts.On() {
		c.failInterrupt()
	}
	if c.Ctx.Err() == nil {
		return nil
	}
	return mongoerr.From(context.Cause(c.Ctx))
}

// LargeReply is the size, in bytes, from which a reply waits for memory.
const LargeReply = 1 << 20

// AwaitReplyMemory is called before a reply grows to a size. A large reply waits for its
// share of the memory for replies, as clients may be slow to read them.
func (c *Call) AwaitReplyMemory(size int) error {
	if size <= LargeReply || c.Conn == nil || c.Conn.LargeReply == nil {
		return nil
	}
	if err := c.Conn.LargeReply(c.Ctx); err != nil {
		return cmp.Or(c.Interrupted(), err)
	}
	if room := cap(c.Reply.Bytes()) - len(c.Reply.Bytes()); c.Reply.Len()+room < size {
		c.Reply.Grow(max(size-c.Reply.Len(), min(size, maxReplyGrowth))) // Go would copy it many more times
	}
	return nil
}

// maxReplyGrowth is the room that a large reply gets at once, unless it needs more.
const maxReplyGrowth = 8 << 20

// Step returns why the command must stop, as Interrupted does. It is called now and then by
// what may take long and need much memory: if memory is short, it waits for the command's
// turn. A command that others may wait for never waits: one that writes, or has a
// transaction or a change stream.
func (c *Call) Step() error {
	if c.steps < longSteps {
		c.steps++
	} else if c.writing == nil { // a writer's lock is not held any longer
		runtimehints.Yield() // else another connection's request waits for a slice of time of each long command
	}
	if c.Work != nil && c.writing == nil && !c.ChangeStream && c.Transaction() == nil {
		_ = c.Svc.Turns.Step(c.Ctx, &c.turn, c.Began) // fails only if the command is interrupted
	}
	return c.Interrupted()
}

// Claim is called before n bytes are allocated that the command needs until it is over.
// It may wait for the command's turn, as Step.
func (c *Call) Claim(n int64) error {
	if c.Work == nil {
		return nil
	}
	c.Svc.Turns.Claim(&c.turn, n)
	return c.Step()
}

// longSteps is how many steps a command makes before what else is ready to run goes first.
const longSteps = 32

const (
	// compiledSize is how many times the size of its text what a command is compiled and
	// planned to has at most, if it is a list of small conditions.
	compiledSize = 28
	// largeText is the size of a text from which that counts.
	largeText = 256 << 10
)

// ClaimCompiled claims the memory of what a large command is compiled to. Inserts are not
// compiled.
func (c *Call) ClaimCompiled() error {
	n := len(c.Body)
	if n < largeText || c.Work == nil || c.Cmd.Has(PlainInserts) {
		return nil
	}
	c.Svc.Turns.Claim(&c.turn, int64(n)*compiledSize)
	if c.Generic.Autocommit != nil { // others may wait for its transaction
		return nil
	}
	return c.Step()
}

// CallStore runs the transactions of a queue as those of a command.
type CallStore struct{ Call *Call }

// View implements queue.Store.
func (s CallStore) View(_ context.Context, fn func(storage.Tx) error) error { return s.Call.View(fn) }

// Update implements queue.Store.
func (s CallStore) Update(_ context.Context, fn func(storage.Tx, *queue.Changes) error) error {
	return s.Call.Update(func(tx storage.Tx) error { return fn(tx, s.Call.QueueChanges()) })
}

// InTransaction implements queue.Store.
func (s CallStore) InTransaction() bool { return s.Call.Transaction() != nil }

// QueueChanges returns the record of the changes to queues in the running engine
// transaction: the command's own, or that of its multi-document transaction.
func (c *Call) QueueChanges() *queue.Changes {
	q := &c.queues
	if t := c.Transaction(); t != nil {
		q = &t.Queues
	}
	if *q == nil {
		*q = c.Svc.Queues.Changes()
	}
	return *q
}

// APIParameters are the parameters of the command, as messages show them.
func (c *Call) APIParameters() string {
	if c.Generic.APIVersion == "" {
		return "{}"
	}
	b := value.NewBuilder()
	for _, name := range []string{"apiVersion", "apiStrict", "apiDeprecationErrors"} {
		b.Append(name, c.Body.Lookup(name))
	}
	return b.Doc().String()
}

// CheckNumber refuses a txnNumber that is older than the session's.
func (c *Call) CheckNumber() error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if n >= ss.Number {
		return nil
	}
	newer := "transaction"
	if ss.State == session.TxnRetryable {
		newer = "retryable write"
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.Newf(mongoerr.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer %s with txnNumber %d has already started on this session.", n, ss, newer, ss.Number)
	}
	return mongoerr.Newf(mongoerr.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer %s with txnNumberAndRetryCounter { txnNumber: %d, txnRetryCounter: 0 } has already started on this session.", n, ss, newer, ss.Number)
}

// Transaction is the open multi-document transaction of the command, if any.
func (c *Call) Transaction() *session.Transaction {
	if c.Session == nil || c.Generic.Autocommit == nil {
		return nil
	}
	return c.Session.Txn.Load()
}

// EndTransaction ends the session's open transaction, if any, with a final state, and
// wakes the commands that wait for records it has locked. The caller has the session's
// turn.
func (s *Service) EndTransaction(ss *session.Session, state session.State) {
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
