package diagnostics

import (
	"math"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/mq"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type expirationStatsArgs struct {
	Stats   value.Value `arg:"expirationStats,required"`
	Horizon *int64      `arg:"horizonSeconds"`
	Buckets *int64      `arg:"buckets"`
}

var expirationStatsSpec = args.New[expirationStatsArgs]("expirationStats")

// maxForecastParts bounds the histogram of a forecast.
const maxForecastParts = 1000

// runExpirationStats forecasts how many documents will expire, from the expiry indexes
// alone.
func runExpirationStats(c *kernel.Call) error {
	var a expirationStatsArgs
	if err := expirationStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	h := ttl.Horizon{Now: c.Now, Length: 3600_000, Parts: 10}
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
		if ns, err = c.NamespaceOf(a.Stats); err != nil {
			return err
		}
	}
	return appendForecasts(c, ns, h)
}

// appendForecasts writes the forecasts of a collection, or of all in the
// database, and what the last passes did.
func appendForecasts(c *kernel.Call, ns storage.Namespace, h ttl.Horizon) error {
	b, found := c.Reply, false
	b.Date("now", c.Now)
	b.StartArray("collections")
	err := c.View(func(tx storage.Tx) error {
		infos, err := tx.Collections(ns.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			name := info.Namespace.Coll
			if series, ok := reserved.Series(name); ok {
				name = series
			}
			if ns.Coll != "" && name != ns.Coll {
				continue
			}
			found = true
			if err := appendForecast(c, tx, info, name, h); err != nil {
				return err
			}
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
	last := c.Svc.Monitor.LastPass()
	b.StartDocument("lastPass")
	if last.SubPasses > 0 {
		b.Date("at", last.At)
		last.AppendTook(b)
		last.Append(b)
	}
	b.End()
	b.StartArray("recentPassMillis")
	for _, took := range c.Svc.Monitor.RecentPasses() {
		b.Double("", ttl.Millis(took))
	}
	b.End()
	return nil
}

// appendForecast writes the forecast of one collection. It writes nothing if documents of
// the collection do not expire, as in a dead-letter collection.
func appendForecast(c *kernel.Call, tx storage.Tx, info *storage.Info, name string, h ttl.Horizon) (err error) {
	m := catalog.Of(info)
	var list []ttl.Forecast
	var messages queue.Stats
	switch {
	case m.IsQueue && queue.DeadLetterOf(info.Options) == "":
		if list, messages, err = c.Svc.Queues.Forecast(tx, info.Namespace, h); err != nil {
			return err
		}
	case m.Rules != nil:
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return err
		}
		if list, err = m.Rules.Forecast(coll, h); err != nil {
			return err
		}
	default:
		return nil
	}
	b := c.Reply
	b.StartDocument("").String("ns", info.Namespace.DB+"."+name)
	b.StartArray("policies")
	for i := range list {
		b.StartDocument("")
		list[i].Append(b, h)
		b.End()
	}
	b.End()
	if m.IsQueue {
		b.StartDocument("messages")
		mq.AppendQueueStats(b, &messages)
		b.End()
	}
	b.End()
	return nil
}
