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
	batch, err := gate.Batch(c, "messages", a.Messages)
	if err != nil {
		return err
	}
	docs := make([]value.Doc, 0, batch.N)
	for _, d := range batch.All() {
		if d, err = write.PrepareInsert(c, d); err != nil {
			return err
		}
		if err := c.Svc.Memory.Admit(len(d)); err != nil {
			return err
		}
		docs = append(docs, d)
	}
	numbers, err := c.Svc.Queues.Send(c.Ctx, kernel.CallStore{Call: c}, ref, docs, c.Now)
	if err != nil {
		return queueError(c, ref, err, docs...)
	}
	c.Svc.Metrics.Document.Inserted.Add(int64(batch.N))
	c.Reply.StartArray("sequenceNumbers")
	for _, n := range numbers {
		c.Reply.Int64("", n)
	}
	c.Reply.End()
	return nil
}
