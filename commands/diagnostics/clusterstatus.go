package diagnostics

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// clustered is the engine, if it is one of several servers over one database.
func clustered(s *kernel.Service) (storage.Clustered, bool) {
	e, ok := s.Engine.(storage.Clustered)
	return e, ok
}

// reachable returns why the engine's database cannot be used; nil if it can, or if the
// engine has none.
func reachable(s *kernel.Service) error {
	if e, ok := clustered(s); ok {
		return e.Reachable()
	}
	return nil
}

// writeCluster writes the section of serverStatus about the servers over one database,
// and what this one asks of it.
func writeCluster(c *kernel.Call, b *value.Builder) error {
	e, ok := clustered(c.Svc)
	if !ok {
		return nil
	}
	st, err := e.ClusterStats(c.Ctx)
	if err != nil {
		return err
	}
	b.String("server", st.Server)
	b.StartArray("servers")
	for _, s := range st.Servers {
		b.StartDocument("").String("id", s.ID).String("address", s.Address).Date("since", s.Since.UnixMilli()).Bool("self", s.ID == st.Server).End()
	}
	b.End()
	b.StartArray("leases")
	for _, l := range st.Leases {
		b.StartDocument("").String("job", l.Job).String("server", l.Owner).Date("since", l.Since.UnixMilli()).Bool("self", l.Owner == st.Server).End()
	}
	b.End()
	b.StartDocument("database").Bool("reachable", st.Away == nil)
	if st.Away != nil {
		b.String("error", st.Away.Error()).Date("awaySince", st.AwaySince.UnixMilli())
	}
	b.Int64("clockOffsetMicros", st.Offset.Microseconds()).Int64("lastHeartbeatMillis", st.Heartbeat.Milliseconds()).End()
	writeCommits(b, &st)
	b.StartDocument("roundTrips")
	for _, t := range st.Trips {
		appendTrips(b, t.Kind, t)
	}
	b.End()
	b.StartDocument("claims").Int64("taken", st.Claims).Int64("refused", st.Refused).Int64("openTransactions", st.Claimants).End()
	appendTrips(b, "waitsForOtherServers", st.Seen)
	p := st.Pool
	b.StartDocument("pool").Int64("size", p.Size).Int64("inUse", p.InUse).Int64("idle", p.Idle).
		Int64("transactions", p.Held).Int64("waits", p.Waits).Int64("beyond", p.Beyond).End()
	return nil
}

func writeCommits(b *value.Builder, st *storage.ClusterStats) {
	b.StartDocument("commits").Int64("ops", st.Commits.Total()).Int64("latency", int64(st.Commits.Seconds*1e6)).
		Int64("updates", st.Updates).Int64("retries", st.Retries).Int64("conflicts", st.Conflicts).Int64("readsBegunAgain", st.Reruns)
	b.StartArray("histogram")
	for i, n := range st.Commits.Counts {
		if n == 0 {
			continue
		}
		least := 0.0
		if i > 0 {
			least = st.Commits.Bound(i - 1)
		}
		b.StartDocument("").Int64("micros", int64(least*1e6)).Int64("count", n).End()
	}
	b.End().End()
}

func appendTrips(b *value.Builder, name string, t storage.TripStats) {
	b.StartDocument(name).Int64("ops", t.Count).Int64("latency", t.Time.Microseconds()).End()
}
