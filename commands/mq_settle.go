package commands

import (
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
	mqCompleteSpec        = newArgs[mqCompleteArgs]("mqComplete")
	mqAbandonSpec         = newArgs[mqAbandonArgs]("mqAbandon")
	mqDeferSpec           = newArgs[mqDeferArgs]("mqDefer")
	mqDeadLetterSpec      = newArgs[mqDeadLetterArgs]("mqDeadLetter")
	mqRenewLockSpec       = newArgs[mqRenewLockArgs]("mqRenewLock")
	mqCancelScheduledSpec = newArgs[mqCancelScheduledArgs]("mqCancelScheduled")
)

// settle does with a message that the client holds what fn says.
func (c *Call) settle(name, token value.Value, subQueue string, fn func(queue.Ref, [16]byte) error) error {
	ref, err := c.queueRef(name, subQueue)
	if err != nil {
		return err
	}
	t, err := c.lockToken(token)
	if err != nil {
		return err
	}
	if err := fn(ref, t); err != nil {
		return c.queueError(ref, err)
	}
	return nil
}

func runMQComplete(c *Call) error {
	var a mqCompleteArgs
	if err := mqCompleteSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.settle(a.Queue, a.Token, a.SubQueue, func(ref queue.Ref, t [16]byte) error {
		return c.svc.queues.Complete(c.ctx, callStore{c}, ref, t, c.now)
	})
}

func runMQAbandon(c *Call) error {
	var a mqAbandonArgs
	if err := mqAbandonSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.settle(a.Queue, a.Token, a.SubQueue, func(ref queue.Ref, t [16]byte) error {
		outcome, err := c.svc.queues.Abandon(c.ctx, callStore{c}, ref, t, a.Set, c.now)
		c.reply.String("outcome", outcome)
		return err
	})
}

func runMQDefer(c *Call) error {
	var a mqDeferArgs
	if err := mqDeferSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.settle(a.Queue, a.Token, a.SubQueue, func(ref queue.Ref, t [16]byte) error {
		number, outcome, err := c.svc.queues.Defer(c.ctx, callStore{c}, ref, t, c.now)
		c.reply.Int64("sequenceNumber", number).String("outcome", outcome)
		return err
	})
}

func runMQDeadLetter(c *Call) error {
	var a mqDeadLetterArgs
	if err := mqDeadLetterSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.settle(a.Queue, a.Token, a.SubQueue, func(ref queue.Ref, t [16]byte) error {
		return c.svc.queues.DeadLetter(c.ctx, callStore{c}, ref, t, a.Reason, a.Description, c.now)
	})
}

func runMQRenewLock(c *Call) error {
	var a mqRenewLockArgs
	if err := mqRenewLockSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.settle(a.Queue, a.Token, a.SubQueue, func(ref queue.Ref, t [16]byte) error {
		until, err := c.svc.queues.RenewLock(c.ctx, callStore{c}, ref, t, c.now)
		c.reply.Date("lockedUntilUtc", until)
		return err
	})
}

func runMQCancelScheduled(c *Call) error {
	var a mqCancelScheduledArgs
	if err := mqCancelScheduledSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := c.queueRef(a.Queue, "")
	if err != nil {
		return err
	}
	if err := c.svc.queues.CancelScheduled(c.ctx, callStore{c}, ref, a.Number, c.now); err != nil {
		return c.queueError(ref, err)
	}
	return nil
}
