package mq

import (
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Commands returns the commands on message queues, topics and subscriptions. Those that
// send, receive and settle can run in a transaction, over several queues; in it nobody can
// wait for a message.
func Commands() []kernel.Command {
	const changes = kernel.Writes | kernel.UserWrite
	return []kernel.Command{
		{Name: "mqSend", Run: runMQSend, Flags: changes | kernel.InTxn, Action: "insert", On: kernel.OnCollection, Help: "send messages to a queue or topic"},
		{Name: "mqReceive", Run: runMQReceive, Flags: changes | kernel.InTxn | kernel.Waits, Action: "remove", On: kernel.OnCollection, Help: "receive messages from a queue"},
		{Name: "mqComplete", Run: runMQComplete, Flags: changes | kernel.InTxn, Action: "remove", On: kernel.OnCollection, Help: "remove messages that have been dealt with"},
		{Name: "mqAbandon", Run: runMQAbandon, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "give messages back to their queue"},
		{Name: "mqDefer", Run: runMQDefer, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "set messages aside, to be received by their numbers"},
		{Name: "mqDeadLetter", Run: runMQDeadLetter, Flags: changes | kernel.InTxn, Action: "remove", On: kernel.OnCollection, Help: "move messages to the dead-letter queue"},
		{Name: "mqRenewLock", Run: runMQRenewLock, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "hold messages for longer"},
		{Name: "mqAcceptSession", Run: runMQAcceptSession, Flags: changes | kernel.InTxn | kernel.Waits, Action: "remove", On: kernel.OnCollection, Help: "hold a session of a queue, to receive its messages"},
		{Name: "mqRenewSession", Run: runMQRenewSession, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "hold a session for longer"},
		{Name: "mqReleaseSession", Run: runMQReleaseSession, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "give a session back"},
		{Name: "mqGetSessionState", Run: runMQGetSessionState, Flags: kernel.InTxn, Action: "find", On: kernel.OnCollection, Help: "read the state of a session"},
		{Name: "mqSetSessionState", Run: runMQSetSessionState, Flags: changes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "store the state of a session"},
		{Name: "mqSessions", Run: runMQSessions, Action: "find", On: kernel.OnCollection, Help: "list the sessions of a queue"},
		{Name: "mqPeek", Run: runMQPeek, Flags: kernel.Writes, Action: "find", On: kernel.OnCollection, Help: "browse the messages of a queue"},
		{Name: "mqCancelScheduled", Run: runMQCancelScheduled, Flags: changes | kernel.InTxn, Action: "remove", On: kernel.OnCollection, Help: "remove a message that is not due yet"},
		{Name: "mqPurge", Run: runMQPurge, Flags: changes, Action: "remove", On: kernel.OnCollection, WritesUsers: gate.WritesUnless(func(d value.Doc) bool { return d.Lookup("dryRun").Truthy() }), Help: "remove messages of a queue, or count them first"},
		{Name: "mqResubmit", Run: runMQResubmit, Flags: changes, Action: "insert", On: kernel.OnCollection, Help: "move dead letters back to their queue"},
		{Name: "mqRestore", Run: runMQRestore, Flags: changes | kernel.Sequences, Action: "insert", On: kernel.OnCollection, Help: "store messages of a dump with their state"},
		{Name: "mqStats", Run: runMQStats, Action: "collStats", On: kernel.OnCollection, Help: "count the messages of a queue"},
	}
}

// queueRef reads the name of a queue and the subQueue argument.
func queueRef(c *kernel.Call, name value.Value, subQueue string) (queue.Ref, error) {
	if name.Kind() != value.KindString {
		return queue.Ref{}, mongoerr.Newf(mongoerr.InvalidNamespace, "collection name has invalid type %s", name.Kind())
	}
	ref, err := queue.ParseRef(c.DB, name.Clone().Str(), subQueue)
	if err != nil {
		return ref, err
	}
	return ref, catalog.CheckNamespace(ref.Namespace)
}

// queueError gives errors of the storage their MongoDB codes. docs are the documents that
// were sent, if any.
func queueError(c *kernel.Call, ref queue.Ref, err error, docs ...value.Doc) error {
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return kernel.Translate(ref.Namespace, err)
	}
	info, lookupErr := exec.Lookup(c, dup.Namespace)
	if lookupErr != nil || info == nil {
		return kernel.Translate(ref.Namespace, err)
	}
	d := value.EmptyDoc
	if spec := index.Of(info.Index(dup.Index)); spec != nil {
		for _, sent := range docs {
			if spec.KeyValue(sent, dup.Key) != nil {
				d = sent
			}
		}
	}
	return write.DuplicateKey(info, dup, d)
}

// lockToken is an argument that must be a UUID.
func lockToken(c *kernel.Call, name string, v value.Value) (t [16]byte, err error) {
	subtype, data := v.Binary()
	if v.Kind() != value.KindBinary || subtype != 4 || len(data) != len(t) {
		return t, args.WrongType(c.Cmd.Name, name, v, "UUID")
	}
	copy(t[:], data)
	return t, nil
}

// messages writes the messages of a reply.
func messages(c *kernel.Call, docs []value.Doc) {
	c.Reply.StartArray("messages")
	for _, d := range docs {
		c.Reply.Document("", d)
	}
	c.Reply.End()
}

// checkWait refuses to wait for too long, or within a transaction: what comes meanwhile
// would not be seen.
func checkWait(c *kernel.Call, ms int64) error {
	if ms > 0 && c.Transaction() != nil {
		return oplog.NotInTransaction("Cannot wait in '" + c.Cmd.Name + "' with maxWaitTimeMS in a multi-document transaction.")
	}
	return checkRange(c, "maxWaitTimeMS", ms, 0, queue.MaxWait.Milliseconds())
}

// checkRange refuses numbers outside the bounds of an argument.
func checkRange(c *kernel.Call, name string, n, lo, hi int64) error {
	switch {
	case n < lo:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %d, actual value '%d'", name, lo, n)
	case n > hi:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", name, hi, n)
	}
	return nil
}
