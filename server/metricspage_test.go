package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/value"
)

var updateDocs = flag.Bool("update", false, "rewrite the generated part of docs/metrics.md")

const (
	metricsPage  = "../docs/metrics.md"
	metricsBegin = "<!-- metrics: go test -run TestMetricsPage ./server -update -->\n"
	metricsEnd   = "<!-- end of metrics -->"
	alertsFile   = "../docs/monitoring/alerts.yml"
	boardFile    = "../docs/monitoring/dashboard.json"
)

// metricsTable is the list of all metrics.
func metricsTable() string {
	var b strings.Builder
	b.WriteString("\n| metric | type | labels | |\n|---|---|---|---|\n")
	for i := range families {
		f := &families[i]
		labels := ""
		if len(f.labels) > 0 {
			labels = "`" + strings.Join(f.labels, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, f.kind, labels, f.help)
	}
	b.WriteString("\n")
	return b.String()
}

// TestMetricsPage holds the page against the tables of the metrics.
func TestMetricsPage(t *testing.T) {
	page, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), metricsBegin)
	_, tail, closed := strings.Cut(rest, metricsEnd)
	if !ok || !closed {
		t.Fatal("the page has no place for the metrics")
	}
	want := head + metricsBegin + metricsTable() + metricsEnd + tail
	if want == string(page) {
		return
	}
	if *updateDocs {
		if err := os.WriteFile(metricsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date: go test -run TestMetricsPage ./server -update", metricsPage)
}

// The names follow the conventions of Prometheus, and each is there once.
func TestMetricNames(t *testing.T) {
	seen := map[string]bool{}
	for i := range families {
		f := &families[i]
		if seen[f.name] {
			t.Errorf("%s is there twice", f.name)
		}
		seen[f.name] = true
		if !regexp.MustCompile(`^(duskdb|go|process)_[a-z_]+$`).MatchString(f.name) || strings.HasSuffix(f.name, "_total") != (f.kind == "counter") || f.kind == "histogram" && !strings.HasSuffix(f.name, "_seconds") {
			t.Errorf("%s is no name for a %s", f.name, f.kind)
		}
		if !strings.HasSuffix(f.help, ".") || strings.ContainsAny(f.help, "\n\\|") {
			t.Errorf("%s: %q", f.name, f.help)
		}
	}
}

// selfSigned writes a certificate that is valid for a time, with its key.
func selfSigned(t *testing.T, valid time.Duration) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.System().Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The certificate's metric is the time that is left of it.
func TestCertificateExpiryMetric(t *testing.T) {
	got := scrape(t, busy(t))["duskdb_tls_certificate_expiry_seconds"]
	if days := (30 * 24 * time.Hour).Seconds(); got > days || got < days-3600 {
		t.Errorf("%v s are left, want 30 days", got)
	}
	if _, ok := scrape(t, serveConfig(t, Config{MetricsPort: -1}))["duskdb_tls_certificate_expiry_seconds"]; ok {
		t.Error("a certificate without TLS")
	}
}

// busy starts a server that has samples of every metric.
func busy(t *testing.T) *Server {
	t.Helper()
	s := serveConfig(t, Config{
		MetricsPort: -1, DBPath: t.TempDir(), MemoryLimit: "1GB", TLS: TLS{Mode: TLSAllow, CertificateKeyFile: selfSigned(t, 30*24*time.Hour)},
	})
	c := dial(t, s)
	c.ok(t, value.MustJSON(`{"create": "c", "documentTtl": {"default": 600}, "$db": "test"}`))
	c.ok(t, value.MustJSON(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`))
	c.ok(t, value.MustJSON(`{"create": "q", "messageQueue": {}, "$db": "test"}`))
	return s
}

// TestPromtoolReadsMetrics has Prometheus' own tool check what is served.
func TestPromtoolReadsMetrics(t *testing.T) {
	needs.Program(t, "promtool")
	_, body := get(t, busy(t), "/metrics")
	for i := range families {
		if strings.HasPrefix(families[i].name, "duskdb_cluster_") {
			continue // only with a database, see tests/crash
		}
		if !strings.Contains(body, "# TYPE "+families[i].name+" "+families[i].kind+"\n") {
			t.Errorf("%s has no sample", families[i].name)
		}
	}
	cmd := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// TestPromtoolReadsAlerts has Prometheus' own tool check the rules.
func TestPromtoolReadsAlerts(t *testing.T) {
	needs.Program(t, "promtool")
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", alertsFile).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", filepath.Dir(alertsFile)+"/alerts_test.yml").CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// selector is a metric in a query, with its selectors of labels.
var selector = regexp.MustCompile(`\b((?:duskdb|go|process)_[a-z_]+)(?:\{([^}]*)\})?`)

// checkQuery reports the metrics, labels and label values of a query that are not served.
func checkQuery(t *testing.T, where, query, served string) {
	t.Helper()
	labels := map[string]bool{"job": true, "instance": true}
	for _, m := range selector.FindAllStringSubmatch(query, -1) {
		f := familyOf(m[1])
		if f == nil {
			t.Errorf("%s: there is no metric %s", where, m[1])
			continue
		}
		for _, l := range append([]string{"le"}, f.labels...) {
			labels[l] = labels[l] || l != "le" || f.kind == "histogram"
		}
		for _, s := range regexp.MustCompile(`(\w+)(=~|!=|!~|=)"([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
			if s[1] == "job" || s[1] == "instance" {
				continue
			}
			if !strings.Contains(" "+strings.Join(f.labels, " ")+" ", " "+s[1]+" ") {
				t.Errorf("%s: %s has no label %s", where, m[1], s[1])
			}
			for v := range strings.SplitSeq(s[3], "|") {
				if !regexp.MustCompile(`(?m)^` + m[1] + `\{.*\b` + s[1] + `="` + v + `"`).MatchString(served) {
					t.Errorf("%s: %s has no sample with %s=%q", where, m[1], s[1], v)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right) *\(([^)]*)\)`).FindAllStringSubmatch(query, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); l != "" && !labels[l] {
				t.Errorf("%s: no metric of it has the label %s", where, l)
			}
		}
	}
}

// familyOf finds the metric of a series.
func familyOf(series string) *family {
	for i := range families {
		f := &families[i]
		if f.name == series {
			return f
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if f.kind == "histogram" && f.name+suffix == series {
				return f
			}
		}
	}
	return nil
}

// The alert rules use what is served: metrics, labels, and values of labels; each says what
// is the matter, in the words of labels that its metric has.
func TestAlertsUseMetrics(t *testing.T) {
	_, served := get(t, busy(t), "/metrics")
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			checkQuery(t, r.Alert, r.Expr, served)
			if seen[r.Alert] || r.Alert == "" {
				t.Errorf("%q is there twice, or has no name", r.Alert)
			}
			seen[r.Alert] = true
			if s := r.Labels["severity"]; s != "warning" && s != "critical" {
				t.Errorf("%s has the severity %q", r.Alert, s)
			}
			if r.Annotations["summary"] == "" {
				t.Errorf("%s has no summary", r.Alert)
			}
			if m := selector.FindStringSubmatch(r.Expr); m != nil {
				f := familyOf(m[1])
				for _, l := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(fmt.Sprint(r.Annotations), -1) {
					if f != nil && l[1] != "job" && l[1] != "instance" && !strings.Contains(strings.Join(f.labels, " "), l[1]) {
						t.Errorf("%s: %s has no label %s", r.Alert, f.name, l[1])
					}
				}
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d rules were read", len(seen))
	}
}

// panel is a panel of a dashboard, as far as it is checked.
type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource *struct{ Type, UID string }
	GridPos    struct{ H, W, X, Y int }
	Targets    []struct {
		Expr, RefID string
		Datasource  struct{ UID string }
	}
}

func (p *panel) overlaps(o *panel) bool {
	a, b := p.GridPos, o.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// The dashboard has what Grafana requires, its panels do not overlap, all read from the data
// source that is chosen at the top, and their queries use what is served.
func TestDashboard(t *testing.T) {
	_, served := get(t, busy(t), "/metrics")
	text, err := os.ReadFile(boardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title, UID    string
		SchemaVersion int
		Time          struct{ From, To string }
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []panel
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || len(board.UID) > 40 || board.SchemaVersion < 30 || board.Time.From == "" || board.Time.To == "" {
		t.Errorf("title %q, uid %q, schema %d, time %v", board.Title, board.UID, board.SchemaVersion, board.Time)
	}
	kinds := map[string]string{}
	for _, v := range board.Templating.List {
		kinds[v.Name] = v.Type
		checkQuery(t, "variable "+v.Name, v.Definition, served)
	}
	if kinds["datasource"] != "datasource" || kinds["job"] != "query" || kinds["instance"] != "query" {
		t.Errorf("variables %v", kinds)
	}
	ids := map[int]bool{}
	for i := range board.Panels {
		p := &board.Panels[i]
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: the id %d is there twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 || p.Title == "" {
			t.Errorf("%q at %+v", p.Title, g)
		}
		for k := range i {
			if p.overlaps(&board.Panels[k]) {
				t.Errorf("%s overlaps %s", p.Title, board.Panels[k].Title)
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Datasource == nil || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s has %d queries, to %v", p.Title, len(p.Targets), p.Datasource)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if refs[q.RefID] || q.RefID == "" || q.Datasource.UID != "${datasource}" {
				t.Errorf("%s: query %q to %q", p.Title, q.RefID, q.Datasource.UID)
			}
			refs[q.RefID] = true
			checkQuery(t, p.Title, q.Expr, served)
			checkSyntax(t, p.Title, q.Expr)
		}
	}
	if len(ids) < 20 {
		t.Errorf("only %d panels were read", len(ids))
	}
}

// checkSyntax counts the brackets of a query, since promtool of Debian cannot check one by
// itself without a server.
func checkSyntax(t *testing.T, where, query string) {
	t.Helper()
	depth := 0
	for _, c := range query {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		t.Errorf("%s: brackets of %s", where, query)
	}
}

// TestPromtoolReadsDashboard writes the queries of the dashboard into rules, with the
// variables of Grafana replaced, and has Prometheus' own tool check them.
func TestPromtoolReadsDashboard(t *testing.T) {
	needs.Program(t, "promtool")
	text, err := os.ReadFile(boardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct{ Panels []panel }
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("groups:\n- name: dashboard\n  rules:\n")
	n := 0
	for i := range board.Panels {
		for _, q := range board.Panels[i].Targets {
			expr := strings.ReplaceAll(q.Expr, "$__rate_interval", "5m")
			fmt.Fprintf(&b, "  - record: panel:%d\n    expr: %q\n", n, expr)
			n++
		}
	}
	cmd := exec.CommandContext(t.Context(), "promtool", "check", "rules", "/dev/stdin")
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil || n == 0 {
		t.Errorf("promtool check rules of %d queries: %v\n%s", n, err, out)
	}
}
