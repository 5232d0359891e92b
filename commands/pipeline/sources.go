package pipeline

import (
	"crypto/sha256"
	"math"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Source opens a pipeline source that is not a collection.
type Source func(h *Environment, x *agg.Exec, s agg.Special) (agg.Iterator, error)

// Sources holds those sources by the names of their stages. Package commands fills
// it.
var Sources map[string]Source

// OpenNothing opens a source that is always empty on this server.
func OpenNothing(*Environment, *agg.Exec, agg.Special) (agg.Iterator, error) { return agg.Docs(), nil }

// OpenCollStats opens $collStats: one document about a collection.
func OpenCollStats(h *Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c, ns := h.Exec.Running(), storage.Namespace{DB: s.DB, Coll: s.Coll}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return nil, err
	}
	needs := s.Spec.Has("storageStats") || s.Spec.Has("count") || s.Spec.Has("queryExecStats") && s.Coll != catalog.SystemViews
	if catalog.Of(info).Kind == catalog.View && needs {
		return nil, catalog.NotOnView(ns)
	}
	if info == nil && needs {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "Unable to retrieve storageStats in $collStats stage :: caused by :: Collection [%s] not found.", ns)
	}
	b := value.NewBuilder()
	AppendOrigin(c, b, ns)
	if v, ok := s.Spec.Get("latencyStats"); ok {
		b.StartDocument("latencyStats")
		u, histograms := c.Svc.Usage.Find(ns.String()), v.Doc().Lookup("histograms").Truthy()
		if u == nil {
			u = new(observe.CollectionUsage)
		}
		appendLatency(b, "reads", &u.Reads, histograms)
		appendLatency(b, "writes", &u.Writes, histograms)
		appendLatency(b, "commands", &u.Commands, histograms)
		appendLatency(b, "transactions", new(observe.TimedCounter), histograms) // transactions belong to the server, not to a collection
		b.End()
	}
	if v, ok := s.Spec.Get("storageStats"); ok {
		given := v.Doc().Lookup("scale")
		if given.IsNumber() && given.AsDouble() > math.MaxInt32 { // limited to an int
			given = value.Int32(math.MaxInt32)
		}
		scale, err := gate.ScaleOf("$collStats.storageStats", given)
		if err != nil {
			return nil, err
		}
		b.StartDocument("storageStats")
		if err := AppendCollStats(c, b, ns, scale); err != nil {
			return nil, err
		}
		b.End()
	}
	if s.Spec.Has("count") {
		figures, _, err := sizesOf(c, ns)
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

// AppendOrigin writes what the figures of $collStats are of: a collection of this server, now.
func AppendOrigin(c *kernel.Call, b *value.Builder, ns storage.Namespace) {
	b.String("ns", ns.String())
	appendShard(c, b)
	b.String("host", exec.LocalHost(c)).Date("localTime", c.Now)
}

// appendShard writes the name of the shard, which the figures of a mongos have.
func appendShard(c *kernel.Call, b *value.Builder) {
	if c.Svc.InCluster() {
		b.String("shard", kernel.ShardName)
	}
}

func appendLatency(b *value.Builder, name string, u *observe.TimedCounter, histograms bool) {
	b.StartDocument(name)
	if histograms {
		u.Histogram.AppendHistogram(b)
	}
	b.Int64("latency", u.Micros.Load()).Int64("ops", u.Count.Load()).Int64("queryableEncryptionLatencyMicros", 0).End()
}

// OpenIndexStats opens $indexStats: how often each index of a collection was used.
func OpenIndexStats(h *Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c, ns := h.Exec.Running(), storage.Namespace{DB: s.DB, Coll: s.Coll}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return nil, err
	}
	if catalog.Of(info).Kind == catalog.TimeSeries {
		if info, err = exec.Lookup(c, storage.Namespace{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}); err != nil {
			return nil, err
		}
	}
	var docs []value.Doc
	for _, spec := range catalog.Of(info).Listed {
		use := c.Svc.IndexUse.Of(info, spec.Name, c.Now)
		b := value.NewBuilder()
		b.String("name", spec.Name).Document("key", spec.Key).String("host", exec.LocalHost(c))
		b.StartDocument("accesses").Int64("ops", use.Ops.Load()).Date("since", use.Since).End()
		appendShard(c, b)
		b.Document("spec", spec.Doc())
		docs = append(docs, b.Doc())
	}
	return agg.Docs(docs...), nil
}

