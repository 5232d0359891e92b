package commands

import "github.com/duskdb/duskdb/value"

type mqSendArgs struct {
	Queue    value.Value `arg:"mqSend,required"`
	Messages array       `arg:"messages"`
}

var mqSendSpec = newArgs[mqSendArgs]("mqSend")

// runMQSend sends messages, all or none.
func runMQSend(c *Call) error {
	var a mqSendArgs
	if err := mqSendSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := c.queueRef(a.Queue, "")
	if err != nil {
		return err
	}
	batch, err := c.batch("messages", a.Messages)
	if err != nil {
		return err
	}
	docs := make([]value.Doc, 0, batch.n)
	for _, d := range batch.all() {
		if d, err = c.prepareInsert(d); err != nil {
			return err
		}
		if err := c.svc.memory.admit(len(d)); err != nil {
			return err
		}
		docs = append(docs, d)
	}
	numbers, err := c.svc.queues.Send(c.ctx, callStore{c}, ref, docs, c.now)
	if err != nil {
		return c.queueError(ref, err, docs...)
	}
	c.svc.metrics.document.inserted.Add(int64(batch.n))
	c.reply.StartArray("sequenceNumbers")
	for _, n := range numbers {
		c.reply.Int64("", n)
	}
	c.reply.End()
	return nil
}
