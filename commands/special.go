package commands

import (
	"crypto/sha256"
	"math"
	"os"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// specialSource opens a pipeline source that is no collection.
type specialSource func(h *host, x *agg.Exec, s agg.Special) (agg.Iterator, error)

// specialSources are those sources by the names of their stages.
var specialSources map[string]specialSource

// openNothing is for sources of which this server has none.
func openNothing(*host, *agg.Exec, agg.Special) (agg.Iterator, error) { return agg.Docs(), nil }

func openCollStats(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c, ns := h.x.running(), storage.Namespace{DB: s.DB, Coll: s.Coll}
	info, err := c.lookup(ns)
	if err != nil {
		return nil, err
	}
	needs := s.Spec.Has("storageStats") || s.Spec.Has("count") || s.Spec.Has("queryExecStats") && s.Coll != "system.views"
	if metaOf(info).kind == view && needs {
		return nil, errIsView(ns)
	}
	if info == nil && needs {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "Unable to retrieve storageStats in $collStats stage :: caused by :: Collection [%s] not found.", ns)
	}
	b := value.NewBuilder()
	hostName, _ := os.Hostname()
	b.String("ns", ns.String()).String("host", hostName).Date("localTime", c.now)
	if v, ok := s.Spec.Get("latencyStats"); ok {
		b.StartDocument("latencyStats")
		u, histograms := c.svc.usage.of(ns.String()), v.Doc().Lookup("histograms").Truthy()
		appendLatency(b, "reads", &u.reads, histograms)
		appendLatency(b, "writes", &u.writes, histograms)
		appendLatency(b, "commands", &u.commands, histograms)
		appendLatency(b, "transactions", new(timedCounter), histograms) // which are of the server, not of a collection
		b.End()
	}
	if v, ok := s.Spec.Get("storageStats"); ok {
		given := v.Doc().Lookup("scale")
		if given.IsNumber() && given.AsDouble() > math.MaxInt32 { // as an int holds it
			given = value.Int32(math.MaxInt32)
		}
		scale, err := scaleOf("$collStats.storageStats", given)
		if err != nil {
			return nil, err
		}
		b.StartDocument("storageStats")
		if err := c.appendCollStats(b, ns, scale); err != nil {
			return nil, err
		}
		b.End()
	}
	if s.Spec.Has("count") {
		figures, _, err := c.sizes(ns)
		if err != nil {
			return nil, err
		}
		b.Append("count", value.Int(figures.count))
	}
	if s.Spec.Has("queryExecStats") {
		b.StartDocument("queryExecStats").StartDocument("collectionScans").Int64("total", 0).Int64("nonTailable", 0).End().End()
	}
	return agg.Docs(b.Doc()), nil
}

func appendLatency(b *value.Builder, name string, u *timedCounter, histograms bool) {
	b.StartDocument(name)
	if histograms {
		u.spread.appendHistogram(b)
	}
	b.Int64("latency", u.micros.Load()).Int64("ops", u.count.Load()).Int64("queryableEncryptionLatencyMicros", 0).End()
}

func openIndexStats(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c, ns := h.x.running(), storage.Namespace{DB: s.DB, Coll: s.Coll}
	info, err := c.lookup(ns)
	if err != nil {
		return nil, err
	}
	if metaOf(info).kind == timeSeries {
		if info, err = c.lookup(storage.Namespace{DB: ns.DB, Coll: bucketsPrefix + ns.Coll}); err != nil {
			return nil, err
		}
	}
	hostName, _ := os.Hostname()
	var docs []value.Doc
	for _, spec := range metaOf(info).listed {
		use := c.svc.indexUse.of(info, spec.Name, c.now)
		b := value.NewBuilder()
		b.String("name", spec.Name).Document("key", spec.Key).String("host", hostName)
		b.StartDocument("accesses").Int64("ops", use.ops.Load()).Date("since", use.since).End()
		b.Document("spec", spec.Doc())
		docs = append(docs, b.Doc())
	}
	return agg.Docs(docs...), nil
}

// openSessions lists the sessions of the client's user, of all, or of some.
func openSessions(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.x.running()
	wanted := map[[sha256.Size]byte]bool{}
	for u := range s.Spec.Lookup("users").Doc().Values() {
		wanted[userKey(u.Doc()).digest()] = true
	}
	if len(wanted) == 0 {
		wanted[sessionKey{user: c.userName()}.digest()] = true
	}
	all := s.Spec.Lookup("allUsers").Truthy()
	var docs []value.Doc
	for _, session := range c.svc.sessions.list() {
		if all || wanted[session.record.uid] {
			docs = append(docs, sessionDoc(session.key, c.svc.sessions.lastUse(session)))
		}
	}
	return agg.Docs(docs...), nil
}

// openPlanCacheStats lists the plans that are remembered for a collection.
func openPlanCacheStats(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.x.running()
	info, err := c.lookup(storage.Namespace{DB: s.DB, Coll: s.Coll})
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, mongoerr.Newf(50933, "$planCacheStats failed on %s.%s: collection does not exist", s.DB, s.Coll)
	}
	if metaOf(info).kind == timeSeries { // behind the stage that unpacks the buckets
		return nil, mongoerr.New(40602, "$planCacheStats is only valid as the first stage in a pipeline")
	}
	return agg.Docs(c.planCacheStats(metaOf(info).plans)...), nil
}

func openListCatalog(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.x.running()
	db := s.DB
	if s.Coll == "" {
		db = "" // {aggregate: 1} on admin lists everything
	}
	var docs []value.Doc
	err := c.view(func(tx storage.Tx) error {
		docs = nil
		for _, info := range tx.Collections(db) {
			if hiddenCollection(info.Namespace) || s.Coll != "" && info.Namespace.Coll != s.Coll {
				continue
			}
			docs = append(docs, catalogEntry(info))
		}
		return nil
	})
	return agg.Docs(docs...), err
}

func catalogEntry(info *storage.Info) value.Doc {
	m := metaOf(info)
	b := value.NewBuilder()
	b.String("db", info.Namespace.DB).String("name", info.Namespace.Coll)
	switch m.kind {
	case view:
		b.String("type", "view")
	case timeSeries:
		b.String("type", "timeseries")
	default:
		b.String("type", "collection")
	}
	b.String("ns", info.Namespace.String())
	if m.kind == view {
		b.String("viewOn", m.viewOn).Array("pipeline", m.pipeline)
		return b.Doc()
	}
	b.StartDocument("md").String("ns", info.Namespace.String()).Document("options", info.Options)
	b.StartArray("indexes")
	for _, spec := range m.listed {
		b.StartDocument("").Document("spec", spec.Doc()).Bool("ready", true).End()
	}
	b.End()
	b.End()
	return b.Doc()
}
