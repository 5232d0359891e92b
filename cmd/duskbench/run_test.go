package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/duskdb/duskdb/value"
)

// TestRunAllWorkloads runs each workload against a null server, with both
// clients.
func TestRunAllWorkloads(t *testing.T) {
	for _, client := range []string{"wire", "driver"} {
		t.Run(client, func(t *testing.T) { runAll(t, nullTarget(t).addr, client) })
	}
}

func runAll(t *testing.T, addr, client string) {
	c := runCommand{URI: addr, loadOptions: shortLoad()}
	c.Workload, c.Client = nil, client
	for _, w := range workloads {
		c.Workload = append(c.Workload, w.name)
	}
	c.Connections = []int{1, 3}
	c.JSON = filepath.Join(t.TempDir(), "out.json")
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	var results []result
	readJSON(t, c.JSON, &results)
	if want := 2 * len(workloads); len(results) != want || strings.Count(out.String(), "\n") != want+1 {
		t.Fatalf("%d results, want %d:\n%s", len(results), want, out.String())
	}
	var ops int64 // a single run is so short that a busy machine may leave it none
	for _, r := range results {
		ops += r.Ops
		if r.Seconds <= 0 || r.P50 > r.P99 || r.P99 > r.Max || (r.Ops > 0) != (r.OpsPerSec > 0) {
			t.Errorf("got %+v", r)
		}
	}
	if ops == 0 {
		t.Error("nothing was measured")
	}
}

func TestRunCompressed(t *testing.T) {
	for _, z := range []string{"snappy", "zlib", "zstd"} {
		for _, client := range []string{"wire", "driver"} {
			c := runCommand{URI: nullTarget(t).addr, loadOptions: shortLoad()}
			c.Compressor, c.Client = z, client
			if err := c.Run(new(strings.Builder)); err != nil {
				t.Errorf("%s, %s: %v", z, client, err)
			}
		}
	}
}

// TestCheckFails: a reply that reports success and does nothing ends the
// measurement.
func TestCheckFails(t *testing.T) {
	o := shortLoad()
	o.Duration = time.Minute // which must not be waited for
	w := workload{name: "w", build: buildPing, check: wantWritten}
	if _, err := measure(nullTarget(t), w, 3, o); err == nil || !strings.Contains(err.Error(), errNothing.Error()) {
		t.Errorf("got %v", err)
	}
	w.check = func(d value.Doc) error { return wantDocument(d) }
	if _, err := measure(nullTarget(t), w, 1, o); err == nil {
		t.Error("no error")
	}
}

func TestServerGone(t *testing.T) {
	c := runCommand{URI: "127.0.0.1:1", loadOptions: shortLoad()}
	if err := c.Run(new(strings.Builder)); err == nil {
		t.Error("no error")
	}
}

func TestCompare(t *testing.T) {
	a, b := nullTarget(t), nullTarget(t)
	c := compareCommand{A: a.addr, B: b.addr, Rounds: 3, loadOptions: shortLoad()}
	c.Workload = []string{"findOne", "insertOne"}
	c.JSON = filepath.Join(t.TempDir(), "out.json")
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	var all []comparison
	readJSON(t, c.JSON, &all)
	if len(all) != 2 {
		t.Fatalf("%d comparisons:\n%s", len(all), out.String())
	}
	for _, x := range all {
		if len(x.A) != 3 || len(x.B) != 3 || x.Ratio != medianRatio(x.A, x.B) || x.OpsA != medianOf(x.A, opsPerSec) || x.A[0].Target != a.addr || x.B[0].Target != b.addr {
			t.Errorf("got %+v", x)
		}
	}
	if !strings.Contains(out.String(), "ratio") {
		t.Error(out.String())
	}
}

func TestMinRatio(t *testing.T) {
	c := compareCommand{MinRatio: 0.9}
	if err := c.judge([]comparison{{Workload: "ping", Connections: 16, Ratio: 0.95}}); err != nil {
		t.Error(err)
	}
	err := c.judge([]comparison{{Ratio: 1}, {Workload: "ping", Connections: 16, Ratio: 0.85}})
	if err == nil || err.Error() != "ping at 16 connections: ratio 0.85 is below 0.90" {
		t.Errorf("got %v", err)
	}
}

func TestStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(actAs, "server")
	c := startCommand{Binary: self, Rounds: 3, JSON: filepath.Join(t.TempDir(), "out.json")}
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	var r startResult
	readJSON(t, c.JSON, &r)
	if len(r.Times) != 3 || r.Min <= 0 || r.Median < r.Min || r.Max < r.Median {
		t.Errorf("got %+v", r)
	}
	if !strings.HasPrefix(out.String(), "start to first ping, 3 rounds: median ") {
		t.Error(out.String())
	}
	x, err := openTarget("exec:"+self, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.stop(); err != nil {
		t.Error(err)
	}
}

func TestStartFails(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(actAs, "failure")
	_, err = startServer(self, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "cannot open the data directory") {
		t.Errorf("got %v", err)
	}
	if _, err := startServer(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("started a file that is not there")
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ args, err string }{
		{"run", ""},
		{"run --uri mongodb://h:1 --connections 1,16,64 --workload ping,ttl --duration 2s --warmup 0s --docs 10 --seed 4 --json x", ""},
		{"compare --a mongodb://h --b null --rounds 5 --min-ratio 0.9", ""},
		{"compare --a exec:./duskdb --against mongodb://h --client wire", ""},
		{"run --client telnet", "must be one of"},
		{"compare", "missing flags: --a"},
		{"run --workload nonsense", `no workload "nonsense"`},
		{"run --connections 0", "0 connections are too few"},
		{"run --docs 0", "must be positive"},
		{"run --compressor lz4", "must be one of"},
		{"start --rounds 3 main.go --setParameter a=b", ""},
		{"null --port 5", ""},
		{"workloads", ""},
	} {
		var x cli
		p, err := kong.New(&x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Parse(strings.Fields(c.args))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.args, err, c.err)
		}
	}
}

func TestFigure(t *testing.T) {
	for in, want := range map[float64]string{0: "0.0", 17.94: "17.9", 99.9: "99.9", 100: "100", 133385.7: "133386"} {
		if got := figure(in); got != want {
			t.Errorf("%v is written %s, want %s", in, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	table := newTable(&out, []column{{"name", 6, true}, {"n", 4, false}})
	table.row("a", "1")
	table.row("longest", "10000")
	if want := "name       n\na          1\nlongest  10000\n"; out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}
