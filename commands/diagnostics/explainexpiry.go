package diagnostics

import (
	"fmt"
	"math"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type explainExpiryArgs struct {
	Coll   value.Value `arg:"explainExpiry,required"`
	ID     value.Value `arg:"_id,any"`
	Filter value.Doc   `arg:"filter"`
	Policy value.Doc   `arg:"policy"`
	Limit  *int64      `arg:"limit"`
}

var explainExpirySpec = args.New[explainExpiryArgs]("explainExpiry")

// runExplainExpiry says of one document when it expires, why, and what happens to it then; or
// how many documents a policy would remove that the collection does not have.
func runExplainExpiry(c *kernel.Call) error {
	var a explainExpiryArgs
	if err := explainExpirySpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Coll)
	if err != nil {
		return err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if catalog.Of(info).Kind == catalog.View {
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
	}
	if a.Policy != nil {
		return explainPolicy(c, info, &a)
	}
	filter := a.Filter
	if filter == nil {
		filter = value.NewDoc("_id", value.Document(value.NewDoc("$eq", a.ID)))
	}
	info, rec, err := oneRecord(c, info, filter)
	if err != nil {
		return err
	}
	x := expiryReport{c: c, info: info, rec: rec, meta: catalog.Of(info)}
	return x.write()
}

// check refuses arguments that do not go together.
func (a *explainExpiryArgs) check() error {
	given := 0
	for _, is := range []bool{!a.ID.IsMissing(), a.Filter != nil, a.Policy != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return mongoerr.New(mongoerr.FailedToParse, "explainExpiry needs one of _id, filter and policy")
	case a.Limit != nil && a.Policy == nil:
		return mongoerr.New(mongoerr.FailedToParse, "explainExpiry has a limit only with policy")
	case a.Limit != nil && *a.Limit < 1:
		return mongoerr.Newf(mongoerr.BadValue, "limit must be positive, not %d", *a.Limit)
	}
	return nil
}

// oneRecord finds the first record that matches; in a time series the bucket of the first
// measurement, and the collection of buckets.
func oneRecord(c *kernel.Call, info *storage.Info, filter value.Doc) (*storage.Info, storage.Record, error) {
	q := &canonical.Query{Filter: filter, Scope: c.Svc.RootScope(), Query: plan.Query{Limit: 1}}
	m, x := catalog.Of(info), exec.NewExecution(c)
	var err error
	if q.Collator, err = canonical.OperationCollation(nil, m); err != nil {
		return nil, storage.Record{}, err
	}
	if err := canonical.CompileFilter(c, q, m); err != nil {
		return nil, storage.Record{}, err
	}
	nothing := mongoerr.Newf(mongoerr.NoMatchingDocument, "no document of %s matches", info.Namespace)
	if m.Kind == catalog.TimeSeries {
		it, err := exec.OpenMeasurements(c, x, info, q)
		if err != nil {
			return nil, storage.Record{}, err
		}
		defer it.Close()
		d, err := it.Next()
		if d == nil && err == nil {
			err = nothing
		}
		return it.B.Info, storage.Record{Doc: it.Bucket()}, err
	}
	src, err := exec.OpenRecords(c, x, info, q)
	if err != nil {
		return nil, storage.Record{}, err
	}
	defer src.Close()
	r, ok, err := src.Next()
	if !ok && err == nil {
		err = nothing
	}
	return info, r, err
}

// expiryReport writes the reply for one record.
type expiryReport struct {
	c    *kernel.Call
	info *storage.Info
	rec  storage.Record
	meta *catalog.Meta

	policy string // the policy of the earliest expiry
	at     int64
	found  bool
}

func (x *expiryReport) write() error {
	b := x.c.Reply
	b.Date("now", x.c.Now)
	b.StartArray("policies")
	var err error
	if x.meta.IsQueue {
		err = x.message()
	} else {
		x.indexes()
	}
	b.End()
	if x.found {
		b.StartDocument("effective").String("policy", x.policy).Date("expiresAt", x.at).End()
	}
	return err
}

// indexes writes the policies of a collection: each TTL index, clustered and time-series
// expiry, document TTL.
func (x *expiryReport) indexes() {
	rules := x.meta.Rules
	if rules == nil {
		return
	}
	byIndex := map[*ttl.ExpiryIndex]ttl.Expiry{}
	for _, e := range rules.Expiries(x.info, x.rec) {
		byIndex[e.By] = e
	}
	for i := range rules.Indexes {
		l := &rules.Indexes[i]
		if e, ok := byIndex[l]; l.Policy != ttl.Document {
			x.byDate(l, e, ok)
		}
	}
	if rules.Document != nil {
		x.document(rules.Document)
	}
}

// byDate writes a policy that counts from a date of the document.
func (x *expiryReport) byDate(l *ttl.ExpiryIndex, e ttl.Expiry, ok bool) {
	b := x.c.Reply
	b.StartDocument("").String("policy", l.Policy.String())
	defer b.End()
	field := x.dateField(l)
	if l.Policy == ttl.Index || l.Policy == ttl.PartialBucket {
		b.String("index", l.Index)
	}
	if e.Late {
		field = "control.max" + field[len("control.min"):]
	}
	formula := fmt.Sprintf("%s + %s", field, seconds(l.After-l.Span(), "expireAfterSeconds"))
	if l.Span() > 0 && !e.Late {
		formula = fmt.Sprintf("%s + %s + %s", field, seconds(l.Span(), "bucketMaxSpanSeconds"), seconds(l.After-l.Span(), "expireAfterSeconds"))
	}
	if !ok {
		b.String("formula", formula)
		b.String("never", fmt.Sprintf("the index has no date of the document in %q", field))
		return
	}
	b.StartDocument("from").Date(field, e.Date).End()
	x.expires(l.Policy.String(), formula, e.At)
	x.removal(e.At)
}

// dateField is the field that an expiry index has dates of.
func (x *expiryReport) dateField(l *ttl.ExpiryIndex) string {
	if l.Span() > 0 {
		return "control.min." + x.meta.Series.TimeField
	}
	if l.Policy == ttl.Clustered {
		return "_id"
	}
	name, _ := x.info.Index(l.Index).Spec.Lookup("key").Doc().First()
	return name
}

// document writes document TTL.
func (x *expiryReport) document(p *ttl.DocumentPolicy) {
	b := x.c.Reply
	written := time.UnixMilli(x.rec.TS).Unix()
	own := x.rec.Doc.Lookup("ttl")
	at, ok := p.ExpiresAt(&x.rec)
	b.StartDocument("").String("policy", ttl.Document.String())
	defer b.End()
	b.StartDocument("from").Int64(ttl.TSField, written).Append("ttl", own).End()
	formula := "_ts + ttl"
	if !ttl.HasOwn(x.rec.Doc) {
		formula = "_ts + " + seconds(p.Default*1000, "default")
	}
	if !ok {
		switch {
		case p.Until != 0:
			b.String("never", "the policy is being switched off")
		case ttl.HasOwn(x.rec.Doc):
			b.String("never", "the document's ttl is -1")
		default:
			b.String("never", "the document has no ttl, and the default is -1")
		}
		return
	}
	x.expires(ttl.Document.String(), formula, at)
	b.Date("invisibleFrom", at)
	x.removal(at)
}

// message writes the time to live of a message, and the idle deletion of its queue.
func (x *expiryReport) message() error {
	b, e := x.c.Reply, queue.ExpiryOf(x.rec.Doc, x.c.Now)
	b.StartDocument("").String("policy", ttl.Message.String())
	b.StartDocument("from").Date("_mq.enqueuedTimeUtc", e.Enqueued).Int64("_mq.timeToLive", e.TimeToLive).End()
	switch {
	case e.Dead:
		b.String("never", "messages of a dead-letter queue do not expire")
	case !e.HasExpiry:
		b.String("never", "the time to live is unlimited")
	default:
		x.expires(ttl.Message.String(), "_mq.enqueuedTimeUtc + _mq.timeToLive", e.At)
		b.Date("notReceivableFrom", e.At)
		if e.LockedUntil != 0 {
			b.Date("lockedUntil", e.LockedUntil)
		}
		fate := queue.FateOf(x.info)
		switch {
		case fate.OnReceive:
			b.String("removedBy", "the next receiver (expireOnReceiveOnly)")
		case !e.Deferred:
			b.Append("removedBy", x.removedBy(max(e.At, e.LockedUntil)))
		}
		if fate.MovesTo != "" {
			b.String("movesTo", x.info.Namespace.DB+"."+fate.MovesTo)
		}
	}
	b.End()
	st, err := x.c.Svc.Queues.Stats(x.c.Ctx, kernel.CallStore{Call: x.c}, queue.Ref{Namespace: x.info.Namespace}, x.c.Now)
	if err != nil || st.IdleDeadline == 0 {
		return err
	}
	b.StartDocument("").String("policy", ttl.Message.String()).String("lane", "idle")
	b.StartDocument("from").Date("lastActivityUtc", st.LastActivity).End()
	x.expires(ttl.Message.String(), "lastActivityUtc + autoDeleteOnIdle", st.IdleDeadline)
	b.Append("removedBy", x.removedBy(st.IdleDeadline)).End()
	return nil
}

// expires writes an expiry, and notes the earliest.
func (x *expiryReport) expires(policy, formula string, at int64) {
	x.c.Reply.String("formula", formula).Date("expiresAt", at)
	if !x.found || at < x.at {
		x.policy, x.at, x.found = policy, at, true
	}
}

// removal writes when a pass removes the document at the latest, and where it moves.
func (x *expiryReport) removal(at int64) {
	x.c.Reply.Append("removedBy", x.removedBy(at))
	if on := x.meta.Rules.OnExpire; on != nil {
		x.c.Reply.String("movesTo", x.info.Namespace.DB+"."+on.DeadLetterTo)
	}
}

// removedBy is the latest instant at which a pass begins that removes what expires at an
// instant; Missing if the monitor is off.
func (x *expiryReport) removedBy(at int64) value.Value {
	p := x.c.Svc.Params
	if !p.Bool("ttlMonitorEnabled") {
		return value.Value{}
	}
	if next := x.c.Svc.Monitor.NextPass(); at <= next {
		return value.DateTime(next)
	}
	sleep := p.Int("ttlMonitorSleepSecs") * 1000
	if at > math.MaxInt64-sleep {
		return value.DateTime(math.MaxInt64)
	}
	return value.DateTime(at + sleep)
}

// seconds shows a duration and the name of the setting that it comes from.
func seconds(ms int64, name string) string { return fmt.Sprintf("%d s (%s)", ms/1000, name) }
