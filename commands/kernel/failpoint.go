package kernel

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// EnterFailPoint reports whether the fail point takes effect on a command, and how.
func EnterFailPoint(f *observe.FailPoint, c *Call) (observe.FailData, bool) {
	return f.EnterIf(func(d *observe.FailData) bool { return concerns(d, c) })
}

// concerns reports whether a command is among those that are to fail.
func concerns(d *observe.FailData, c *Call) bool {
	if c.Cmd.Has(NoFailPoint) {
		return false
	}
	if !d.All && !d.Commands[c.Cmd.Name] && !slices.ContainsFunc(c.Cmd.Aliases, func(name string) bool { return d.Commands[name] }) {
		return false
	}
	return concernsClient(d, c) && (d.Namespace == "" || d.Namespace == requestNamespace(c.Cmd.Name, c.Body, c.DB))
}

// concernsClient reports whether the command comes from a client that the fail point
// selects.
func concernsClient(d *observe.FailData, c *Call) bool {
	if d.AppName != "" && d.AppName != appName(c) {
		return false
	}
	return d.ThreadName == "" || d.ThreadName == "conn"+strconv.FormatInt(c.Conn.ID, 10)
}

// failInterrupt kills the command if the fail point checkForInterruptFail takes effect.
func (c *Call) failInterrupt() {
	if _, ok := c.Svc.FailPoints.Interrupts.EnterIf(func(d *observe.FailData) bool {
		return c.Conn != nil && concernsClient(d, c) && rand.Float64() < d.Chance //nolint:gosec // no secret
	}); ok {
		c.Kill(ErrKilled)
	}
}

// FailGetMore returns the error that failGetMoreAfterCursorCheckout gives a getMore;
// nil if the fail point is off or does not concern it.
func (c *Call) FailGetMore(cur *Cursor) error {
	d, ok := c.Svc.FailPoints.GetMore.EnterIf(func(d *observe.FailData) bool {
		return concernsClient(d, c) && (d.Namespace == "" || d.Namespace == cur.NS.String())
	})
	if !ok {
		return nil
	}
	if d.Code == mongoerr.OK {
		d.Code = mongoerr.InternalError
	}
	return mongoerr.New(d.Code, "Hit the 'failGetMoreAfterCursorCheckout' failpoint")
}

// failWrite returns the error of a fail point for a retryable write, before its statements
// are committed. The fail point may close the connection instead of a reply, whether the
// write takes effect or not. If the engine runs the transaction more than once, the fail
// point counts it once.
func (c *Call) failWrite() error {
	if !c.Retry.On || !c.log.HasStatements() {
		return nil
	}
	if c.Retry.fails == nil {
		d, ok := c.Svc.FailPoints.Write.EnterIf(func(*observe.FailData) bool { return true })
		if !ok {
			return nil
		}
		c.Retry.fails = &d
	}
	d := c.Retry.fails
	c.Response.Drop = !d.Stays
	if d.Before == mongoerr.OK {
		return nil
	}
	return mongoerr.Newf(d.Before, "Failing write for %s:%d due to failpoint. The write must not be reflected.", c.Session, *c.Generic.TxnNumber)
}

// appName returns the name of the client application, which the first hello of the
// connection contains.
func appName(c *Call) string {
	if c.Cmd.Has(Handshake) {
		if client := c.Body.Lookup("client"); client.Kind() == value.KindDocument {
			if app := client.Doc().Lookup("application"); app.Kind() == value.KindDocument {
				return app.Doc().Lookup("name").Str()
			}
		}
	}
	_, name := c.Conn.ClientInfo()
	return name
}

// Block delays a command by d, which counts towards its maxTimeMS.
func (s *Service) Block(c *Call, d time.Duration) error {
	limited := c.Generic.MaxTime > 0 && !c.Cmd.Has(Continues)
	over := limited && c.Generic.MaxTime <= d
	if over {
		d = c.Generic.MaxTime
	}
	timer := s.Real.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.Ctx.Done():
		return c.Interrupted()
	}
	if over {
		return errMaxTime
	}
	if limited {
		c.Generic.MaxTime -= d
	}
	return nil
}
