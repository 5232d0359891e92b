package kernel

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
)

// LimitTime limits the time of the command to d (0: no limit). The caller calls stop when
// the limited part is over. With the fail point maxTimeAlwaysTimeOut every limit has expired
// at once; with maxTimeNeverTimeOut no limit expires.
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
	if d <= NoTime {
		return nil, errMaxTime
	}
	old := c.Ctx
	ctx, cancel := context.WithTimeoutCause(old, d, errMaxTime)
	c.Ctx = ctx
	return func() { cancel(); c.Ctx = old }, nil
}

// NoTime is the rest of an expired limit; 0 would mean no limit.
const NoTime = time.Duration(1)

// TimeLeft returns the rest of a limit of d.
func TimeLeft(c *Call, d time.Duration) time.Duration {
	deadline, limited := c.Ctx.Deadline()
	if d == 0 || !limited {
		return d
	}
	return max(NoTime, deadline.Sub(c.Svc.Real.Now()))
}
