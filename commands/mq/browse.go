package mq

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqPeekArgs struct {
	Queue       value.Value `arg:"mqPeek,required"`
	From        *int64      `arg:"fromSequenceNumber"`
	MaxMessages *int64      `arg:"maxMessages"`
	SubQueue    string      `arg:"subQueue"`
	State       *string     `arg:"state"`
	FromEnd     bool        `arg:"fromEnd"`
}

type mqStatsArgs struct {
	Queue    value.Value `arg:"mqStats,required"`
	SubQueue string      `arg:"subQueue"`
}

var (
	mqPeekSpec  = args.New[mqPeekArgs]("mqPeek")
	mqStatsSpec = args.New[mqStatsArgs]("mqStats")
)

// runMQPeek browses messages without taking them.
func runMQPeek(c *kernel.Call) error {
	var a mqPeekArgs
	if err := mqPeekSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	r, err := browseRequest(c, &a)
	if err != nil {
		return err
	}
	docs, err := c.Svc.Queues.Browse(c.Ctx, kernel.CallStore{Call: c}, r, c.Now)
	if err != nil {
		return queueError(c, r.Ref, err)
	}
	c.Svc.Metrics.Document.Returned.Add(int64(len(docs)))
	messages(c, docs)
	return nil
}

func browseRequest(c *kernel.Call, a *mqPeekArgs) (r queue.Browse, err error) {
	if r.Ref, err = queueRef(c, a.Queue, a.SubQueue); err != nil {
		return r, err
	}
	if r.State, err = stateOf(c, a.State); err != nil {
		return r, err
	}
	limit := int64(1)
	if a.MaxMessages != nil {
		limit = *a.MaxMessages
	}
	if a.From != nil {
		r.From, r.HasFrom = *a.From, true
	}
	r.Max, r.FromEnd = int(limit), a.FromEnd
	return r, checkRange(c, "maxMessages", limit, 1, queue.MaxMessages)
}

// stateOf reads the argument state; "" if it is not given.
func stateOf(c *kernel.Call, name *string) (queue.State, error) {
	if name == nil {
		return "", nil
	}
	return queue.ParseState(c.Cmd.Name+".state", *name)
}

// runMQStats counts the messages of a queue. It does not count as an
// activity.
func runMQStats(c *kernel.Call) error {
	var a mqStatsArgs
	if err := mqStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, a.SubQueue)
	if err != nil {
		return err
	}
	st, err := c.Svc.Queues.Stats(c.Ctx, kernel.CallStore{Call: c}, ref, c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	AppendQueueStats(c.Reply, &st)
	names, topic, err := c.Svc.Queues.Subscriptions(c.Ctx, kernel.CallStore{Call: c}, ref, c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	if topic {
		c.Reply.StartArray("subscriptions")
		for _, name := range names {
			c.Reply.String("", name)
		}
		c.Reply.End()
	}
	return nil
}

// AppendQueueStats writes the numbers of messages of a queue.
func AppendQueueStats(b *value.Builder, st *queue.Stats) {
	b.Int64("active", st.Active).Int64("locked", st.Locked).Int64("deferred", st.Deferred).Int64("scheduled", st.Scheduled)
	b.Int64("expiredPending", st.ExpiredPending).Int64("deadLettered", st.DeadLettered)
	if st.LastActivity != 0 {
		b.Date("lastActivityUtc", st.LastActivity)
	}
	if st.IdleDeadline != 0 {
		b.Date("idleDeadlineUtc", st.IdleDeadline)
	}
}
