package mq

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/value"
)

type mqSendArgs struct {
	Queue    value.Value `arg:"mqSend,required"`
	Messages args.Array  `arg:"messages"`
}

var mqSendSpec = args.New[mqSendArgs]("mqSend")

// runMQSend sends messages, all or none.
func runMQSend(c *kernel.Call) error {
	var a mqSendArgs
	if err := mqSendSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, "")
	if err != nil {
		return err
	}
	docs, err := messagesToStore(c, a.Messages)
	if err != nil {
		return err
	}
	numbers, err := c.Svc.Queues.Send(c.Ctx, kernel.CallStore{Call: c}, ref, docs, c.Now)
	if err != nil {
		return queueError(c, ref, err, docs...)
	}
	c.Svc.Metrics.Document.Inserted.Add(int64(len(docs)))
	c.Reply.StartArray("sequenceNumbers")
	for _, n := range numbers {
		c.Reply.Int64("", n)
	}
	c.Reply.End()
	return nil
}

// messagesToStore reads the messages of a command, prepared as documents to insert.
func messagesToStore(c *kernel.Call, messages args.Array) ([]value.Doc, error) {
	batch, err := gate.Batch(c, "messages", messages)
	if err != nil {
		return nil, err
	}
	docs := make([]value.Doc, 0, batch.N)
	for _, d := range batch.All() {
		if d, err = write.PrepareInsert(c, d); err != nil {
			return nil, err
		}
		if err := c.Svc.Memory.Admit(len(d)); err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
