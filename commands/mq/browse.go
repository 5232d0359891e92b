package mq

import (
	"math"

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
	ref, err := queueRef(c, a.Queue, a.SubQueue)
	if err != nil {
		return err
	}
	from, most := int64(math.MinInt64), int64(1)
	if a.From != nil {
		from = *a.From
	}
	if a.MaxMessages != nil {
		most = *a.MaxMessages
	}
	if err := checkRange(c, "maxMessages", most, 1, queue.MaxMessages); err != nil {
		return err
	}
	docs, err := c.Svc.Queues.Peek(c.Ctx, kernel.CallStore{Call: c}, ref, from, int(most), c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	c.Svc.Metrics.Document.Returned.Add(int64(len(docs)))
	messages(c, docs)
	return nil
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
