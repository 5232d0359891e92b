package commands

import (
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqReceiveArgs struct {
	Queue       value.Value `arg:"mqReceive,required"`
	Mode        *string     `arg:"mode"`
	MaxMessages *int64      `arg:"maxMessages"`
	MaxWait     int64       `arg:"maxWaitTimeMS"`
	SubQueue    string      `arg:"subQueue"`
	Numbers     array       `arg:"sequenceNumbers"`
}

var mqReceiveSpec = newArgs[mqReceiveArgs]("mqReceive")

// runMQReceive hands out messages, waiting for the first if asked to.
func runMQReceive(c *Call) error {
	var a mqReceiveArgs
	if err := mqReceiveSpec.decode(c.Body, &a); err != nil {
		return err
	}
	r, err := c.receiveRequest(&a)
	if err != nil {
		return err
	}
	docs, err := c.svc.queues.Receive(c.ctx, callStore{c}, r, c.now)
	if err != nil {
		return c.queueError(r.Ref, err)
	}
	c.svc.metrics.document.returned.Add(int64(len(docs)))
	c.messages(docs)
	return nil
}

func (c *Call) receiveRequest(a *mqReceiveArgs) (r queue.Request, err error) {
	if r.Ref, err = c.queueRef(a.Queue, a.SubQueue); err != nil {
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
	most := int64(1)
	if a.MaxMessages != nil {
		most = *a.MaxMessages
	}
	if err := c.checkRange("maxMessages", most, 1, queue.MaxMessages); err != nil {
		return r, err
	}
	if err := c.checkRange("maxWaitTimeMS", a.MaxWait, 0, queue.MaxWait.Milliseconds()); err != nil {
		return r, err
	}
	r.Max, r.Wait = int(most), time.Duration(a.MaxWait)*time.Millisecond
	r.Gone = c.conn.HungUp
	r.Numbers, err = c.sequenceNumbers(a.Numbers)
	return r, err
}

// sequenceNumbers reads the numbers of deferred messages; nil if there is no
// such argument.
func (c *Call) sequenceNumbers(list array) ([]int64, error) {
	if list == nil {
		return nil, nil
	}
	numbers := []int64{}
	for v := range value.Doc(list).Values() {
		n, ok := v.AsInt64()
		if !ok {
			return nil, wrongType(c.cmd.name, "sequenceNumbers", v, "long")
		}
		numbers = append(numbers, n)
	}
	return numbers, c.checkRange("sequenceNumbers", int64(len(numbers)), 1, queue.MaxMessages)
}
