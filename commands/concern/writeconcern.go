package concern

import (
	"context"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// CheckWriteConcern refuses the write concerns that need a replica set. "majority"
// waits for the disk, unless the configuration of the set turns that off.
func CheckWriteConcern(c *kernel.Call) error {
	g := &c.Generic
	if g.Majority && !g.Durable {
		config, err := c.SetConfig()
		if err != nil {
			return err
		}
		g.Durable = config == nil || config.Journals
	}
	if c.Svc.Replicated() {
		return nil
	}
	switch {
	case g.Members > 1:
		return mongoerr.New(mongoerr.BadValue, "cannot use 'w' > 1 when a host is not replicated")
	case g.Named:
		return mongoerr.Newf(mongoerr.BadValue, "cannot use non-majority 'w' mode \"%s\" when a host is not a member of a replica set", g.Mode)
	}
	return nil // tags are accepted, as by a mongod alone
}

// Unacknowledged reports whether the reply hides the outcome of a write, as the client
// that w: 0 requests.
func Unacknowledged(c *kernel.Call) bool {
	return c.Generic.Unacked && !c.Generic.Durable && c.Cmd.Has(kernel.HidesOutcome)
}

// AppendUnacknowledged writes the reply to a write with w: 0 whose message demands a
// reply: every field that is always there, with its default.
func AppendUnacknowledged(c *kernel.Call) {
	c.Reply.Int32("n", 0)
	if c.Cmd.Name == "update" {
		c.Reply.Int32("nModified", 0)
	}
	c.Reply.Double("ok", 1)
}

// AwaitDisk waits until the writes that the command made or relied on are on disk, if
// the write concern asks for that. The writes stay even if the wait fails, so a failure
// is reported as an error of the write concern.
func AwaitDisk(c *kernel.Call, failed error) {
	if !c.Generic.Durable || c.Transaction() != nil || !c.Attempted && (failed != nil || !c.Cmd.Has(kernel.Writes)) {
		return
	}
	c.Unsynced = c.Svc.Engine.Sync(c.Ctx)
}

// unsyncedReason returns the error for the client after a failed wait for the disk:
// why the wait was interrupted, else that the write concern could not be satisfied.
func unsyncedReason(c *kernel.Call) (mongoerr.Code, string) {
	err := c.Unsynced
	if kernel.IsContextError(err) {
		err = context.Cause(c.Ctx)
	}
	if e := mongoerr.From(kernel.Translate(storage.Namespace{}, err)); e.Code != mongoerr.InternalError {
		return e.Code, e.Message
	}
	return mongoerr.WriteConcernTimeout, "what was written is not known to be on disk: " + err.Error()
}

// UnmetReason returns why the write concern cannot be satisfied; OK if it can.
func UnmetReason(c *kernel.Call) (mongoerr.Code, string) {
	g := &c.Generic
	switch {
	case c.Unsynced != nil:
		return unsyncedReason(c)
	case !c.Cmd.Has(kernel.Writes):
	case g.Named:
		config, err := c.SetConfig()
		if err != nil {
			e := mongoerr.From(kernel.Translate(replset.ConfigNamespace, err))
			return e.Code, e.Message
		}
		known, met := config.Satisfies(g.Mode)
		if met {
			return mongoerr.OK, ""
		}
		if known {
			return mongoerr.UnsatisfiableWriteConcern, "Not enough nodes match write concern mode \"" + g.Mode + "\""
		}
		return mongoerr.UnknownReplWriteConcern, "No write concern mode named '" + g.Mode + "' found in replica set configuration"
	case g.Members > 1 || g.Tags && c.Svc.Replicated():
		return mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes"
	}
	return mongoerr.OK, ""
}

// ConcernError returns the writeConcernError with this code and message.
func ConcernError(c *kernel.Call, code mongoerr.Code, text string) value.Doc {
	wanted := value.NewBuilder()
	wanted.Append("w", c.Generic.WriteConcern.Lookup("w"))
	wanted.Append("j", c.Generic.WriteConcern.Lookup("j"))
	if v, ok := c.Generic.WriteConcern.Get("wtimeout"); ok {
		wanted.Append("wtimeout", v)
	} else {
		wanted.Int32("wtimeout", 0)
	}
	wanted.String("provenance", "clientSupplied")
	return value.NewDoc("code", value.Int32(int32(code)), "codeName", value.String(code.String()), "errmsg", value.String(text),
		"errInfo", value.Document(value.NewDoc("writeConcern", value.Document(wanted.Doc()))))
}