// OpenSessions opens $listSessions and $listLocalSessions: the sessions of the
// client's user, of the given users, or of all.
func OpenSessions(h *Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.Exec.Running()
	wanted := map[[sha256.Size]byte]bool{}
	for u := range s.Spec.Lookup("users").Doc().Values() {
		wanted[transaction.UserKey(u.Doc()).Digest()] = true
	}
	if len(wanted) == 0 {
		wanted[session.Key{User: access.UserName(c)}.Digest()] = true
	}
	all := s.Spec.Lookup("allUsers").Truthy()
	var docs []value.Doc
	for _, session := range c.Svc.Sessions.List() {
		if all || wanted[session.Record.UID] {
			docs = append(docs, housekeeping.SessionDoc(session.Key, c.Svc.Sessions.LastUse(session)))
		}
	}
	return agg.Docs(docs...), nil
}

// OpenPlanCacheStats opens $planCacheStats: the plans that are cached for a
// collection.
func OpenPlanCacheStats(h *Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.Exec.Running()
	info, err := exec.Lookup(c, storage.Namespace{DB: s.DB, Coll: s.Coll})
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, mongoerr.Newf(50933, "$planCacheStats failed on %s.%s: collection does not exist", s.DB, s.Coll)
	}
	if catalog.Of(info).Kind == catalog.TimeSeries { // behind the stage that unpacks the buckets
		return nil, mongoerr.New(40602, "$planCacheStats is only valid as the first stage in a pipeline")
	}
	return agg.Docs(exec.PlanCacheStats(c, catalog.Of(info).Plans)...), nil
}

// OpenListCatalog opens $listCatalog: the catalog entry of a collection or, for
// {aggregate: 1}, of all.
func OpenListCatalog(h *Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.Exec.Running()
	db := s.DB
	if s.Coll == "" {
		db = "" // {aggregate: 1} on admin lists everything
	}
	return ListCollections(c, db, func(info *storage.Info) value.Doc {
		if s.Coll != "" && info.Namespace.Coll != s.Coll {
			return nil
		}
		return catalogEntry(info)
	})
}

// ListCollections returns the entries of the collections of a database, or of all databases if
// db is "". Hidden collections, and those whose entry is nil, are left out.
func ListCollections(c *kernel.Call, db string, entry func(*storage.Info) value.Doc) (agg.Iterator, error) {
	var docs []value.Doc
	err := c.View(func(tx storage.Tx) error {
		docs = nil
		infos, err := catalog.List(tx, db)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if HiddenCollection(info.Namespace) {
				continue
			}
			if d := entry(info); d != nil {
				docs = append(docs, d)
			}
		}
		return nil
	})
	return agg.Docs(docs...), err
}

func catalogEntry(info *storage.Info) value.Doc {
	m := catalog.Of(info)
	b := value.NewBuilder()
	b.String("db", info.Namespace.DB).String("name", info.Namespace.Coll).String("type", m.Kind.Type()).String("ns", info.Namespace.String())
	if m.Kind == catalog.View {
		b.String("viewOn", m.ViewOn).Array("pipeline", m.Pipeline)
		return b.Doc()
	}
	b.StartDocument("md").String("ns", info.Namespace.String()).Document("options", info.Options)
	b.StartArray("indexes")
	for _, spec := range m.Listed {
		b.StartDocument("").Document("spec", spec.Doc()).Bool("ready", true).End()
	}
	b.End()
	b.End()
	return b.Doc()
}
