package commands

import (
	"math"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// expiryCommands move the server's clock and look at what expires
// (semantics.md §11).
func expiryCommands() []command {
	withClock := func(s *Service) bool { return s.options.TestClock }
	return []command{
		{name: "testClock", run: runTestClock, flags: adminOnly, action: "setParameter", on: onCluster, enabled: withClock, help: "read or move the server's clock"},
		{name: "runExpirationPass", run: runExpirationPass, flags: adminOnly, action: "setParameter", on: onCluster, enabled: withClock, help: "remove at once what has expired"},
		{name: "expirationStats", run: runExpirationStats, action: "collStats", on: onDatabase, help: "what expires, and when"},
	}
}

type testClockArgs struct {
	TestClock      value.Value `arg:"testClock"`
	Set            value.Value `arg:"set"`
	AdvanceMillis  *int64      `arg:"advanceMillis"`
	AdvanceSeconds *int64      `arg:"advanceSeconds"`
	Freeze         *bool       `arg:"freeze"`
	Reset          looseBool   `arg:"reset"`
	RunDuePasses   *bool       `arg:"runDuePasses"`
}

var testClockSpec = newArgs[testClockArgs]("testClock")

func runTestClock(c *Call) error {
	var a testClockArgs
	if err := testClockSpec.decode(c.Body, &a); err != nil {
		return err
	}
	m, ok := c.svc.clock.(*clock.Manual)
	if !ok {
		return mongoerr.New(mongoerr.IllegalOperation, "the clock of this server cannot be moved")
	}
	move, err := a.move(m)
	if err != nil {
		return err
	}
	ran := false
	if move != nil {
		runDue := a.RunDuePasses == nil || *a.RunDuePasses
		if ran, err = c.svc.monitor.Jump(move, runDue); err != nil {
			return mongoerr.New(mongoerr.BadValue, "the clock cannot move backwards").WithCause(err)
		}
	}
	if a.Freeze != nil && *a.Freeze {
		m.Freeze()
	} else if a.Freeze != nil {
		m.Resume()
	}
	c.reply.Date("now", m.NowMillis()).Bool("frozen", m.Frozen()).Int64("offsetMillis", m.OffsetMillis()).Bool("passRan", ran)
	return nil
}

// move is what the arguments ask for; nil if the clock stays.
func (a *testClockArgs) move(m *clock.Manual) (func() error, error) {
	var moves []func() error
	if !a.Set.IsMissing() {
		if a.Set.Kind() != value.KindDateTime {
			return nil, wrongType("testClock", "set", a.Set, "date")
		}
		to := time.UnixMilli(a.Set.DateTime())
		moves = append(moves, func() error { return m.Set(to) })
	}
	if a.AdvanceMillis != nil {
		moves = append(moves, func() error { return m.AdvanceMillis(*a.AdvanceMillis) })
	}
	if a.AdvanceSeconds != nil {
		if n := *a.AdvanceSeconds; n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return nil, mongoerr.Newf(mongoerr.BadValue, "advanceSeconds is out of range: %d", n)
		}
		moves = append(moves, func() error { return m.AdvanceMillis(*a.AdvanceSeconds * 1000) })
	}
	if a.Reset {
		moves = append(moves, func() error { m.Reset(); return nil })
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
	Targets array       `arg:"targets"`
}

var passSpec = newArgs[passArgs]("runExpirationPass")

func runExpirationPass(c *Call) error {
	var a passArgs
	if err := passSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if !c.svc.params.bool("ttlMonitorEnabled") {
		return mongoerr.New(mongoerr.InvalidOptions, "the TTL monitor is disabled (ttlMonitorEnabled)")
	}
	wanted := ttl.All
	if a.Targets != nil {
		var names []string
		for v := range value.Doc(a.Targets).Values() {
			if v.Kind() != value.KindString {
				return wrongType("runExpirationPass", "targets", v, "string")
			}
			names = append(names, v.Str())
		}
		var err error
		if wanted, err = ttl.ParseTargets(names); err != nil {
			return err
		}
	}
	r, err := c.svc.monitor.RunPass(c.ctx, wanted)
	if err != nil {
		return err
	}
	r.Append(c.reply)
	return nil
}

type expirationStatsArgs struct {
	Stats   value.Value `arg:"expirationStats,required"`
	Horizon *int64      `arg:"horizonSeconds"`
	Buckets *int64      `arg:"buckets"`
}

var expirationStatsSpec = newArgs[expirationStatsArgs]("expirationStats")

// maxForecastParts bounds the histogram of a forecast.
const maxForecastParts = 1000

// runExpirationStats forecasts what falls due, from the expiry indexes
// alone.
func runExpirationStats(c *Call) error {
	var a expirationStatsArgs
	if err := expirationStatsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	h := ttl.Horizon{Now: c.now, Length: 3600_000, Parts: 10}
	if a.Horizon != nil {
		if *a.Horizon < 1 || *a.Horizon > math.MaxInt64/1000 {
			return mongoerr.Newf(mongoerr.BadValue, "horizonSeconds must be positive, not %d", *a.Horizon)
		}
		h.Length = *a.Horizon * 1000
	}
	if a.Buckets != nil {
		if *a.Buckets < 1 || *a.Buckets > maxForecastParts {
			return mongoerr.Newf(mongoerr.BadValue, "buckets must be between 1 and %d, not %d", maxForecastParts, *a.Buckets)
		}
		h.Parts = int(*a.Buckets)
	}
	ns := storage.Namespace{DB: c.DB}
	if n, ok := a.Stats.AsInt64(); !ok || n != 1 {
		var err error
		if ns, err = c.namespaceOf(a.Stats); err != nil {
			return err
		}
	}
	return c.appendForecasts(ns, h)
}

func (c *Call) appendForecasts(ns storage.Namespace, h ttl.Horizon) error {
	b, found := c.reply, false
	b.Date("now", c.now)
	b.StartArray("collections")
	err := c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections(ns.DB) {
			m := metaOf(info)
			name := info.Namespace.Coll
			if isBuckets(name) {
				name = name[len(bucketsPrefix):]
			}
			found = found || name == ns.Coll
			if m.rules == nil && !m.isQueue || ns.Coll != "" && name != ns.Coll {
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			forecasts, err := m.forecast(coll, h)
			if err != nil {
				return err
			}
			b.StartDocument("").String("ns", ns.DB+"."+name)
			b.StartArray("policies")
			for i := range forecasts {
				b.StartDocument("")
				forecasts[i].Append(b, h)
				b.End()
			}
			b.End()
			b.End()
		}
		return nil
	})
	b.End()
	if err != nil {
		return err
	}
	if ns.Coll != "" && !found {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	last := c.svc.monitor.LastPass()
	b.StartDocument("lastPass")
	if last.SubPasses > 0 {
		b.Date("at", last.At).Double("tookMillis", float64(last.Took.Microseconds())/1000)
		last.Append(b)
	}
	b.End()
	return nil
}

// forecast looks ahead for all that expires in a collection.
func (m *collectionMeta) forecast(coll storage.Collection, h ttl.Horizon) ([]ttl.Forecast, error) {
	if m.isQueue {
		return queue.Forecast(coll, h)
	}
	return m.rules.Forecast(coll, h)
}
