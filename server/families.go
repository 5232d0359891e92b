package server

import (
	"os"
	"runtime"
	rt "runtime/metrics"
	"slices"

	"github.com/duskdb/duskdb/commands"
)

// families are all metrics, in the order in which they are served.
var families = slices.Concat(serverMetrics, storageMetrics, expiryMetrics, collectionMetrics, processMetrics)

// serverMetrics are about clients and their commands.
var serverMetrics = []family{
	{"duskdb_info", "gauge", []string{"version", "mongodb"}, "Version of the server, and of MongoDB that it follows; always 1.", func(x *exposition, m *commands.Metrics) {
		x.sample(1, m.Version, commands.ServerVersion)
	}},
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
	gauge("memory_limit_bytes", "Memory limit of the data; 0: no limit.", func(m *commands.Metrics) int64 { return m.MemoryLimit }),
	gauge("memory_used_bytes", "Memory used, as the memory limit counts it.", func(m *commands.Metrics) int64 { return m.MemoryUsed }),
}

// processMetrics are about the process.
var processMetrics = []family{
	single("go_goroutines", "gauge", "Goroutines.", func(*commands.Metrics) float64 { return float64(runtime.NumGoroutine()) }),
	runtimeMetric("go_memory_bytes", "gauge", "Memory taken from the system.", "/memory/classes/total:bytes"),
	runtimeMetric("go_heap_objects_bytes", "gauge", "Memory of objects, including unreachable ones.", "/memory/classes/heap/objects:bytes"),
	runtimeMetric("go_heap_live_bytes", "gauge", "Memory of objects that were reachable at the last garbage collection.", "/gc/heap/live:bytes"),
	runtimeMetric("go_allocated_bytes_total", "counter", "Memory allocated since the start.", "/gc/heap/allocs:bytes"),
	runtimeMetric("go_gc_cycles_total", "counter", "Garbage collections.", "/gc/cycles/total:gc-cycles"),
	single("process_open_fds", "gauge", "Open file descriptors.", func(*commands.Metrics) float64 { return openFiles() }),
}

// runtimeMetric is a metric of the Go runtime.
func runtimeMetric(name, kind, help, source string) family {
	return single(name, kind, help, func(*commands.Metrics) float64 {
		sample := []rt.Sample{{Name: source}}
		rt.Read(sample)
		return float64(sample[0].Value.Uint64())
	})
}

// openFiles counts the open descriptors; 0 if the system cannot report them.
func openFiles() float64 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(entries) - 1) // one of them lists the others
}
