package commands

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Handle runs one request for a connection and appends the reply document to
// dst. A reply is produced whatever happens: errors, and panics, become
// error replies.
func (s *Service) Handle(ctx context.Context, conn *Conn, req *Request, dst []byte) ([]byte, Response) {
	c := s.begin(ctx, conn, req, dst)
	b := c.reply
	err := s.run(c, req)
	if err != nil {
		b.Reset(dst)
		s.appendError(c, b, err)
	} else if !c.noOK {
		b.Double("ok", 1)
	}
	s.appendTrailer(c, b)
	s.observe(c, b.Doc(), err)
	if err == nil && c.unacknowledged() { // what became of it is for the profiler alone
		b.Reset(dst)
		c.appendUnacknowledged()
		s.appendTrailer(c, b)
		b.Doc()
	}
	out, response := b.Bytes(), c.response
	c.closeScripts()
	c.end()
	return out, response
}

// run takes a command through the gate and runs it.
func (s *Service) run(c *Call, req *Request) (err error) {
	name, _ := c.Body.First()
	c.cmd = s.table[name]
	if c.cmd == nil {
		s.metrics.asserts.user.Add(1)
		return unknownCommand(c, name)
	}
	c.cmd.runs.total.Add(1)
	c.began = s.real.Now()
	defer func() {
		if p := recover(); p != nil {
			err = s.recovered(c, p)
		}
		if err != nil {
			c.cmd.runs.failed.Add(1)
			s.metrics.asserts.user.Add(1)
		}
	}()
	db, err := c.generic.read(c.Body)
	if err != nil {
		return err
	}
	if db != "" {
		c.setDatabase(db)
	}
	if err := s.gate(c); err != nil {
		return err
	}
	c.exhaust = req.Exhaust
	if fail, ok := s.failPoints.command.enter(c); ok {
		return s.failing(c, fail)
	}
	defer c.noteAuthWrite()
	return s.execute(c)
}

// execute runs a command that has passed the gate.
func (s *Service) execute(c *Call) error {
	c.now = s.clock.NowMillis()
	if c.cmd.name != "getMore" { // whose cursor knows the limit
		stop, err := c.limitTime(c.generic.maxTime)
		if err != nil {
			return err
		}
		defer stop()
	}
	c.op = &c.work.op
	c.op.begin(c)
	s.ops.add(c.op)
	defer s.ops.remove(c.op)
	if e := s.Verbose(LogCommand, 2); e != nil {
		e.Str("db", c.DB).RawJSON("commandArgs", []byte(c.op.body.JSON())).Msg("About to run the command")
	}
	if c.cmd.flags&reads != 0 {
		s.metrics.readConcerns.count(c)
	}
	err := s.inSession(c)
	c.awaitDisk(err)
	c.took = s.real.Now().Sub(c.began)
	s.metrics.latency.of(c.cmd).observe(c.took)
	if c.cmd.on == onCollection || c.cmd.name == "getMore" {
		c.usage().note(c.cmd.name, c.took)
	}
	if err != nil && c.ctx.Err() != nil && isContextError(err) {
		err = mongoerr.From(context.Cause(c.ctx))
	}
	if err == nil {
		c.appendUnmetConcern()
	}
	return err
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// gate applies the rules that hold before a command may begin.
func (s *Service) gate(c *Call) error {
	cmd := c.cmd
	switch {
	case c.legacy && cmd.flags&handshake == 0:
		return mongoerr.Newf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", cmd.name)
	case len(c.sequences) > 0 && !takesSequences[cmd.name]:
		return mongoerr.Newf(40472, "The %s command does not support document sequences.", cmd.name)
	case c.DB == "":
		return mongoerr.New(40571, "OP_MSG requests require a $db argument")
	}
	if err := c.checkDatabase(); err != nil {
		return err
	}
	if cmd.flags&adminOnly != 0 && c.DB != "admin" {
		if c.generic.autocommit != nil && cmd.flags&inTxn == 0 {
			return c.checkTransactionRules()
		}
		return mongoerr.Newf(mongoerr.Unauthorized, "%s may only be run against the admin database.", cmd.name)
	}
	if err := c.checkAPI(); err != nil {
		return err
	}
	if err := c.authorize(); err != nil {
		s.Verbose(LogAccess, 1).Str("command", cmd.name).Str("db", c.DB).Str("user", c.userName()).Err(err).Msg("Checking authorization failed")
		return err
	}
	if err := c.checkLeader(); err != nil {
		return err
	}
	if err := c.gossip(); err != nil {
		return err
	}
	if err := c.checkConcernSupport(); err != nil {
		return err
	}
	if cmd.flags&bare != 0 {
		if err := c.checkBare(); err != nil {
			return err
		}
	}
	if err := s.applySettings(c); err != nil {
		return err
	}
	if err := c.checkWriteConcern(); err != nil {
		return err
	}
	return s.openSession(c)
}

// takesSequences are the commands whose documents may come as sections of the
// message of their own.
var takesSequences = map[string]bool{"insert": true, "update": true, "delete": true, "bulkWrite": true}

func unknownCommand(c *Call, name string) error {
	if c.legacy {
		return mongoerr.Newf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", name)
	}
	return mongoerr.Newf(mongoerr.CommandNotFound, "no such command: '%s'", name)
}

// recovered turns a panic into an error reply. The connection and the
// process go on.
func (s *Service) recovered(c *Call, p any) error {
	s.log.Error().Str("command", c.cmd.name).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("command panicked")
	s.metrics.asserts.regular.Add(1)
	return mongoerr.Newf(mongoerr.InternalError, "internal error in command '%s': %v", c.cmd.name, p)
}

// appendError writes the error reply, with the labels that drivers act on.
func (s *Service) appendError(c *Call, b *value.Builder, err error) {
	e := mongoerr.From(err)
	concern, code := c.unmetBehindError(e)
	if labels := c.errorLabels(e, code); len(labels) > 0 && !c.fixedLabels {
		labelled := *e
		labelled.Labels = append(append([]string(nil), e.Labels...), labels...)
		e = &labelled
	}
	e.AppendReply(b)
	if concern != nil {
		b.Document("writeConcernError", concern)
	}
	c.tellTopology(e.Code, code)
}

// appendTrailer writes what follows every reply.
func (s *Service) appendTrailer(_ *Call, b *value.Builder) { s.appendClusterTime(b) }
