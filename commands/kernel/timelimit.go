package kernel

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
)

// LimitTime stops what the command does after d (0: never); stop must be
// called when that is over. The fail points maxTimeAlwaysTimeOut and
// maxTimeNeverTimeOut have every limit be over at once, or none at all.
func LimitTime(c *Call, d time.Duration) (stop func(), err error) {
	if d == 0 {
		return func() {}, nil
	}
	always := func(*observe.FailData) bool { return true }
	if _, over := c.Svc.FailPoints.TimesOut.EnterIf(always); over {
		return nil, errMaxTime
	}
	if _, never := c.Svc.FailPoints.NeverTimesOut.EnterIf(always); never {
		return func() {}, nil
	}
	if d <= noTime {
		return nil, errMaxTime
	}
	old := c.Ctx
	ctx, cancel := context.WithTimeoutCause(old, d, errMaxTime)
	c.Ctx = ctx
	return func() { cancel(); c.Ctx = old }, nil
}

// noTime is what is left of a limit that is over, as 0 stands for no limit.
const noTime = time.Duration(1)

// TimeLeft is what is left of a limit of d to what the command does.
func TimeLeft(c *Call, d time.Duration) time.Duration {
	deadline, limited := c.Ctx.Deadline()
	if d == 0 || !limited {
		return d
	}
	return max(noTime, deadline.Sub(c.Svc.Real.Now()))
}
