package server

import (
	"strings"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/storage"
)

// ofCluster is a metric that only a server over a database has.
func ofCluster(name, kind, help string, labels []string, write func(x *exposition, st *storage.ClusterStats)) family {
	return family{"duskdb_cluster_" + name, kind, labels, help, func(x *exposition, m *commands.Metrics) {
		if m.Cluster != nil {
			write(x, m.Cluster)
		}
	}}
}

func clusterGauge(name, help string, value func(st *storage.ClusterStats) float64) family {
	return ofCluster(name, "gauge", help, nil, func(x *exposition, st *storage.ClusterStats) { x.sample(value(st)) })
}

func clusterCounter(name, help string, value func(st *storage.ClusterStats) float64) family {
	return ofCluster(name+"_total", "counter", help, nil, func(x *exposition, st *storage.ClusterStats) { x.sample(value(st)) })
}

// clusterMetrics are about the servers over one database, and what this one asks of it.
var clusterMetrics = []family{
	clusterGauge("database_reachable", "1 if the database can be used.", func(st *storage.ClusterStats) float64 { return oneIf(st.Away == nil) }),
	clusterGauge("database_away_seconds", "For how long the database could not be used; 0 if it can.", func(st *storage.ClusterStats) float64 {
		if st.Away == nil {
			return 0
		}
		return clock.System().Now().Sub(st.AwaySince).Seconds()
	}),
	clusterGauge("heartbeat_age_seconds", "Time since the last heartbeat that succeeded.", func(st *storage.ClusterStats) float64 { return st.Heartbeat.Seconds() }),
	clusterGauge("clock_offset_seconds", "How far the clock of the database is ahead of the machine's.", func(st *storage.ClusterStats) float64 { return st.Offset.Seconds() }),
	ofCluster("servers", "gauge", "Servers that live.", nil, func(x *exposition, st *storage.ClusterStats) {
		if st.Away == nil {
			x.sample(float64(len(st.Servers)))
		}
	}),
	ofCluster("lease", "gauge", "1 if this server runs a background job.", []string{"task"}, leases(func(st *storage.ClusterStats, l storage.ClusterLease) float64 { return oneIf(l.Owner == st.Server) })),
	ofCluster("lease_since_timestamp_seconds", "gauge", "When the server that runs a background job got it.", []string{"task"},
		leases(func(_ *storage.ClusterStats, l storage.ClusterLease) float64 {
			return float64(l.Since.UnixMilli()) / 1000
		})),
	clusterCounter("updates", "Updates that were committed, several of them together.", func(st *storage.ClusterStats) float64 { return float64(st.Updates) }),
	clusterCounter("conflicts", "Updates that failed because of others.", func(st *storage.ClusterStats) float64 { return float64(st.Conflicts) }),
	clusterCounter("commit_retries", "Commits that were tried again.", func(st *storage.ClusterStats) float64 { return float64(st.Retries) }),
	clusterCounter("read_reruns", "Reads that began again, because of a change of the catalog or a lost connection.", func(st *storage.ClusterStats) float64 { return float64(st.Reruns) }),
	clusterCounter("claims", "Claims that transactions have got.", func(st *storage.ClusterStats) float64 { return float64(st.Claims) }),
	clusterCounter("claims_refused", "Claims that other transactions had.", func(st *storage.ClusterStats) float64 { return float64(st.Refused) }),
	clusterGauge("claiming_transactions", "Open transactions that may have claims.", func(st *storage.ClusterStats) float64 { return float64(st.Claimants) }),
	clusterCounter("seen_waits", "Waits until all servers had seen a commit.", func(st *storage.ClusterStats) float64 { return float64(st.Seen.Count) }),
	clusterCounter("seen_wait_seconds", "Time spent in these waits.", func(st *storage.ClusterStats) float64 { return st.Seen.Time.Seconds() }),
	ofCluster("round_trips_total", "counter", "Round trips to the database.", []string{"kind"}, trips(func(t storage.TripStats) float64 { return float64(t.Count) })),
	ofCluster("round_trip_seconds_total", "counter", "Time spent in these round trips.", []string{"kind"}, trips(func(t storage.TripStats) float64 { return t.Time.Seconds() })),
	clusterGauge("pool_size", "Connections to the database for reads and commits, at most.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.Size) }),
	clusterGauge("pool_in_use", "Connections of the pool in use.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.InUse) }),
	clusterGauge("pool_idle", "Connections of the pool that are idle.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.Idle) }),
	clusterGauge("pool_transactions", "Connections of open transactions.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.Held) }),
	clusterCounter("pool_waits", "Waits for a connection of the pool.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.Waits) }),
	clusterCounter("pool_beyond", "Connections opened beyond the size of the pool.", func(st *storage.ClusterStats) float64 { return float64(st.Pool.Beyond) }),
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ownJob begins the name of a job that each server has for itself.
const ownJob = "server."

// leases writes a sample for each job that one of the servers has for all.
func leases(value func(*storage.ClusterStats, storage.ClusterLease) float64) func(*exposition, *storage.ClusterStats) {
	return func(x *exposition, st *storage.ClusterStats) {
		for _, l := range st.Leases {
			if !strings.HasPrefix(l.Job, ownJob) {
				x.sample(value(st, l), l.Job)
			}
		}
	}
}

// trips writes a sample for each kind of round trips.
func trips(value func(storage.TripStats) float64) func(*exposition, *storage.ClusterStats) {
	return func(x *exposition, st *storage.ClusterStats) {
		for _, t := range st.Trips {
			x.sample(value(t), t.Kind)
		}
	}
}
