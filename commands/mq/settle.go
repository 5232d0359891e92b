package mq

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

// locks are the arguments by which the commands that settle name their messages: one
// message, or several.
type locks struct {
	queue  value.Value
	token  value.Value
	tokens args.Array
	sub    string
}

type mqCompleteArgs struct {
	Queue    value.Value `arg:"mqComplete,required"`
	Token    value.Value `arg:"lockToken"`
	Tokens   args.Array  `arg:"lockTokens"`
	SubQueue string      `arg:"subQueue"`
}

type mqAbandonArgs struct {
	Queue    value.Value `arg:"mqAbandon,required"`
	Token    value.Value `arg:"lockToken"`
	Tokens   args.Array  `arg:"lockTokens"`
	Set      value.Doc   `arg:"set"`
	SubQueue string      `arg:"subQueue"`
}

type mqDeferArgs struct {
	Queue    value.Value `arg:"mqDefer,required"`
	Token    value.Value `arg:"lockToken"`
	Tokens   args.Array  `arg:"lockTokens"`
	SubQueue string      `arg:"subQueue"`
}

type mqDeadLetterArgs struct {
	Queue       value.Value `arg:"mqDeadLetter,required"`
	Token       value.Value `arg:"lockToken"`
	Tokens      args.Array  `arg:"lockTokens"`
	Reason      string      `arg:"reason"`
	Description string      `arg:"description"`
	SubQueue    string      `arg:"subQueue"`
}

type mqRenewLockArgs struct {
	Queue    value.Value `arg:"mqRenewLock,required"`
	Token    value.Value `arg:"lockToken"`
	Tokens   args.Array  `arg:"lockTokens"`
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

// settle calls fn for the message that the client has locked, or for each of several. fn
// writes its reply. Of several messages each has a result: those that cannot be settled do
// not keep the others from it.
func settle(c *kernel.Call, l locks, fn func(queue.Lock, *value.Builder) error) error {
	ref, err := queueRef(c, l.queue, l.sub)
	if err != nil {
		return err
	}
	switch none := l.token.IsMissing(); {
	case none && l.tokens == nil:
		return mongoerr.MissingField(c.Cmd.Name + ".lockToken")
	case !none && l.tokens != nil:
		return mongoerr.Newf(mongoerr.FailedToParse, "%s takes lockToken or lockTokens, not both", c.Cmd.Name)
	}
	if l.tokens == nil {
		t, err := lockToken(c, "lockToken", l.token)
		if err != nil {
			return err
		}
		return wrapError(c, ref, fn(queue.Lock{Ref: ref, Token: t}, c.Reply))
	}
	list, err := lockTokens(c, l.tokens)
	if err != nil {
		return err
	}
	return settleEach(c, ref, list, fn)
}

// lockTokens reads several tokens.
func lockTokens(c *kernel.Call, tokens args.Array) (list [][16]byte, err error) {
	for v := range value.Doc(tokens).Values() {
		t, err := lockToken(c, "lockTokens", v)
		if err != nil {
			return nil, err
		}
		if list = append(list, t); len(list) > queue.MaxMessages {
			break
		}
	}
	return list, checkRange(c, "lockTokens", int64(len(list)), 1, queue.MaxMessages)
}

// settleEach settles several messages and writes a result for each.
func settleEach(c *kernel.Call, ref queue.Ref, list [][16]byte, fn func(queue.Lock, *value.Builder) error) error {
	results := value.NewBuilder()
	for _, t := range list {
		one := value.NewBuilder()
		one.Append("lockToken", value.Binary(4, t[:]))
		err := wrapError(c, ref, fn(queue.Lock{Ref: ref, Token: t}, one))
		switch {
		case err == nil:
			one.Double("ok", 1)
		case mongoerr.Is(err, mongoerr.MessageLockLost), mongoerr.Is(err, mongoerr.IllegalOperation):
			failed := mongoerr.From(err)
			one = value.NewBuilder()
			one.Append("lockToken", value.Binary(4, t[:])).Double("ok", 0).Int32("code", int32(failed.Code)).
				String("codeName", failed.Code.Name()).String("errmsg", failed.Message)
		default:
			return err
		}
		results.Append("", value.Document(one.Doc()))
	}
	c.Reply.Array("results", results.Doc())
	return nil
}

func runMQComplete(c *kernel.Call) error {
	var a mqCompleteArgs
	if err := mqCompleteSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, locks{a.Queue, a.Token, a.Tokens, a.SubQueue}, func(lock queue.Lock, _ *value.Builder) error {
		return c.Svc.Queues.Complete(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
	})
}

func runMQAbandon(c *kernel.Call) error {
	var a mqAbandonArgs
	if err := mqAbandonSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, locks{a.Queue, a.Token, a.Tokens, a.SubQueue}, func(lock queue.Lock, reply *value.Builder) error {
		outcome, err := c.Svc.Queues.Abandon(c.Ctx, kernel.CallStore{Call: c}, lock, a.Set, c.Now)
		reply.String("outcome", outcome)
		return err
	})
}

func runMQDefer(c *kernel.Call) error {
	var a mqDeferArgs
	if err := mqDeferSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, locks{a.Queue, a.Token, a.Tokens, a.SubQueue}, func(lock queue.Lock, reply *value.Builder) error {
		number, outcome, err := c.Svc.Queues.Defer(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		reply.Int64("sequenceNumber", number).String("outcome", outcome)
		return err
	})
}

func runMQDeadLetter(c *kernel.Call) error {
	var a mqDeadLetterArgs
	if err := mqDeadLetterSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, locks{a.Queue, a.Token, a.Tokens, a.SubQueue}, func(lock queue.Lock, _ *value.Builder) error {
		return c.Svc.Queues.DeadLetter(c.Ctx, kernel.CallStore{Call: c}, lock, a.Reason, a.Description, c.Now)
	})
}

func runMQRenewLock(c *kernel.Call) error {
	var a mqRenewLockArgs
	if err := mqRenewLockSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return settle(c, locks{a.Queue, a.Token, a.Tokens, a.SubQueue}, func(lock queue.Lock, reply *value.Builder) error {
		until, err := c.Svc.Queues.RenewLock(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		reply.Date("lockedUntilUtc", until)
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
