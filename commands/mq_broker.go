package commands

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// queueCommands are the commands on message queues. None of them may run in
// a transaction: what they hand out cannot be taken back.
func queueCommands() []command {
	return []command{
		{name: "mqSend", run: runMQSend, flags: writes, action: "insert", on: onCollection, help: "send messages to a queue"},
		{name: "mqReceive", run: runMQReceive, flags: writes | waits, action: "remove", on: onCollection, help: "receive messages from a queue"},
		{name: "mqComplete", run: runMQComplete, flags: writes, action: "remove", on: onCollection, help: "remove a message that has been dealt with"},
		{name: "mqAbandon", run: runMQAbandon, flags: writes, action: "update", on: onCollection, help: "give a message back to its queue"},
		{name: "mqDefer", run: runMQDefer, flags: writes, action: "update", on: onCollection, help: "set a message aside, to be received by its number"},
		{name: "mqDeadLetter", run: runMQDeadLetter, flags: writes, action: "remove", on: onCollection, help: "move a message to the dead-letter queue"},
		{name: "mqRenewLock", run: runMQRenewLock, flags: writes, action: "update", on: onCollection, help: "hold a message for longer"},
		{name: "mqPeek", run: runMQPeek, flags: writes, action: "find", on: onCollection, help: "browse the messages of a queue"},
		{name: "mqCancelScheduled", run: runMQCancelScheduled, flags: writes, action: "remove", on: onCollection, help: "remove a message that is not due yet"},
		{name: "mqStats", run: runMQStats, action: "collStats", on: onCollection, help: "count the messages of a queue"},
	}
}

// callStore runs the transactions of a queue as those of a command.
type callStore struct{ c *Call }

func (s callStore) View(_ context.Context, fn func(storage.Tx) error) error   { return s.c.view(fn) }
func (s callStore) Update(_ context.Context, fn func(storage.Tx) error) error { return s.c.update(fn) }

// queueRef reads the name of a queue and the subQueue argument.
func (c *Call) queueRef(name value.Value, subQueue string) (queue.Ref, error) {
	if name.Kind() != value.KindString {
		return queue.Ref{}, mongoerr.Newf(mongoerr.InvalidNamespace, "collection name has invalid type %s", name.Kind())
	}
	ref, err := queue.ParseRef(c.DB, name.Clone().Str(), subQueue)
	if err != nil {
		return ref, err
	}
	return ref, checkNamespace(ref.Namespace)
}

// queueError gives errors of the storage their MongoDB codes. docs are what
// was sent, if anything.
func (c *Call) queueError(ref queue.Ref, err error, docs ...value.Doc) error {
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return translate(ref.Namespace, err)
	}
	info, lookupErr := c.lookup(dup.Namespace)
	if lookupErr != nil || info == nil {
		return translate(ref.Namespace, err)
	}
	d := value.EmptyDoc
	if spec := index.Of(info.Index(dup.Index)); spec != nil {
		for _, sent := range docs {
			if spec.KeyValue(sent, dup.Key) != nil {
				d = sent
			}
		}
	}
	return duplicateKey(info, dup, d)
}

// lockToken is an argument that must be a UUID.
func (c *Call) lockToken(v value.Value) (t [16]byte, err error) {
	subtype, data := v.Binary()
	if v.Kind() != value.KindBinary || subtype != 4 || len(data) != len(t) {
		return t, wrongType(c.cmd.name, "lockToken", v, "UUID")
	}
	copy(t[:], data)
	return t, nil
}

// messages writes the messages of a reply.
func (c *Call) messages(docs []value.Doc) {
	c.reply.StartArray("messages")
	for _, d := range docs {
		c.reply.Document("", d)
	}
	c.reply.End()
}

// checkRange refuses numbers outside the bounds of an argument.
func (c *Call) checkRange(name string, n, least, most int64) error {
	switch {
	case n < least:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %d, actual value '%d'", name, least, n)
	case n > most:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", name, most, n)
	}
	return nil
}
