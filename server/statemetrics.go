package server

import (
	"crypto/x509"
	"os"
	"runtime"
	rt "runtime/metrics"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
)

// stateMetrics say whether the server serves clients. They and the metrics of the process
// are served while the data are still being opened, too.
var stateMetrics = []family{
	{"duskdb_info", "gauge", []string{"version", "mongodb"}, "Version of the server, and of MongoDB that it follows; always 1.", func(x *exposition, _ *commands.Metrics) {
		x.sample(1, x.s.config.Version, x.s.dialect.Version())
	}},
	ofServer("ready", "1 if clients are served, as /readyz says, else 0.", func(s *Server) (float64, bool) {
		if s.ready() != nil {
			return 0, true
		}
		return 1, true
	}),
	ofServer("opening_ratio", "How far the opening of the data is, from 0 to 1.", func(s *Server) (float64, bool) { return s.opening.ratio(), true }),
	ofServer("tls_certificate_expiry_seconds", "Time until the TLS certificate of the server expires; no sample without TLS.", func(s *Server) (float64, bool) { return s.certificates.expiry() }),
}

// ofServer is a metric that the server has by itself. A sample is written if ok is true.
func ofServer(name, help string, value func(s *Server) (v float64, ok bool)) family {
	return family{"duskdb_" + name, "gauge", nil, help, func(x *exposition, _ *commands.Metrics) {
		if v, ok := value(x.s); ok {
			x.sample(v)
		}
	}}
}

// ratio is how far the opening is.
func (o *opening) ratio() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return 1
	}
	return o.done()
}

// expiry returns the seconds until the first of the server's certificates expires; ok is
// false without TLS.
func (c *certificates) expiry() (seconds float64, ok bool) {
	if c == nil {
		return 0, false
	}
	for _, pair := range c.current.Load().Certificates {
		leaf := pair.Leaf
		if leaf == nil && len(pair.Certificate) > 0 {
			leaf, _ = x509.ParseCertificate(pair.Certificate[0]) // was parsed when it was read
		}
		if leaf == nil {
			continue
		}
		if left := leaf.NotAfter.Sub(clock.System().Now()).Seconds(); !ok || left < seconds {
			seconds, ok = left, true
		}
	}
	return seconds, ok
}

// began is when the process started, as far as it is known.
var began = clock.System().Now()

// processMetrics are about the process.
var processMetrics = []family{
	single("process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.", func(*commands.Metrics) float64 { return float64(began.UnixMilli()) / 1000 }),
	single("process_open_fds", "gauge", "Open file descriptors.", func(*commands.Metrics) float64 { return openFiles() }),
	single("go_goroutines", "gauge", "Goroutines.", func(*commands.Metrics) float64 { return float64(runtime.NumGoroutine()) }),
	runtimeMetric("go_memory_bytes", "gauge", "Memory taken from the system.", "/memory/classes/total:bytes"),
	runtimeMetric("go_heap_objects_bytes", "gauge", "Memory of objects, including unreachable ones.", "/memory/classes/heap/objects:bytes"),
	runtimeMetric("go_heap_live_bytes", "gauge", "Memory of objects that were reachable at the last garbage collection.", "/gc/heap/live:bytes"),
	runtimeMetric("go_allocated_bytes_total", "counter", "Memory allocated since the start.", "/gc/heap/allocs:bytes"),
	runtimeMetric("go_gc_cycles_total", "counter", "Garbage collections.", "/gc/cycles/total:gc-cycles"),
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
