package server

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// get asks the metrics server.
func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + s.MetricsAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// line is a sample in the text format of Prometheus.
var line = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-z]+="[^"]*",?)+\})? (\S+)$`)

func TestMetrics(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, MemoryLimit: "1GB", TestClock: true, Parameters: map[string]string{"testClockStart": "2026-01-01T00:00:00Z"}})
	c := dial(t, s)
	c.ok(t, value.MustJSON(`{"createIndexes": "due", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 0}], "$db": "test"}`))
	c.ok(t, value.MustJSON(`{"insert": "due", "documents": [{"x": {"$date": "2025-12-31T23:59:15Z"}}], "$db": "test"}`)) // 45 s before
	c.ok(t, value.MustJSON(`{"runExpirationPass": 1, "$db": "admin"}`))
	c.ok(t, value.MustJSON(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "test"}`))
	c.ok(t, value.MustJSON(`{"find": "c", "$db": "test"}`))
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n"} {
		if code, body := get(t, s, path); code != 200 || body != want {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	code, body := get(t, s, "/metrics")
	if code != 200 {
		t.Fatal(code, body)
	}
	samples, typed := map[string]float64{}, map[string]bool{}
	for text := range strings.Lines(body) {
		text = strings.TrimSuffix(text, "\n")
		if f := strings.Fields(text); f[0] == "#" {
			typed[f[2]] = typed[f[2]] || f[1] == "TYPE"
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("line %q", text)
		}
		v, err := strconv.ParseFloat(m[4], 64)
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m[1], "")
		if err != nil || !typed[m[1]] && !typed[base] {
			t.Errorf("line %q: %v", text, err)
		}
		if _, twice := samples[m[1]+m[2]]; twice {
			t.Errorf("%q twice", m[1]+m[2])
		}
		samples[m[1]+m[2]] = v
	}
	for name, want := range map[string]float64{
		`duskdb_operations_total{kind="insert"}`:                                          3,
		`duskdb_operations_total{kind="query"}`:                                           1,
		`duskdb_connections`:                                                              1,
		`duskdb_memory_limit_bytes`:                                                       1 << 30,
		`duskdb_command_duration_seconds_count{class="writes"}`:                           2,
		`duskdb_command_duration_seconds_bucket{class="reads",le="+Inf"}`:                 1,
		`duskdb_expiry_removed_total{policy="ttl"}`:                                       1,
		`duskdb_expiry_removed_total{policy="documentTtl"}`:                               0,
		`duskdb_expiry_moved_total{policy="ttl"}`:                                         0,
		`duskdb_expiry_pass_duration_seconds_count`:                                       1,
		`duskdb_expiry_interval_seconds`:                                                  60,
		`duskdb_expiry_enabled`:                                                           1,
		`duskdb_expiry_errors_total`:                                                      0,
		`duskdb_collection_expiry_removed_total{db="test",collection="due",policy="ttl"}`: 1,
		`duskdb_collection_expiry_pending{db="test",collection="due",policy="ttl"}`:       0,
		`duskdb_expiry_lag_seconds_count{policy="ttl"}`:                                   1,
		`duskdb_expiry_lag_seconds_sum{policy="ttl"}`:                                     45,
		`duskdb_expiry_lag_seconds_bucket{policy="ttl",le="40"}`:                          0,
		`duskdb_expiry_lag_seconds_bucket{policy="ttl",le="50"}`:                          1,
		`duskdb_expiry_lag_seconds_bucket{policy="ttl",le="+Inf"}`:                        1,
		`duskdb_expiry_lag_seconds_count{policy="messageQueue"}`:                          0,
		`duskdb_info{version="",mongodb="` + MongoDBVersion + `"}`:                        1,
	} {
		if got, ok := samples[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	if code, _ := get(t, s, "/debug/pprof/goroutine?debug=1"); code != 404 {
		t.Errorf("profiles are served although they are off: %d", code)
	}
	if code, body := get(t, s, "/"); code != 200 || !strings.Contains(body, `href="/metrics"`) || strings.Contains(body, "pprof") {
		t.Errorf("/: %d %s", code, body)
	}
	if code, _ := get(t, s, "/nothing"); code != 404 {
		t.Errorf("/nothing: %d", code)
	}
}

// TestMetricsAddress: metrics are served on the loopback address unless MetricsBindIP is
// another one, whatever the address for clients.
func TestMetricsAddress(t *testing.T) {
	for ip, want := range map[string]string{"": "127.0.0.1:", "localhost": "127.0.0.1:", "0.0.0.0": "[::]:"} {
		s := serveConfig(t, Config{BindIP: []string{"0.0.0.0"}, MetricsPort: -1, MetricsBindIP: ip})
		if got := s.MetricsAddr(); !strings.HasPrefix(got, want) && (ip != "0.0.0.0" || !strings.HasPrefix(got, ip)) {
			t.Errorf("%q: %s", ip, got)
		}
	}
}

func TestNotReady(t *testing.T) {
	s := serveConfig(t, Config{})
	if s.MetricsAddr() != "" {
		t.Error("metrics are served although they are off")
	}
	if err := s.ready(); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil || s.ready() == nil {
		t.Errorf("closed: %v, ready %v", err, s.ready())
	}
}

// The queries that the console offers for copying name metrics and labels that are served.
func TestQueriesOfTheConsole(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, ConsolePort: -1})
	_, metrics := get(t, s, "/metrics")
	r, err := http.Get(s.ConsoleURL() + "passes.js")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	script, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	selectors := regexp.MustCompile(`(duskdb_[a-z_]+)(?:\{(\w+)=~?"([^"]+)"\})?`).FindAllStringSubmatch(string(script), -1)
	if len(selectors) < 10 {
		t.Fatalf("only %d selectors were found", len(selectors))
	}
	for _, m := range selectors {
		for value := range strings.SplitSeq(m[3], "|") {
			want := "\n" + m[1]
			if m[2] != "" {
				want += "{" + m[2] + `="` + value + `"`
			}
			if !strings.Contains(metrics, want) {
				t.Errorf("%s: no metric %s", m[0], want)
			}
		}
	}
}
