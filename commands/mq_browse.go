package commands

import (
	"math"

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
	mqPeekSpec  = newArgs[mqPeekArgs]("mqPeek")
	mqStatsSpec = newArgs[mqStatsArgs]("mqStats")
)

// runMQPeek browses messages without taking them.
func runMQPeek(c *Call) error {
	var a mqPeekArgs
	if err := mqPeekSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := c.queueRef(a.Queue, a.SubQueue)
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
	if err := c.checkRange("maxMessages", most, 1, queue.MaxMessages); err != nil {
		return err
	}
	docs, err := c.svc.queues.Peek(c.ctx, callStore{c}, ref, from, int(most), c.now)
	if err != nil {
		return c.queueError(ref, err)
	}
	c.svc.metrics.document.returned.Add(int64(len(docs)))
	c.messages(docs)
	return nil
}

// runMQStats counts the messages of a queue. It does not count as an
// activity.
func runMQStats(c *Call) error {
	var a mqStatsArgs
	if err := mqStatsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := c.queueRef(a.Queue, a.SubQueue)
	if err != nil {
		return err
	}
	st, err := c.svc.queues.Stats(c.ctx, callStore{c}, ref, c.now)
	if err != nil {
		return c.queueError(ref, err)
	}
	appendQueueStats(c.reply, &st)
	return nil
}

// appendQueueStats writes the numbers of messages of a queue.
func appendQueueStats(b *value.Builder, st *queue.Stats) {
	b.Int64("active", st.Active).Int64("locked", st.Locked).Int64("deferred", st.Deferred).Int64("scheduled", st.Scheduled)
	b.Int64("expiredPending", st.ExpiredPending).Int64("deadLettered", st.DeadLettered)
	if st.LastActivity != 0 {
		b.Date("lastActivityUtc", st.LastActivity)
	}
	if st.IdleDeadline != 0 {
		b.Date("idleDeadlineUtc", st.IdleDeadline)
	}
}
