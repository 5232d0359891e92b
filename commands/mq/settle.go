package mq

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqCompleteArgs struct {
	Queue    value.Value `arg:"mqComplete,required"`
	Token    value.Value `arg:"lockToken,required"`
	SubQueue string      `arg:"subQueue"`
}

type mqAbandonArgs struct {
	Queue    value.Value `arg:"mqAbandon,required"`
	Token    value.Value `arg:"lockToken,required"`
	Set      value.Doc   `arg:"set"`
	SubQueue string      `arg:"subQueue"`
}

type mqDeferArgs struct {
	Queue    value.Value `arg:"mqDefer,required"`
	Token    value.Value `arg:"lockToken,required"`
	SubQueue string      `arg:"subQueue"`
}

type mqDeadLetterArgs struct {
	Queue       value.Value `arg:"mqDeadLetter,required"`
	Token       value.Value `arg:"lockToken,required"`
	Reason      string      `arg:"reason"`
	Description string      `arg:"description"`
	SubQueue    string      `arg:"subQueue"`
}

type mqRenewLockArgs struct {
	Queue    value.Value `arg:"mqRenewLock,required"`
	Token    value.Value `arg:"lockToken,required"`
	SubQueue string      `arg:"subQueue"`
}

type mqCancelScheduledArgs struct {
	Queue  value.Value `arg:"mqCancelScheduled,required"`
	Number int64       `arg:"sequenceNumber,required"`
}

var (
	mqCompleteSpec        = args.New[mqCompleteArgs]("mqComplete")
	mqAbandonSpec         = args.New[mqAbandonArgs]("mqAbandon")
	mqDeferSpec           = args.New[mqDeferArgs]("mqDefer")
	mqDeadLetterSpec      = args.New[mqDeadLetterArgs]("mqDeadLetter")
	mqRenewLockSpec       = args.New[mqRenewLockArgs]("mqRenewLock")
	mqCancelScheduledSpec = args.New[mqCancelScheduledArgs]("mqCancelScheduled")
)

// settle calls fn for a message that the client has locked.
func settle(c *kernel.Call, name, token value.Value, subQueue string, fn func(queue.Lock) error) error {
	ref, err := queueRef(c, name, subQueue)
	if err != nil {
		return err
	}
	t, err := lockToken(c, token)
	if err != nil {
		return err
	}
	if err := fn(queue.Lock{Ref: ref, Token: t}); err != nil {
		return queueError(c, ref, err)
	}
	return nil
}

func runMQComplete(c *kernel.Call) error {
	var a mqCompleteArgs
	if err := mqCompleteSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, a.Queue, a.Token, a.SubQueue, func(lock queue.Lock) error {
		return c.Svc.Queues.Complete(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
	})
}

func runMQAbandon(c *kernel.Call) error {
	var a mqAbandonArgs
	if err := mqAbandonSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, a.Queue, a.Token, a.SubQueue, func(lock queue.Lock) error {
		outcome, err := c.Svc.Queues.Abandon(c.Ctx, kernel.CallStore{Call: c}, lock, a.Set, c.Now)
		c.Reply.String("outcome", outcome)
		return err
	})
}

func runMQDefer(c *kernel.Call) error {
	var a mqDeferArgs
	if err := mqDeferSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, a.Queue, a.Token, a.SubQueue, func(lock queue.Lock) error {
		number, outcome, err := c.Svc.Queues.Defer(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		c.Reply.Int64("sequenceNumber", number).String("outcome", outcome)
		return err
	})
}

func runMQDeadLetter(c *kernel.Call) error {
	var a mqDeadLetterArgs
	if err := mqDeadLetterSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, a.Queue, a.Token, a.SubQueue, func(lock queue.Lock) error {
		return c.Svc.Queues.DeadLetter(c.Ctx, kernel.CallStore{Call: c}, lock, a.Reason, a.Description, c.Now)
	})
}

func runMQRenewLock(c *kernel.Call) error {
	var a mqRenewLockArgs
	if err := mqRenewLockSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, a.Queue, a.Token, a.SubQueue, func(lock queue.Lock) error {
		until, err := c.Svc.Queues.RenewLock(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		c.Reply.Date("lockedUntilUtc", until)
		return err
	})
}

func runMQCancelScheduled(c *kernel.Call) error {
	var a mqCancelScheduledArgs
	if err := mqCancelScheduledSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, "")
	if err != nil {
		return err
	}
	if err := c.Svc.Queues.CancelScheduled(c.Ctx, kernel.CallStore{Call: c}, ref, a.Number, c.Now); err != nil {
		return queueError(c, ref, err)
	}
	return nil
}
