package commands

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
)

var errMaxTime = mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")

// limitTime stops what the command does after d (0: never); stop must be
// called when that is over. The fail points maxTimeAlwaysTimeOut and
// maxTimeNeverTimeOut have every limit be over at once, or none at all.
func (c *Call) limitTime(d time.Duration) (stop func(), err error) {
	if d == 0 {
		return func() {}, nil
	}
	always := func(*failData) bool { return true }
	if _, over := c.svc.failPoints.timesOut.enterIf(always); over {
		return nil, errMaxTime
	}
	if _, never := c.svc.failPoints.neverTimesOut.enterIf(always); never {
		return func() {}, nil
	}
	if d <= noTime {
		return nil, errMaxTime
	}
	old := c.ctx
	ctx, cancel := context.WithTimeoutCause(old, d, errMaxTime)
	c.ctx = ctx
	return func() { cancel(); c.ctx = old }, nil
}

// noTime is what is left of a limit that is over, as 0 stands for no limit.
const noTime = time.Duration(1)

// timeLeft is what is left of a limit of d to what the command does.
func (c *Call) timeLeft(d time.Duration) time.Duration {
	deadline, limited := c.ctx.Deadline()
	if d == 0 || !limited {
		return d
	}
	return max(noTime, deadline.Sub(c.svc.real.Now()))
}
