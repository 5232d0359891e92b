package commands

import (
	"context"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// checkWriteConcern refuses the write concerns that need a replica set. A
// majority waits for the disk, unless the configuration of the set says that it
// need not.
func (c *Call) checkWriteConcern() error {
	g := &c.generic
	config := c.svc.leader.config.Load()
	g.durable = g.durable || g.majority && (config == nil || config.journals)
	if c.svc.inReplicaSet() {
		return nil
	}
	switch {
	case g.members > 1:
		return mongoerr.New(mongoerr.BadValue, "cannot use 'w' > 1 when a host is not replicated")
	case g.named:
		return mongoerr.Newf(mongoerr.BadValue, "cannot use non-majority 'w' mode \"%s\" when a host is not a member of a replica set", g.mode)
	case g.tags:
		return mongoerr.New(mongoerr.BadValue, "cannot use non-string 'w' mode when a host is not replicated")
	}
	return nil
}

// silentWrites are the commands whose reply keeps to itself what became of a
// write with w: 0, where there is a reply at all.
var silentWrites = map[string]bool{"insert": true, "update": true, "delete": true}

func (c *Call) unacknowledged() bool {
	return c.generic.unacked && !c.generic.durable && silentWrites[c.cmd.name]
}

// appendUnacknowledged writes the reply to a write that asks for none, in a
// message that does: the defaults of the fields that are always there.
func (c *Call) appendUnacknowledged() {
	c.reply.Int32("n", 0)
	if c.cmd.name == "update" {
		c.reply.Int32("nModified", 0)
	}
	c.reply.Double("ok", 1)
}

// awaitDisk waits until what the command has written, or found to be written
// already, is on disk, if the write concern asks for that. The write stays
// whatever becomes of it, so a failure is one of the write concern.
func (c *Call) awaitDisk(failed error) {
	if !c.generic.durable || c.transaction() != nil || !c.attempted && (failed != nil || c.cmd.flags&writes == 0) {
		return
	}
	c.unsynced = c.svc.engine.Sync(c.ctx)
}

// unsyncedReason is what a client is told about a failed wait for the disk: why
// the wait was given up, else that the write concern could not be met.
func (c *Call) unsyncedReason() (mongoerr.Code, string) {
	err := c.unsynced
	if isContextError(err) {
		err = context.Cause(c.ctx)
	}
	if e := mongoerr.From(translate(storage.Namespace{}, err)); e.Code != mongoerr.InternalError {
		return e.Code, e.Message
	}
	return mongoerr.WriteConcernTimeout, "what was written is not known to be on disk: " + err.Error()
}

// appendUnmetConcern says behind the reply of a write that has been done why it
// is not acknowledged as the write concern asks: by more members than the set
// has, or by the disk.
func (c *Call) appendUnmetConcern() {
	if c.transaction() != nil {
		return
	}
	code, text := c.unmetReason()
	if code == mongoerr.OK {
		return
	}
	var labels []string
	if c.unsynced != nil && c.cmd.name == "commitTransaction" {
		labels = []string{mongoerr.LabelUnknownCommitResult} // to be sent again
	}
	c.concernFailed(c.concernError(code, text), labels)
}

// unmetBehindError says the same behind an error: of a command that went as far
// as to write, or of a commit of which nothing is known, as both may repeat
// what others have done, which is not acknowledged either.
func (c *Call) unmetBehindError(e *mongoerr.Error) (value.Doc, mongoerr.Code) {
	if c.injected != nil {
		return c.injected, mongoerr.Code(c.injected.Lookup("code").SafeInt64())
	}
	lost := e.Code == mongoerr.NoSuchTransaction && c.cmd != nil && endOfTransaction[c.cmd.name]
	if c.cmd == nil || !c.attempted && !lost || c.svc.leader.aside.Load() {
		return nil, mongoerr.OK
	}
	code, text := c.unmetReason()
	if code == mongoerr.OK {
		return nil, mongoerr.OK
	}
	return c.concernError(code, text), code
}

// unmetReason is why the write concern cannot be met; OK: it can.
func (c *Call) unmetReason() (mongoerr.Code, string) {
	g := &c.generic
	switch {
	case c.unsynced != nil:
		return c.unsyncedReason()
	case c.cmd.flags&writes == 0:
	case g.named:
		known, met := c.svc.leader.config.Load().satisfies(g.mode)
		if met {
			return mongoerr.OK, ""
		}
		if known {
			return mongoerr.UnsatisfiableWriteConcern, "Not enough nodes match write concern mode \"" + g.mode + "\""
		}
		return mongoerr.UnknownReplWriteConcern, "No write concern mode named '" + g.mode + "' found in replica set configuration"
	case g.members > 1 || g.tags:
		return mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes"
	}
	return mongoerr.OK, ""
}

// concernError is the writeConcernError that says so.
func (c *Call) concernError(code mongoerr.Code, text string) value.Doc {
	wanted := value.NewBuilder()
	wanted.Append("w", c.generic.writeConcern.Lookup("w"))
	wanted.Append("j", c.generic.writeConcern.Lookup("j"))
	if v, ok := c.generic.writeConcern.Get("wtimeout"); ok {
		wanted.Append("wtimeout", v)
	} else {
		wanted.Int32("wtimeout", 0)
	}
	wanted.String("provenance", "clientSupplied")
	return value.NewDoc("code", value.Int32(int32(code)), "codeName", value.String(code.String()), "errmsg", value.String(text),
		"errInfo", value.Document(value.NewDoc("writeConcern", value.Document(wanted.Doc()))))
}

// concernFailed adds to a reply that only the write concern failed, with the
// labels that the error's code has, and others.
func (c *Call) concernFailed(d value.Doc, labels []string) {
	if c.unmet {
		return
	}
	c.unmet = true
	c.reply.Document("writeConcernError", d)
	c.tellTopology(mongoerr.Code(d.Lookup("code").SafeInt64()))
	if !c.fixedLabels {
		labels = append(labels, mongoerr.LabelsFor(mongoerr.OK, mongoerr.Operation{
			InTransaction: c.generic.autocommit != nil, CommitOrAbort: endOfTransaction[c.cmd.name],
			RetryableWrite: c.generic.txnNumber != nil && c.generic.autocommit == nil,
			WriteConcern:   mongoerr.Code(d.Lookup("code").SafeInt64()),
		})...)
	}
	if len(labels) == 0 {
		return
	}
	c.reply.StartArray("errorLabels")
	for _, l := range labels {
		c.reply.String("", l)
	}
	c.reply.End()
}
