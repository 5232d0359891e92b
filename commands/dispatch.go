package commands

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/diagnostics"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// handleCommand runs one request for a connection and appends the reply document to
// dst. A reply is produced whatever happens: errors, and panics, become
// error replies.
func handleCommand(s *kernel.Service, ctx context.Context, conn *kernel.Conn, req *kernel.Request, dst []byte) ([]byte, kernel.Response) {
	c := s.Begin(ctx, conn, req, dst)
	b := c.Reply
	err := run(s, c)
	if err != nil {
		b.Reset(dst)
		appendError(s, c, b, err)
		c.Response.Close = c.Response.Close || mongoerr.CodeOf(err).In(mongoerr.CategoryCloseConnectionError)
	} else if !c.NoOK {
		b.Double("ok", 1)
	}
	if b.Len() > maxReply {
		err = tooLarge(b.Len(), err)
		b.Reset(dst)
		appendError(s, c, b, err)
	}
	appendTrailer(s, c, b)
	_ = c.AwaitReplyMemory(b.Len()) // of replies that did not wait; what they report has been done
	diagnostics.Observe(s, c, b.Doc(), err)
	if err == nil && concern.Unacknowledged(c) { // only the profiler sees the outcome
		b.Reset(dst)
		concern.AppendUnacknowledged(c)
		appendTrailer(s, c, b)
		b.Doc()
	}
	out, response := b.Bytes(), c.Response
	c.CloseScripts()
	c.End()
	return out, response
}

// maxReply is the size of the largest reply: a document may have 16 KB more than what is
// stored, and what is around it as many.
const maxReply = kernel.MaxDocumentBytes + 32<<10

// tooLarge returns the error of a reply that is too large for a client: of an error, what it
// is without its further fields.
func tooLarge(size int, err error) error {
	if err == nil {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", size, size, kernel.MaxDocumentBytes+16<<10)
	}
	short := *mongoerr.From(err)
	short.Extra = nil
	return &short
}

// run takes a command through the gate and runs it.
func run(s *kernel.Service, c *kernel.Call) (err error) {
	name, _ := c.Body.First()
	c.Cmd = s.Table[name]
	if c.Cmd == nil {
		s.Metrics.Asserts.User.Add(1)
		return unknownCommand(c, name)
	}
	c.Cmd.Runs.Total.Add(1)
	if c.Began = c.At; c.Began.IsZero() {
		c.Began = s.Real.Now()
	}
	defer func() {
		if p := recover(); p != nil {
			err = recovered(s, c, p)
		}
		if err != nil {
			c.Cmd.Runs.Failed.Add(1)
			s.Metrics.Asserts.User.Add(1)
		}
	}()
	db, err := c.Generic.Read(c.Cmd.Name, c.Body)
	if err != nil {
		return err
	}
	if db != "" {
		c.SetDatabase(db)
	}
	if err := admit(s, c); err != nil {
		return err
	}
	if fail, ok := kernel.EnterFailPoint(s.FailPoints.Command, c); ok {
		return failing(s, c, fail)
	}
	return execute(s, c)
}

// execute runs a command that has passed the gate.
func execute(s *kernel.Service, c *kernel.Call) error {
	_ = s.TakeClock(c.Ctx) // if the data cannot be read, the time goes on as before
	c.Now = s.MillisAt(c.Began)
	if !c.Cmd.Has(kernel.Continues) { // else the cursor has the limit
		stop, err := kernel.LimitTime(c, c.Generic.MaxTime)
		if err != nil {
			return err
		}
		defer stop()
	}
	if c.Bytes >= kernel.LongMessage {
		c.TakesLong()
	}
	c.Op = &c.Work.Op
	access.BeginOperation(c.Op, c)
	s.Ops.Add(c.Op)
	defer s.Ops.Remove(c.Op)
	if e := s.Verbose(observe.LogCommand, 2); e != nil {
		observe.LogDocument(c.Op.Body, s.Options.LogLimit.Bytes()).AddTo(e.Str("db", c.DB), "commandArgs").Msg("About to run the command")
	}
	if c.Cmd.Has(kernel.Reads) {
		kernel.CountReadConcern(&s.Metrics.ReadConcerns, c)
	}
	err := c.ClaimCompiled()
	if err == nil && (c.Generic.RawGiven || c.Cmd.Has(kernel.WrapsCommand)) {
		err = resolveRawData(c)
	}
	if err == nil {
		err = inSession(s, c)
	}
	concern.AwaitDisk(c, err)
	c.Took = s.Real.Now().Sub(c.Began)
	kernel.LatencyClass(&s.Metrics.Latency, c.Cmd).Observe(c.Took)
	s.Metrics.Examined(&c.Counts)
	if c.Cmd.On == kernel.OnCollection || c.Cmd.Has(kernel.Continues) {
		c.NoteUsage(c.Took)
	}
	if err != nil && c.Ctx.Err() != nil && kernel.IsContextError(err) {
		err = mongoerr.From(context.Cause(c.Ctx))
	}
	if err == nil {
		appendUnmetConcern(c)
		transaction.AppendRecoveryToken(c)
	}
	return err
}

