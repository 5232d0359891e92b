package docs_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
)

// stockConf has the settings that are active in the mongod.conf of MongoDB's packages.
const stockConf = `# mongod.conf
storage:
  dbPath: /var/lib/mongodb
systemLog:
  destination: file
  logAppend: true
  path: /var/log/mongodb/mongod.log
net:
  port: 27017
  bindIp: 127.0.0.1
processManagement:
  timeZoneInfo: /usr/share/zoneinfo
`

// TestServiceFromMongodConf does what the page says, without the package and systemd, in
// directories of its own: the server starts with the configuration and is ready.
func TestServiceFromMongodConf(t *testing.T) {
	needs.Program(t, "sh", "sed", "tee")
	page, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```sh service\n(.*?)^```$").FindSubmatch(page)
	root, bin := t.TempDir(), filepath.Join(t.TempDir(), "duskdb")
	if err := needs.Server(bin); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"etc", "var/lib/duskdb", "var/log/duskdb"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "etc", "mongod.conf"), []byte(stockConf), 0o600); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for line := range strings.Lines(string(block[1])) {
		if strings.Contains(line, "/etc/") {
			script.WriteString(strings.ReplaceAll(strings.ReplaceAll(line, "sudo ", ""), " /etc/", " "+root+"/etc/"))
		}
	}
	port := strconv.Itoa(freeport.For(t))
	// What a package and its service do not change: the root directory, and ports in use.
	fmt.Fprintf(&script, "sed -i 's|/var/|%s/var/|; s|27017|0|; s|9216|%s|' %s/etc/duskdb.conf\n", root, port, root)
	if out, err := exec.CommandContext(t.Context(), "sh", "-ec", script.String()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script.String(), out)
	}
	cmd := exec.CommandContext(t.Context(), bin, "--config", filepath.Join(root, "etc", "duskdb.conf"), "--exit-with-stdin")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, "duskdb listening on") {
		log, _ := os.ReadFile(filepath.Join(root, "var/log/duskdb/duskdb.log"))
		t.Fatalf("%q, %v\n%s", line, err, log)
	}
	for _, path := range []string{"/readyz", "/metrics"} {
		r, err := http.Get("http://127.0.0.1:" + port + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		if _ = r.Body.Close(); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", path, r.Status, body)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "var/lib/duskdb/duskdb.bunt")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "var/log/duskdb/duskdb.log")); err != nil {
		t.Error(err)
	}
}

// Prometheus understands the configuration on the page, with the alert rules beside it.
func TestPrometheusConfiguration(t *testing.T) {
	needs.Program(t, "promtool")
	page, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```yaml\n(rule_files.*?)^```$").FindSubmatch(page)
	rules, err := os.ReadFile("monitoring/alerts.yml")
	if m == nil || err != nil {
		t.Fatal("no configuration", err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"prometheus.yml": m[1], "alerts.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "config", filepath.Join(dir, "prometheus.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
