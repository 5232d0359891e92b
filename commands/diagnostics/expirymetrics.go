package diagnostics

import (
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// OtherCollections is the name, of the database and of the collection, under which the
// metrics sum up the collections that have none of their own. No collection can be called
// so.
const OtherCollections = "$other"

// CollectionExpiry is what has expired and what will, under one policy in one collection.
type CollectionExpiry struct {
	Namespace storage.Namespace
	Policy    string
	ttl.Gauge
	ttl.Counts
}

// QueueDepth is how full a queue is.
type QueueDepth struct {
	Namespace storage.Namespace
	queue.Gauge
}

// Limits on what reading the metrics costs: entries of one index and of all, and the time
// after which the rest of the collections is not looked at.
const (
	gaugeEntries    = 10_000
	gaugeAllEntries = 100_000
	gaugeTime       = 2 * time.Second
)

// expiryGauges collects what is waiting to expire in all collections.
type expiryGauges struct {
	s      *kernel.Service
	m      *Metrics
	until  time.Time
	budget ttl.Budget
	own    map[[16]byte]ttl.PolicyCounts
	rest   map[ttl.Policy]*CollectionExpiry
	queues *QueueDepth // the rest of them
}

func newExpiryGauges(s *kernel.Service, m *Metrics, infos []*storage.Info) *expiryGauges {
	g := &expiryGauges{
		s: s, m: m, until: s.Real.Now().Add(gaugeTime),
		budget: ttl.Budget{Each: gaugeEntries, All: gaugeAllEntries}, rest: map[ttl.Policy]*CollectionExpiry{},
	}
	var uuids, internal [][16]byte
	for _, info := range infos {
		switch {
		case !expires(info):
		case info.Namespace.DB == "config" || info.Namespace.DB == "local":
			internal = append(internal, info.UUID)
		default:
			uuids = append(uuids, info.UUID)
		}
	}
	own, rest := s.Monitor.Metrics().ByCollection(append(uuids, internal...))
	g.own = own
	for p := range ttl.NumPolicies {
		if n := rest[p]; n.Removed > 0 {
			g.other(p).Counts = n
		}
	}
	return g
}

// expires reports whether something expires in a collection.
func expires(info *storage.Info) bool {
	m := catalog.Of(info)
	if m.IsQueue {
		return queue.DeadLetterOf(info.Options) == ""
	}
	return m.Rules != nil
}

// other is the sum of the collections that have no metrics of their own.
func (g *expiryGauges) other(p ttl.Policy) *CollectionExpiry {
	if g.rest[p] == nil {
		g.rest[p] = &CollectionExpiry{Namespace: others, Policy: p.String()}
	}
	return g.rest[p]
}

var others = storage.Namespace{DB: OtherCollections, Coll: OtherCollections}

// add looks at a collection.
func (g *expiryGauges) add(tx storage.Tx, coll storage.Collection) error {
	info := coll.Info()
	if !expires(info) {
		return nil
	}
	if g.s.Real.Now().After(g.until) {
		g.m.Unread++
		return nil
	}
	tallies, own := g.own[info.UUID]
	if catalog.Of(info).IsQueue {
		return g.addQueue(tx, info, tallies, own)
	}
	list, err := catalog.Of(info).Rules.Gauges(coll, g.m.Now, &g.budget)
	if err != nil {
		return err
	}
	ns := info.Namespace
	if series, ok := reserved.Series(ns.Coll); ok {
		ns.Coll = series
	}
	for i := range list {
		if own {
			g.m.Expiring = append(g.m.Expiring, CollectionExpiry{ns, list[i].Policy.String(), list[i].Gauge, tallies[list[i].Policy]})
		} else {
			g.other(list[i].Policy).Add(list[i].Gauge)
		}
	}
	return nil
}

func (g *expiryGauges) addQueue(tx storage.Tx, info *storage.Info, tallies ttl.PolicyCounts, own bool) error {
	depth, err := g.s.Queues.Gauge(tx, info.Namespace, g.m.Now, &g.budget)
	if err != nil {
		return err
	}
	if !own {
		if g.queues == nil {
			g.queues = &QueueDepth{Namespace: others}
		}
		g.queues.Add(depth)
		g.other(ttl.Message).Add(depth.Expiry)
		return nil
	}
	g.m.Queues = append(g.m.Queues, QueueDepth{info.Namespace, depth})
	g.m.Expiring = append(g.m.Expiring, CollectionExpiry{info.Namespace, ttl.Message.String(), depth.Expiry, tallies[ttl.Message]})
	return nil
}

// end adds the sums of the other collections.
func (g *expiryGauges) end() {
	for p := range ttl.NumPolicies {
		if x := g.rest[p]; x != nil {
			g.m.Expiring = append(g.m.Expiring, *x)
		}
	}
	if g.queues != nil {
		g.m.Queues = append(g.m.Queues, *g.queues)
	}
}
