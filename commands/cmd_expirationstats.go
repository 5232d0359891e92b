package commands

import (
	"math"

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

// appendForecasts writes the forecasts of a collection, or of all in the
// database, and what the last passes did.
func (c *Call) appendForecasts(ns storage.Namespace, h ttl.Horizon) error {
	b, found := c.reply, false
	b.Date("now", c.now)
	b.StartArray("collections")
	err := c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections(ns.DB) {
			name := info.Namespace.Coll
			if isBuckets(name) {
				name = name[len(bucketsPrefix):]
			}
			if ns.Coll != "" && name != ns.Coll {
				continue
			}
			found = true
			if err := c.appendForecast(tx, info, name, h); err != nil {
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
	last := c.svc.monitor.LastPass()
	b.StartDocument("lastPass")
	if last.SubPasses > 0 {
		b.Date("at", last.At)
		last.AppendTook(b)
		last.Append(b)
	}
	b.End()
	b.StartArray("recentPassMillis")
	for _, took := range c.svc.monitor.RecentPasses() {
		b.Double("", ttl.Millis(took))
	}
	b.End()
	return nil
}

// appendForecast writes the forecast of one collection; nothing if nothing
// expires in it. Dead letters do not expire.
func (c *Call) appendForecast(tx storage.Tx, info *storage.Info, name string, h ttl.Horizon) (err error) {
	m := metaOf(info)
	var list []ttl.Forecast
	var messages queue.Stats
	switch {
	case m.isQueue && queue.DeadLetterOf(info.Options) == "":
		if list, messages, err = c.svc.queues.Forecast(tx, info.Namespace, h); err != nil {
			return err
		}
	case m.rules != nil:
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return err
		}
		if list, err = m.rules.Forecast(coll, h); err != nil {
			return err
		}
	default:
		return nil
	}
	b := c.reply
	b.StartDocument("").String("ns", info.Namespace.DB+"."+name)
	b.StartArray("policies")
	for i := range list {
		b.StartDocument("")
		list[i].Append(b, h)
		b.End()
	}
	b.End()
	if m.isQueue {
		b.StartDocument("messages")
		appendQueueStats(b, &messages)
		b.End()
	}
	b.End()
	return nil
}
