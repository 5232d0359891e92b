package server

import (
	"fmt"
	"io"
	"os"
	"runtime"
	rt "runtime/metrics"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands"
)

// The text format of Prometheus is written by hand: it needs a few lines, and
// the Prometheus library would add a fifth to the size of the binary and to
// the start-up time.

// family is one metric: its kind and the function that reads its value.
type family struct {
	name, kind, help string
	value            func(m *commands.Metrics) float64
}

func counter(name, help string, value func(m *commands.Metrics) int64) family {
	return family{"duskdb_" + name + "_total", "counter", help, func(m *commands.Metrics) float64 { return float64(value(m)) }}
}

func gauge(name, help string, value func(m *commands.Metrics) int64) family {
	return family{"duskdb_" + name, "gauge", help, func(m *commands.Metrics) float64 { return float64(value(m)) }}
}

// families are the metrics without labels.
var families = []family{
	{"duskdb_uptime_seconds", "gauge", "Time since the start.", func(m *commands.Metrics) float64 { return m.Uptime.Seconds() }},
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
	gauge("collections", "Collections.", func(m *commands.Metrics) int64 { return m.Data.Collections }),
	gauge("documents", "Documents stored.", func(m *commands.Metrics) int64 { return m.Data.Documents }),
	gauge("data_bytes", "Size of the documents.", func(m *commands.Metrics) int64 { return m.Data.DataBytes }),
	gauge("indexes", "Indexes.", func(m *commands.Metrics) int64 { return m.Data.Indexes }),
	gauge("index_bytes", "Size of the index entries.", func(m *commands.Metrics) int64 { return m.Data.IndexBytes }),
	gauge("storage_file_bytes", "Size of the log on disk.", func(m *commands.Metrics) int64 { return m.Storage.FileBytes }),
	counter("storage_commits", "Commits to the log.", func(m *commands.Metrics) int64 { return m.Storage.Commits }),
	counter("storage_syncs", "Syncs of the log.", func(m *commands.Metrics) int64 { return m.Storage.Syncs }),
	counter("storage_sync_errors", "Syncs that failed.", func(m *commands.Metrics) int64 { return m.Storage.SyncErrors }),
	gauge("memory_limit_bytes", "Memory limit of the data; 0: no limit.", func(m *commands.Metrics) int64 { return m.MemoryLimit }),
	gauge("memory_used_bytes", "Memory used, as the memory limit counts it.", func(m *commands.Metrics) int64 { return m.MemoryUsed }),
	{"go_goroutines", "gauge", "Goroutines.", func(*commands.Metrics) float64 { return float64(runtime.NumGoroutine()) }},
	runtimeMetric("go_memory_bytes", "gauge", "Memory taken from the system.", "/memory/classes/total:bytes"),
	runtimeMetric("go_heap_objects_bytes", "gauge", "Memory of objects, including unreachable ones.", "/memory/classes/heap/objects:bytes"),
	runtimeMetric("go_heap_live_bytes", "gauge", "Memory of objects that were reachable at the last garbage collection.", "/gc/heap/live:bytes"),
	runtimeMetric("go_allocated_bytes_total", "counter", "Memory allocated since the start.", "/gc/heap/allocs:bytes"),
	runtimeMetric("go_gc_cycles_total", "counter", "Garbage collections.", "/gc/cycles/total:gc-cycles"),
	{"process_open_fds", "gauge", "Open file descriptors.", func(*commands.Metrics) float64 { return openFiles() }},
}

// runtimeMetric is a metric of the Go runtime.
func runtimeMetric(name, kind, help, source string) family {
	return family{name, kind, help, func(*commands.Metrics) float64 {
		sample := []rt.Sample{{Name: source}}
		rt.Read(sample)
		return float64(sample[0].Value.Uint64())
	}}
}

// openFiles counts the open descriptors; 0 if the system cannot report them.
func openFiles() float64 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(entries) - 1) // one of them lists the others
}

// writeMetrics writes all metrics in the text format of Prometheus.
func writeMetrics(w io.Writer, m *commands.Metrics) error {
	var b strings.Builder
	head(&b, "duskdb_info", "gauge", "Version of the server.")
	fmt.Fprintf(&b, "duskdb_info{version=%q,mongodb=%q} 1\n", m.Version, commands.ServerVersion)
	for i := range families {
		f := &families[i]
		head(&b, f.name, f.kind, f.help)
		fmt.Fprintf(&b, "%s %s\n", f.name, number(f.value(m)))
	}
	labelled(&b, "duskdb_operations_total", "Operations by kind, as serverStatus.opcounters.", m.Opcounters)
	labelled(&b, "duskdb_documents_total", "Documents that commands returned, inserted, updated or deleted.", m.Documents)
	labelled(&b, "duskdb_expiry_total", "Counters of expiry: documents removed, passes and their delays.", m.Expiry)
	const latency = "duskdb_command_duration_seconds"
	head(&b, latency, "histogram", "Duration of commands.")
	for i := range m.Latencies {
		l := &m.Latencies[i]
		histogram(&b, latency, fmt.Sprintf("class=%q", l.Class), l.Counts[:], l.Bound, l.Seconds)
	}
	const lag = "duskdb_expiry_lag_seconds"
	head(&b, lag, "histogram", "Time between the expiry of a document and its removal.")
	for i := range m.ExpiryLags {
		l := &m.ExpiryLags[i]
		histogram(&b, lag, fmt.Sprintf("policy=%q", l.Policy), l.Counts[:], l.Bound, float64(l.Millis)/1000)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func head(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// labelled writes the counters of one family, which differ by a label.
func labelled(b *strings.Builder, name, help string, counters []commands.Counter) {
	head(b, name, "counter", help)
	for _, c := range counters {
		fmt.Fprintf(b, "%s{kind=%q} %d\n", name, c.Name, c.Value)
	}
}

// histogram converts counts per bucket to cumulative counts. The last bucket has no bound.
func histogram(b *strings.Builder, name, label string, counts []int64, bound func(i int) float64, sum float64) {
	total := int64(0)
	for i, n := range counts {
		total += n
		le := "+Inf"
		if i < len(counts)-1 {
			le = number(bound(i))
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, label, le, total)
	}
	fmt.Fprintf(b, "%s_sum{%s} %s\n%s_count{%s} %d\n", name, label, number(sum), name, label, total)
}
