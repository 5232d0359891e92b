package mq

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqPurgeArgs struct {
	Queue    value.Value `arg:"mqPurge,required"`
	SubQueue string      `arg:"subQueue"`
	State    *string     `arg:"state"`
	Before   value.Value `arg:"before"`
	UpTo     *int64      `arg:"upToSequenceNumber"`
	DryRun   bool        `arg:"dryRun"`
}

type mqResubmitArgs struct {
	Queue     value.Value `arg:"mqResubmit,required"`
	Numbers   args.Array  `arg:"sequenceNumbers"`
	All       bool        `arg:"all"`
	Set       value.Doc   `arg:"set"`
	Unset     args.Array  `arg:"unset"`
	Live      value.Value `arg:"timeToLive"`
	Scheduled value.Value `arg:"scheduledEnqueueTimeUtc"`
	Session   value.Value `arg:"sessionId"`
}

var (
	mqPurgeSpec    = args.New[mqPurgeArgs]("mqPurge")
	mqResubmitSpec = args.New[mqResubmitArgs]("mqResubmit")
)

// runMQPurge removes messages, or counts those that it would remove.
func runMQPurge(c *kernel.Call) error {
	var a mqPurgeArgs
	if err := mqPurgeSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, a.SubQueue)
	if err != nil {
		return err
	}
	sel, err := selection(c, &a)
	if err != nil {
		return err
	}
	if sel.State == queue.DeadLettered {
		sel.State, ref.Dead = "", true
	}
	store := kernel.CallStore{Call: c}
	if a.DryRun {
		n, err := c.Svc.Queues.Count(c.Ctx, store, ref, sel, c.Now)
		c.Reply.Append("purged", value.Int(n)).Bool("dryRun", true)
		return wrapError(c, ref, err)
	}
	n, err := c.Svc.Queues.Purge(c.Ctx, store, ref, sel, c.Now)
	c.Svc.Metrics.Document.Deleted.Add(n)
	c.Reply.Append("purged", value.Int(n))
	return wrapError(c, ref, err)
}

func selection(c *kernel.Call, a *mqPurgeArgs) (s queue.Selection, err error) {
	if s.State, err = stateOf(c, a.State); err != nil {
		return s, err
	}
	if !a.Before.IsMissing() {
		if a.Before.Kind() != value.KindDateTime {
			return s, args.WrongType(c.Cmd.Name, "before", a.Before, "date")
		}
		s.Before, s.HasBefore = a.Before.DateTime(), true
	}
	if a.UpTo != nil {
		s.UpTo, s.HasUpTo = *a.UpTo, true
	}
	return s, nil
}

// runMQResubmit moves dead letters back to their queue.
func runMQResubmit(c *kernel.Call) error {
	var a mqResubmitArgs
	if err := mqResubmitSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, "")
	if err != nil {
		return err
	}
	r, err := resubmission(c, &a, ref)
	if err != nil {
		return err
	}
	if err := c.Svc.Memory.Admit(len(r.Set)); err != nil {
		return err
	}
	numbers, n, err := c.Svc.Queues.Resubmit(c.Ctx, kernel.CallStore{Call: c}, r, c.Now)
	if err != nil {
		return wrapError(c, ref, err)
	}
	c.Reply.Append("resubmitted", value.Int(n))
	if r.Numbers != nil {
		c.Reply.StartArray("sequenceNumbers")
		for _, n := range numbers {
			c.Reply.Int64("", n)
		}
		c.Reply.End()
	}
	return nil
}

func resubmission(c *kernel.Call, a *mqResubmitArgs, ref queue.Ref) (*queue.Resubmission, error) {
	if (a.Numbers != nil) == a.All {
		return nil, mongoerr.New(mongoerr.FailedToParse, "mqResubmit needs either sequenceNumbers or all: true")
	}
	numbers, err := sequenceNumbers(c, a.Numbers)
	if err != nil {
		return nil, err
	}
	r := &queue.Resubmission{Ref: ref, Numbers: numbers, Set: a.Set}
	if a.Unset != nil {
		for v := range value.Doc(a.Unset).Values() {
			if v.Kind() != value.KindString {
				return nil, args.WrongType(c.Cmd.Name, "unset", v, "string")
			}
			r.Unset = append(r.Unset, v.Str())
		}
	}
	b := value.NewBuilder()
	b.Append("timeToLive", a.Live).Append("scheduledEnqueueTimeUtc", a.Scheduled).Append("sessionId", a.Session)
	r.Options = b.Doc()
	return r, nil
}

// wrapError gives errors of the storage their codes; nil stays nil.
func wrapError(c *kernel.Call, ref queue.Ref, err error) error {
	if err == nil {
		return nil
	}
	return queueError(c, ref, err)
}
