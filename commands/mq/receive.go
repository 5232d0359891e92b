package mq

import (
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqReceiveArgs struct {
	Queue       value.Value `arg:"mqReceive,required"`
	Mode        *string     `arg:"mode"`
	MaxMessages *int64      `arg:"maxMessages"`
	MaxWait     int64       `arg:"maxWaitTimeMS"`
	SubQueue    string      `arg:"subQueue"`
	Numbers     args.Array  `arg:"sequenceNumbers"`
	Session     value.Value `arg:"sessionToken"`
}

var mqReceiveSpec = args.New[mqReceiveArgs]("mqReceive")

// runMQReceive delivers messages. If the client asks for it, it waits for the first one.
func runMQReceive(c *kernel.Call) error {
	var a mqReceiveArgs
	if err := mqReceiveSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	r, err := receiveRequest(c, &a)
	if err != nil {
		return err
	}
	docs, err := c.Svc.Queues.Receive(c.Ctx, kernel.CallStore{Call: c}, r, c.Now)
	if err != nil {
		return queueError(c, r.Ref, err)
	}
	c.Svc.Metrics.Document.Returned.Add(int64(len(docs)))
	messages(c, docs)
	return nil
}

func receiveRequest(c *kernel.Call, a *mqReceiveArgs) (r queue.Request, err error) {
	if r.Ref, err = queueRef(c, a.Queue, a.SubQueue); err != nil {
		return r, err
	}
	if a.Mode != nil {
		switch *a.Mode {
		case "peekLock":
		case "receiveAndDelete":
			r.Delete = true
		default:
			return r, mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'mqReceive.mode' is not a valid value.", *a.Mode)
		}
	}
	limit := int64(1)
	if a.MaxMessages != nil {
		limit = *a.MaxMessages
	}
	if err := checkRange(c, "maxMessages", limit, 1, queue.MaxMessages); err != nil {
		return r, err
	}
	if err := checkWait(c, a.MaxWait); err != nil {
		return r, err
	}
	if !a.Session.IsMissing() {
		token, err := lockToken(c, "sessionToken", a.Session)
		if err != nil {
			return r, err
		}
		r.Session = &token
	}
	r.Max, r.Wait = int(limit), time.Duration(a.MaxWait)*time.Millisecond
	r.Gone = c.Conn.HungUp
	r.Numbers, err = sequenceNumbers(c, a.Numbers)
	return r, err
}

// sequenceNumbers reads the numbers of deferred messages; nil if there is no
// such argument.
func sequenceNumbers(c *kernel.Call, list args.Array) ([]int64, error) {
	if list == nil {
		return nil, nil
	}
	numbers := []int64{}
	for v := range value.Doc(list).Values() {
		n, ok := v.AsInt64()
		if !ok {
			return nil, args.WrongType(c.Cmd.Name, "sequenceNumbers", v, "long")
		}
		numbers = append(numbers, n)
	}
	return numbers, checkRange(c, "sequenceNumbers", int64(len(numbers)), 1, queue.MaxMessages)
}
