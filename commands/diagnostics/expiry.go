package diagnostics

import (
	"errors"
	"math"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type testClockArgs struct {
	TestClock      value.Value    `arg:"testClock"`
	Set            value.Value    `arg:"set"`
	AdvanceMillis  *int64         `arg:"advanceMillis"`
	AdvanceSeconds *int64         `arg:"advanceSeconds"`
	Freeze         *bool          `arg:"freeze"`
	Reset          args.LooseBool `arg:"reset"`
	RunDuePasses   *bool          `arg:"runDuePasses"`
}

var testClockSpec = args.New[testClockArgs]("testClock")

func runTestClock(c *kernel.Call) error {
	var a testClockArgs
	if err := testClockSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	m, ok := c.Svc.Clock.(*clock.Manual)
	if !ok {
		return mongoerr.New(mongoerr.IllegalOperation, "the clock of this server cannot be moved")
	}
	move, err := a.move()
	if err != nil {
		return err
	}
	ran := false
	if move != nil || a.Freeze != nil {
		runDue := move != nil && (a.RunDuePasses == nil || *a.RunDuePasses)
		if ran, err = c.Svc.Monitor.Jump(func() error { return c.Svc.MoveClock(c.Ctx, a.all(move)) }, runDue); err != nil {
			return clockError(err)
		}
	}
	c.Reply.Date("now", m.NowMillis()).Bool("frozen", m.Frozen()).Int64("offsetMillis", m.OffsetMillis()).Bool("passRan", ran)
	return nil
}

func clockError(err error) error {
	switch {
	case errors.Is(err, clock.ErrOutOfRange):
		return mongoerr.New(mongoerr.BadValue, "the instant is out of range: "+err.Error()).WithCause(err)
	case errors.Is(err, clock.ErrBackwards):
		return mongoerr.New(mongoerr.BadValue, "the clock cannot move backwards").WithCause(err)
	}
	return kernel.Translate(kernel.ClockNamespace, err)
}

// all returns the function that does what the arguments ask: the move, if any, and then the
// freezing.
func (a *testClockArgs) all(move func(*clock.Manual) error) func(*clock.Manual) error {
	return func(m *clock.Manual) error {
		if move != nil {
			if err := move(m); err != nil {
				return err
			}
		}
		switch {
		case a.Freeze == nil:
		case *a.Freeze:
			m.Freeze()
		default:
			m.Resume()
		}
		return nil
	}
}

// move returns the function that moves the clock as the arguments ask, nil if they do not.
func (a *testClockArgs) move() (func(*clock.Manual) error, error) {
	var moves []func(*clock.Manual) error
	if !a.Set.IsMissing() {
		if a.Set.Kind() != value.KindDateTime {
			return nil, args.WrongType("testClock", "set", a.Set, "date")
		}
		to := time.UnixMilli(a.Set.DateTime())
		moves = append(moves, func(m *clock.Manual) error { return m.Set(to) })
	}
	if a.AdvanceMillis != nil {
		moves = append(moves, func(m *clock.Manual) error { return m.AdvanceMillis(*a.AdvanceMillis) })
	}
	if a.AdvanceSeconds != nil {
		if n := *a.AdvanceSeconds; n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return nil, mongoerr.Newf(mongoerr.BadValue, "advanceSeconds is out of range: %d", n)
		}
		moves = append(moves, func(m *clock.Manual) error { return m.AdvanceMillis(*a.AdvanceSeconds * 1000) })
	}
	if a.Reset {
		moves = append(moves, func(m *clock.Manual) error { m.Reset(); return nil })
	}
	switch len(moves) {
	case 0:
		return nil, nil
	case 1:
		return moves[0], nil
	}
	return nil, mongoerr.New(mongoerr.InvalidOptions, "only one of set, advanceMillis, advanceSeconds and reset may be given")
}

type passArgs struct {
	Run     value.Value `arg:"runExpirationPass"`
	Targets args.Array  `arg:"targets"`
}

var passSpec = args.New[passArgs]("runExpirationPass")

func runExpirationPass(c *kernel.Call) error {
	var a passArgs
	if err := passSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if !c.Svc.Params.Bool("ttlMonitorEnabled") {
		return mongoerr.New(mongoerr.InvalidOptions, "the TTL monitor is disabled (ttlMonitorEnabled)")
	}
	wanted := ttl.All
	if a.Targets != nil {
		var err error
		if wanted, err = targetsOf("runExpirationPass", a.Targets); err != nil {
			return err
		}
	}
	r, err := c.Svc.Monitor.RunPass(c.Ctx, wanted)
	if err != nil {
		return err
	}
	r.Append(c.Reply)
	return nil
}

// targetsOf reads the names of policies.
func targetsOf(command string, list args.Array) (ttl.Set, error) {
	var names []string
	for v := range value.Doc(list).Values() {
		if v.Kind() != value.KindString {
			return 0, args.WrongType(command, "targets", v, "string")
		}
		names = append(names, v.Str())
	}
	return ttl.ParseTargets(command, names)
}
