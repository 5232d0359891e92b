package diagnostics

import (
	"math"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/mq"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

type expirationStatsArgs struct {
	Stats   value.Value `arg:"expirationStats,required"`
	Horizon *int64      `arg:"horizonSeconds"`
	Buckets *int64      `arg:"buckets"`
	Empty   bool        `arg:"empty"`
	List    *int64      `arg:"list"`
	Targets args.Array  `arg:"targets"`
	Passes  bool        `arg:"passes"`
	Top     *int64      `arg:"top"`
	Skip    *int64      `arg:"skip"`
	Search  *string     `arg:"search"`
	SortBy  *string     `arg:"sortBy"`
	Without bool        `arg:"without"`
}

var expirationStatsSpec = args.New[expirationStatsArgs]("expirationStats")

// Limits of a forecast: the parts of a histogram, and the documents and, in the short form,
// the collections that it names.
const (
	maxForecastParts = 1000
	maxForecastList  = 1000
	maxForecastTop   = 1000
)

// runExpirationStats forecasts how many documents will expire, from the expiry indexes
// alone.
func runExpirationStats(c *kernel.Call) error {
	var a expirationStatsArgs
	if err := expirationStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	h, err := horizonOf(c, &a)
	if err != nil {
		return err
	}
	f := forecasts{c: c, horizon: h, passes: a.Passes}
	if a.List != nil {
		if err := within("list", *a.List, maxForecastList); err != nil {
			return err
		}
		f.dues = &ttl.DueList{Now: c.Now, Max: int(*a.List), Only: h.Only}
	}
	if f.top, err = topOf(&a, h); err != nil {
		return err
	}
	if f.top != nil {
		f.horizon.Rest = resting(c)
	}
	ns := storage.Namespace{DB: c.DB}
	if c.DB == "admin" {
		ns.DB = "" // all databases
	}
	if n, ok := a.Stats.AsInt64(); !ok || n != 1 {
		if ns, err = c.NamespaceOf(a.Stats); err != nil {
			return err
		}
	}
	return f.write(ns)
}

// horizonOf reads how far, in how many parts and for which policies to look ahead.
func horizonOf(c *kernel.Call, a *expirationStatsArgs) (h ttl.Horizon, err error) {
	h = ttl.Horizon{Now: c.Now, Length: 3600_000, Parts: 10, Empty: a.Empty}
	if a.Horizon != nil {
		if *a.Horizon < 1 || *a.Horizon > math.MaxInt64/1000 {
			return h, mongoerr.Newf(mongoerr.BadValue, "horizonSeconds must be positive, not %d", *a.Horizon)
		}
		h.Length = *a.Horizon * 1000
	}
	if a.Buckets != nil {
		if err := within("buckets", *a.Buckets, maxForecastParts); err != nil {
			return h, err
		}
		h.Parts = int(*a.Buckets)
	}
	if a.Targets != nil {
		h.Only, err = targetsOf("expirationStats", a.Targets)
	}
	return h, err
}

func within(name string, n, limit int64) error {
	if n < 1 || n > limit {
		return mongoerr.Newf(mongoerr.BadValue, "%s must be between 1 and %d, not %d", name, limit, n)
	}
	return nil
}

// forecasts writes the reply of expirationStats.
type forecasts struct {
	c       *kernel.Call
	horizon ttl.Horizon
	dues    *ttl.DueList // nil: documents are not listed
	top     *topForecast // nil: the long form
	passes  bool         // the last passes are listed
}

// write writes the forecasts of a collection, or of all in the database or in all
// databases, and what the last passes did.
func (f *forecasts) write(ns storage.Namespace) error {
	c := f.c
	var found bool
	var body *value.Builder
	err := c.View(func(tx storage.Tx) (err error) {
		body = value.NewBuilder()
		f.begin()
		body.Date("now", c.Now)
		body.StartArray("collections")
		if found, err = f.collections(tx, ns, body); err != nil {
			return err
		}
		if f.top != nil {
			if err := f.top.appendCollections(tx, body); err != nil {
				return err
			}
		}
		body.End()
		return f.due(tx, body)
	})
	if err != nil {
		return err
	}
	it := body.Doc().Iter()
	b := c.Reply.Raw(it.Rest())
	if ns.Coll != "" && !found {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if f.top != nil {
		f.top.appendTotals(b, f.horizon)
	}
	f.monitor()
	return nil
}

// collections writes the forecast of each collection that ns names, or hands them over to
// f.top. It reports whether there is one.
func (f *forecasts) collections(tx storage.Tx, ns storage.Namespace, b *value.Builder) (found bool, err error) {
	infos, err := tx.Collections(ns.DB)
	if err != nil {
		return false, err
	}
	shown := map[string]bool{}
	for _, info := range infos {
		if err := f.c.Interrupted(); err != nil {
			return found, err
		}
		if ns.DB == "" && (f.top != nil && internalDB(info.Namespace.DB) || !f.mayShow(shown, info.Namespace.DB)) {
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
		x, err := f.collection(tx, info, name)
		if err != nil {
			return found, err
		}
		switch {
		case x == nil && f.top != nil && withoutPolicy(info):
			if err := f.top.addWithout(tx, &expiring{info: info, ns: info.Namespace.DB + "." + name}); err != nil {
				return found, err
			}
			f.horizon.Rest()
		case x == nil:
		case f.top != nil:
			f.top.add(x)
			f.horizon.Rest()
		default:
			x.append(b, f.horizon)
		}
	}
	return found, nil
}

// begin forgets what was found before.
func (f *forecasts) begin() {
	if d := f.dues; d != nil {
		f.dues = &ttl.DueList{Now: d.Now, Max: d.Max, Only: d.Only}
	}
	if t := f.top; t != nil {
		t.collections, t.withoutPolicy, t.found, t.first, t.totals = 0, 0, 0, nil, nil
	}
}

// monitor writes what the monitor did and when it goes on.
func (f *forecasts) monitor() {
	b, m := f.c.Reply, f.c.Svc.Monitor
	if f.c.Svc.Params.Bool("ttlMonitorEnabled") {
		b.Date("nextPass", m.NextPass())
	}
	last, recent := m.LastPass(), m.RecentPasses()
	b.StartDocument("lastPass")
	if last.SubPasses > 0 {
		appendPass(b, &last)
	}
	b.End()
	b.StartArray("recentPassMillis")
	for i := range recent {
		b.Double("", monitor.Millis(recent[i].Took))
	}
	b.End()
	if !f.passes {
		return
	}
	b.StartArray("passes")
	for i := range recent {
		b.StartDocument("")
		appendPass(b, &recent[i])
		b.End()
	}
	b.End()
}

func appendPass(b *value.Builder, r *monitor.Result) {
	b.Date("at", r.At)
	r.AppendTook(b)
	r.Append(b)
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
func (f *forecasts) due(tx storage.Tx, b *value.Builder) error {
	if f.dues == nil {
		return nil
	}
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

// expiring is the forecast of one collection.
type expiring struct {
	info     *storage.Info
	ns       string // the namespace for users
	bytes    int64
	list     []ttl.Forecast
	queue    bool
	messages queue.Stats
	removed  *ttl.PolicyCounts // its counters of removals; nil: it has none of its own
}

// collection reads the forecast of one collection; nil if documents of the collection do not
// expire, as in a dead-letter collection, or only by policies that are not wanted.
func (f *forecasts) collection(tx storage.Tx, info *storage.Info, name string) (*expiring, error) {
	c, h := f.c, f.horizon
	m := catalog.Of(info)
	isQueue := m.IsQueue && queue.DeadLetterOf(info.Options) == ""
	if !isQueue && (m.IsQueue || m.Rules == nil) || isQueue && h.Only != 0 && !h.Only.Has(ttl.Message) {
		return nil, nil
	}
	x := &expiring{info: info, ns: info.Namespace.DB + "." + name, queue: isQueue}
	if counted, ok := c.Svc.Monitor.Metrics().CountsOf(info.UUID); ok {
		x.removed = &counted
	}
	coll, err := tx.Collection(info.Namespace)
	if err != nil {
		return nil, err
	}
	if isQueue {
		if x.list, x.messages, err = c.Svc.Queues.Forecast(tx, info.Namespace, h); err == nil && f.dues != nil {
			err = queue.AddDues(coll, f.dues)
		}
	} else {
		if x.list, err = m.Rules.Forecast(coll, h); err == nil && f.dues != nil {
			err = f.dues.Add(coll, m.Rules)
		}
	}
	if err != nil || len(x.list) == 0 && h.Only != 0 {
		return nil, err
	}
	if f.top == nil || f.top.sizes {
		x.bytes, err = coll.Size()
	}
	return x, err
}

// append writes the forecast with its histograms.
func (x *expiring) append(b *value.Builder, h ttl.Horizon) {
	b.StartDocument("").String("ns", x.ns).Int64("bytes", x.bytes)
	b.StartArray("policies")
	for i := range x.list {
		b.StartDocument("")
		x.list[i].Append(b, h)
		b.End()
	}
	b.End()
	x.appendRest(b)
	b.End()
}

// appendShort writes the forecast with one number in place of the histograms.
func (x *expiring) appendShort(b *value.Builder, due int64) {
	b.StartDocument("").String("ns", x.ns).Int64("bytes", x.bytes).Int64("due", due)
	b.StartArray("policies")
	for i := range x.list {
		b.StartDocument("")
		x.list[i].AppendCounts(b)
		b.End()
	}
	b.End()
	x.appendRest(b)
	b.End()
}

// appendRest writes what was removed, and the messages of a queue.
func (x *expiring) appendRest(b *value.Builder) {
	if x.removed != nil {
		b.StartDocument("removed")
		x.removed.Append(b)
		b.End()
	}
	if x.queue {
		b.StartDocument("messages")
		mq.AppendQueueStats(b, &x.messages)
		b.End()
	}
}