// admit checks the rules that apply before a command may begin, in mongod's order, which
// decides which of several errors a client gets:
//
//  1. the form of the message, and where the command may run;
//  2. the Stable API: a client that declares a version learns first what that lacks;
//  3. the privileges: what comes after them tells of the state of the server or of its data;
//  4. whether this member may run it, and the cluster time of the client, which only a
//     client with the privilege may advance;
//  5. its arguments and concerns; the defaults come before the write concern that they may set;
//  6. the session, last, because it is created by being used.
func admit(s *kernel.Service, c *kernel.Call) error {
	cmd := c.Cmd
	switch {
	case c.Legacy && !mayBeLegacy(c.Body):
		return refuseLegacy(c.Body)
	case len(c.Sequences) > 0 && !cmd.Has(kernel.Sequences):
		return mongoerr.Newf(40472, "The %s command does not support document sequences.", cmd.Name)
	case c.DB == "":
		return mongoerr.New(40571, "OP_MSG requests require a $db argument")
	}
	if err := c.CheckDatabase(); err != nil {
		return err
	}
	if cmd.Has(kernel.AdminOnly) && c.DB != "admin" {
		if c.Generic.Autocommit != nil && !cmd.Has(kernel.InTxn) {
			return transaction.CheckTransactionRules(c)
		}
		return mongoerr.Newf(mongoerr.Unauthorized, "%s may only be run against the admin database.", cmd.Name)
	}
	if err := checkAPI(c); err != nil {
		return err
	}
	if err := access.Authorize(c); err != nil {
		s.Verbose(observe.LogAccess, 1).Str("command", cmd.Name).Str("db", c.DB).Str("user", access.UserName(c)).Err(err).Msg("Checking authorization failed")
		return err
	}
	if err := replication.CheckLeader(c); err != nil {
		return err
	}
	if err := transaction.Gossip(c); err != nil {
		return err
	}
	if err := concern.CheckConcernSupport(c); err != nil {
		return err
	}
	if cmd.Has(kernel.Bare) {
		if err := gate.CheckBare(c); err != nil {
			return err
		}
	}
	if err := gate.ApplySettings(s, c); err != nil {
		return err
	}
	if err := concern.CheckWriteConcern(c); err != nil {
		return err
	}
	return openSession(s, c)
}

func unknownCommand(c *kernel.Call, name string) error {
	if c.Legacy {
		return refuseLegacy(c.Body)
	}
	return mongoerr.Newf(mongoerr.CommandNotFound, "no such command: '%s'", name)
}

// recovered turns a panic into an error reply. The connection and the
// process go on.
func recovered(s *kernel.Service, c *kernel.Call, p any) error {
	s.Log.Error().Str("command", c.Cmd.Name).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("command panicked")
	s.Metrics.Asserts.Regular.Add(1)
	return mongoerr.Newf(mongoerr.InternalError, "internal error in command '%s': %v", c.Cmd.Name, p)
}

// appendError writes the error reply, with the labels that drivers act on.
func appendError(s *kernel.Service, c *kernel.Call, b *value.Builder, err error) {
	if kernel.Retry(err) {
		err = kernel.Translate(storage.Namespace{}, err)
	}
	e := mongoerr.From(err)
	concern, code := transaction.UnmetBehindError(c, e)
	if labels := transaction.ErrorLabels(c, e, code); len(labels) > 0 && !c.FixedLabels {
		labelled := *e
		labelled.Labels = append(append([]string(nil), e.Labels...), labels...)
		e = &labelled
	}
	e.AppendReply(b)
	if concern != nil {
		b.Document("writeConcernError", concern)
	}
	tellTopology(c, e.Code, code)
}

// appendTrailer writes what follows every reply.
func appendTrailer(s *kernel.Service, _ *kernel.Call, b *value.Builder) {
	replication.AppendClusterTime(s, b)
}
