package mq

import (
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/value"
)

type mqAcceptSessionArgs struct {
	Queue   value.Value `arg:"mqAcceptSession,required"`
	ID      *string     `arg:"sessionId"`
	MaxWait int64       `arg:"maxWaitTimeMS"`
}

type mqRenewSessionArgs struct {
	Queue value.Value `arg:"mqRenewSession,required"`
	Token value.Value `arg:"sessionToken,required"`
}

type mqReleaseSessionArgs struct {
	Queue value.Value `arg:"mqReleaseSession,required"`
	Token value.Value `arg:"sessionToken,required"`
}

type mqGetSessionStateArgs struct {
	Queue value.Value `arg:"mqGetSessionState,required"`
	Token value.Value `arg:"sessionToken,required"`
}

type mqSetSessionStateArgs struct {
	Queue value.Value `arg:"mqSetSessionState,required"`
	Token value.Value `arg:"sessionToken,required"`
	State value.Value `arg:"state,required"`
}

type mqSessionsArgs struct {
	Queue value.Value `arg:"mqSessions,required"`
	After string      `arg:"after"`
	Max   *int64      `arg:"maxSessions"`
}

var (
	mqAcceptSessionSpec   = args.New[mqAcceptSessionArgs]("mqAcceptSession")
	mqRenewSessionSpec    = args.New[mqRenewSessionArgs]("mqRenewSession")
	mqReleaseSessionSpec  = args.New[mqReleaseSessionArgs]("mqReleaseSession")
	mqGetSessionStateSpec = args.New[mqGetSessionStateArgs]("mqGetSessionState")
	mqSetSessionStateSpec = args.New[mqSetSessionStateArgs]("mqSetSessionState")
	mqSessionsSpec        = args.New[mqSessionsArgs]("mqSessions")
)

// runMQAcceptSession locks a session for the client: the one it names, or the next. If the
// client asks for it, it waits for the next one.
func runMQAcceptSession(c *kernel.Call) error {
	var a mqAcceptSessionArgs
	if err := mqAcceptSessionSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, "")
	if err != nil {
		return err
	}
	if err := checkWait(c, a.MaxWait); err != nil {
		return err
	}
	want := queue.Accept{Ref: ref, Wait: time.Duration(a.MaxWait) * time.Millisecond, Gone: c.Conn.HungUp}
	if a.ID != nil {
		if err := queue.CheckID(c.Cmd.Name+".sessionId", *a.ID); err != nil {
			return err
		}
		want.ID, want.Named = *a.ID, true
	}
	got, ok, err := c.Svc.Queues.AcceptSession(c.Ctx, kernel.CallStore{Call: c}, want, c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	if !ok {
		c.Reply.Append("session", value.Null())
		return nil
	}
	c.Reply.StartDocument("session")
	c.Reply.String("sessionId", got.ID).Append("sessionToken", value.Binary(4, got.Token[:])).Date("lockedUntilUtc", got.Until)
	if !got.State.IsMissing() {
		c.Reply.Append("state", got.State)
	}
	c.Reply.End()
	return nil
}

// held calls fn for a session that the client holds.
func held(c *kernel.Call, name, token value.Value, fn func(queue.SessionLock) error) error {
	ref, err := queueRef(c, name, "")
	if err != nil {
		return err
	}
	t, err := lockToken(c, "sessionToken", token)
	if err != nil {
		return err
	}
	return wrapError(c, ref, fn(queue.SessionLock{Ref: ref, Token: t}))
}

func runMQRenewSession(c *kernel.Call) error {
	var a mqRenewSessionArgs
	if err := mqRenewSessionSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return held(c, a.Queue, a.Token, func(lock queue.SessionLock) error {
		until, err := c.Svc.Queues.RenewSession(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		c.Reply.Date("lockedUntilUtc", until)
		return err
	})
}

func runMQReleaseSession(c *kernel.Call) error {
	var a mqReleaseSessionArgs
	if err := mqReleaseSessionSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return held(c, a.Queue, a.Token, func(lock queue.SessionLock) error {
		return c.Svc.Queues.ReleaseSession(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
	})
}

func runMQGetSessionState(c *kernel.Call) error {
	var a mqGetSessionStateArgs
	if err := mqGetSessionStateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return held(c, a.Queue, a.Token, func(lock queue.SessionLock) error {
		state, err := c.Svc.Queues.SessionState(c.Ctx, kernel.CallStore{Call: c}, lock, c.Now)
		if state.IsMissing() {
			state = value.Null()
		}
		c.Reply.Append("state", state)
		return err
	})
}

func runMQSetSessionState(c *kernel.Call) error {
	var a mqSetSessionStateArgs
	if err := mqSetSessionStateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return held(c, a.Queue, a.Token, func(lock queue.SessionLock) error {
		return c.Svc.Queues.SetSessionState(c.Ctx, kernel.CallStore{Call: c}, lock, a.State, c.Now)
	})
}

// runMQSessions lists the sessions of a queue. It does not count as an activity.
func runMQSessions(c *kernel.Call) error {
	var a mqSessionsArgs
	if err := mqSessionsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, "")
	if err != nil {
		return err
	}
	limit := int64(100)
	if a.Max != nil {
		limit = *a.Max
	}
	if err := checkRange(c, "maxSessions", limit, 1, queue.MaxMessages); err != nil {
		return err
	}
	list, err := c.Svc.Queues.Sessions(c.Ctx, kernel.CallStore{Call: c}, ref, a.After, int(limit), c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	c.Reply.StartArray("sessions")
	for _, s := range list {
		c.Reply.StartDocument("")
		c.Reply.String("sessionId", s.ID).Int64("active", s.Active).Bool("hasState", s.HasState)
		if s.Until != 0 {
			c.Reply.Date("lockedUntilUtc", s.Until)
		}
		c.Reply.End()
	}
	c.Reply.End()
	return nil
}
