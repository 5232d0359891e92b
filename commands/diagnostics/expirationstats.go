package diagnostics

import (
	"math"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/commands/access"
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
	Empty   bool        `arg:"empty"`
	List    *int64      `arg:"list"`
}

var expirationStatsSpec = args.New[expirationStatsArgs]("expirationStats")

// Limits of a forecast: the parts of a histogram, and the documents that it names.
const (
	maxForecastParts = 1000
	maxForecastList  = 1000
)

// runExpirationStats forecasts how many documents will expire, from the expiry indexes
// alone.
func runExpirationStats(c *kernel.Call) error {
	var a expirationStatsArgs
	if err := expirationStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	h := ttl.Horizon{Now: c.Now, Length: 3600_000, Parts: 10, Empty: a.Empty}
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
	f := forecasts{c: c, horizon: h}
	if a.List != nil {
		if *a.List < 1 || *a.List > maxForecastList {
			return mongoerr.Newf(mongoerr.BadValue, "list must be between 1 and %d, not %d", maxForecastList, *a.List)
		}
		f.dues = &ttl.Dues{Now: c.Now, Most: int(*a.List)}
	}
	ns := storage.Namespace{DB: c.DB}
	if c.DB == "admin" {
		ns.DB = "" // all databases
	}
	if n, ok := a.Stats.AsInt64(); !ok || n != 1 {
		var err error
		if ns, err = c.NamespaceOf(a.Stats); err != nil {
			return err
		}
	}
	return f.write(ns)
}

// forecasts writes the reply of expirationStats.
type forecasts struct {
	c       *kernel.Call
	horizon ttl.Horizon
	dues    *ttl.Dues // nil: documents are not listed
}

// write writes the forecasts of a collection, or of all in the database or in all
// databases, and what the last passes did.
func (f *forecasts) write(ns storage.Namespace) error {
	c := f.c
	b, found, shown := c.Reply, false, map[string]bool{}
	b.Date("now", c.Now)
	b.StartArray("collections")
	err := c.View(func(tx storage.Tx) error {
		infos, err := tx.Collections(ns.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if ns.DB == "" && !f.mayShow(shown, info.Namespace.DB) {
				continue
			}
			name := info.Namespace.Coll
			if series, ok := reserved.Series(name); ok {
				name = series
			}
			if ns.Coll != "" && name != ns.Coll {
				continue
			}
			found = true
			if err := f.collection(tx, info, name); err != nil {
				return err
			}
		}
		b.End()
		return f.due(tx)
	})
	if err != nil {
		return err
	}
	if ns.Coll != "" && !found {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if c.Svc.Params.Bool("ttlMonitorEnabled") {
		b.Date("nextPass", c.Svc.Monitor.NextPass())
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

// mayShow reports whether the user may see the forecasts of a database.
func (f *forecasts) mayShow(known map[string]bool, db string) bool {
	may, ok := known[db]
	if !ok {
		may = !f.c.AuthorizedOnly || access.May(f.c, auth.Database(db), "collStats")
		known[db] = may
	}
	return may
}

// due writes the documents that fall due first.
func (f *forecasts) due(tx storage.Tx) error {
	if f.dues == nil {
		return nil
	}
	b := f.c.Reply
	b.StartArray("due")
	for _, d := range f.dues.List() {
		coll, err := tx.Collection(d.Info.Namespace)
		if err != nil {
			return err
		}
		see := f.c.Visible(coll)
		r, ok, err := see.Get(d.Record)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		name := d.Info.Namespace.Coll
		series, buckets := reserved.Series(name)
		if buckets {
			name = series
		}
		b.StartDocument("").String("ns", d.Info.Namespace.DB+"."+name).Append("_id", r.Doc.Lookup("_id"))
		if buckets {
			b.Bool("bucket", true)
		}
		b.String("policy", d.Policy.String())
		if d.Index != "" {
			b.String("index", d.Index)
		}
		if d.Lane != "" {
			b.String("lane", d.Lane)
		}
		b.Date("dueAt", d.At).End()
	}
	b.End()
	return nil
}

// collection writes the forecast of one collection. It writes nothing if documents of
// the collection do not expire, as in a dead-letter collection.
func (f *forecasts) collection(tx storage.Tx, info *storage.Info, name string) (err error) {
	c, h := f.c, f.horizon
	m := catalog.Of(info)
	var coll storage.Collection
	var list []ttl.Forecast
	var messages queue.Stats
	switch {
	case m.IsQueue && queue.DeadLetterOf(info.Options) == "":
		if list, messages, err = c.Svc.Queues.Forecast(tx, info.Namespace, h); err != nil {
			return err
		}
		if f.dues != nil {
			if coll, err = tx.Collection(info.Namespace); err != nil {
				return err
			}
			if err = queue.AddDues(coll, f.dues); err != nil {
				return err
			}
		}
	case m.Rules != nil:
		if coll, err = tx.Collection(info.Namespace); err != nil {
			return err
		}
		if list, err = m.Rules.Forecast(coll, h); err != nil {
			return err
		}
		if f.dues != nil {
			if err := f.dues.Add(coll, m.Rules); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	b := c.Reply
	if coll == nil {
		if coll, err = tx.Collection(info.Namespace); err != nil {
			return err
		}
	}
	size, err := coll.Size()
	if err != nil {
		return err
	}
	b.StartDocument("").String("ns", info.Namespace.DB+"."+name).Int64("bytes", size)
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
