package server

import (
	"slices"

	"github.com/duskdb/duskdb/commands"
)

// families are all metrics, in the order in which they are served.
var families = slices.Concat(stateMetrics, serverMetrics, storageMetrics, clusterMetrics, expiryMetrics, collectionMetrics, processMetrics)

// serverMetrics are about clients and their commands.
var serverMetrics = []family{
	single("duskdb_uptime_seconds", "gauge", "Time since the start.", func(m *commands.Metrics) float64 { return m.Uptime.Seconds() }),
	gauge("connections", "Open connections.", func(m *commands.Metrics) int64 { return m.Connections.Current }),
	gauge("connections_available", "Connections that can still be opened.", func(m *commands.Metrics) int64 { return m.Connections.Available }),
	counter("connections_created", "Connections since the start.", func(m *commands.Metrics) int64 { return m.Connections.Created }),
	counter("connections_rejected", "Connections that were refused.", func(m *commands.Metrics) int64 { return m.Connections.Rejected }),
	counter("network_bytes_in", "Bytes received in requests.", func(m *commands.Metrics) int64 { return m.Network.BytesIn }),
	counter("network_bytes_out", "Bytes sent in replies.", func(m *commands.Metrics) int64 { return m.Network.BytesOut }),
	counter("network_requests", "Requests received.", func(m *commands.Metrics) int64 { return m.Network.Requests }),
	gauge("cursors_open", "Open cursors.", func(m *commands.Metrics) int64 { return m.Cursors.Open }),
	counter("cursors_opened", "Cursors since the start.", func(m *commands.Metrics) int64 { return m.Cursors.Opened }),
	counter("cursors_timed_out", "Cursors closed because no client used them.", func(m *commands.Metrics) int64 { return m.Cursors.TimedOut }),
	counter("command_errors", "Commands that failed.", func(m *commands.Metrics) int64 { return m.Errors }),
	counter("command_panics", "Commands that panicked.", func(m *commands.Metrics) int64 { return m.Panics }),
	gauge("commands_running", "Commands under way.", func(m *commands.Metrics) int64 { return m.Running }),
	gauge("sessions", "Logical sessions.", func(m *commands.Metrics) int64 { return m.Sessions }),
	kinds("operations", "Operations by kind, as serverStatus.opcounters.", func(m *commands.Metrics) []commands.Counter { return m.Opcounters }),
	kinds("documents", "Documents that commands returned, inserted, updated or deleted.", func(m *commands.Metrics) []commands.Counter { return m.Documents }),
	{"duskdb_command_duration_seconds", "histogram", []string{"class"}, "Duration of commands; the classes are reads, writes and commands.", func(x *exposition, m *commands.Metrics) {
		for i := range m.Latencies {
			l := &m.Latencies[i]
			x.histogram(l.Counts[:], l.Bound, l.Seconds, l.Class)
		}
	}},
}

// storageMetrics are about the data and the storage engine.
var storageMetrics = []family{
	gauge("collections", "Collections.", func(m *commands.Metrics) int64 { return m.Data.Collections }),
	gauge("documents", "Documents stored.", func(m *commands.Metrics) int64 { return m.Data.Documents }),
	gauge("data_bytes", "Size of the documents.", func(m *commands.Metrics) int64 { return m.Data.DataBytes }),
	gauge("indexes", "Indexes.", func(m *commands.Metrics) int64 { return m.Data.Indexes }),
	gauge("index_bytes", "Size of the index entries.", func(m *commands.Metrics) int64 { return m.Data.IndexBytes }),
	gauge("storage_file_bytes", "Size of the log on disk.", func(m *commands.Metrics) int64 { return m.Storage.FileBytes }),
	counter("storage_commits", "Commits to the log.", func(m *commands.Metrics) int64 { return m.Storage.Commits }),
	counter("storage_syncs", "Syncs of the log.", func(m *commands.Metrics) int64 { return m.Storage.Syncs }),
	counter("storage_sync_errors", "Syncs that failed.", func(m *commands.Metrics) int64 { return m.Storage.SyncErrors }),
	{"duskdb_storage_commit_duration_seconds", "histogram", nil, "Duration of commits within the storage engine, without syncs.", func(x *exposition, m *commands.Metrics) {
		c := &m.Storage.CommitTimes
		x.histogram(c.Counts[:], c.Bound, c.Seconds)
	}},
	{"duskdb_storage_sync_duration_seconds", "histogram", nil, "Duration of syncs of the log.", func(x *exposition, m *commands.Metrics) {
		c := &m.Storage.SyncTimes
		x.histogram(c.Counts[:], c.Bound, c.Seconds)
	}},
	present("storage_disk_bytes", "Size of the file system of the data; no sample without files.", func(m *commands.Metrics) int64 { return m.Disk.Total }),
	present("storage_disk_free_bytes", "Free space on the file system of the data; no sample without files.", func(m *commands.Metrics) int64 { return m.Disk.Free }),
	gauge("memory_limit_bytes", "Memory limit of the data; 0: no limit.", func(m *commands.Metrics) int64 { return m.MemoryLimit }),
	gauge("memory_used_bytes", "Memory used, as the memory limit counts it.", func(m *commands.Metrics) int64 { return m.MemoryUsed }),
}

// present is a gauge that has no sample if the size of the file system is not known.
func present(name, help string, value func(m *commands.Metrics) int64) family {
	return family{"duskdb_" + name, "gauge", nil, help, func(x *exposition, m *commands.Metrics) {
		if m.Disk.Total > 0 {
			x.sample(float64(value(m)))
		}
	}}
}
