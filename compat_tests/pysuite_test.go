package compat

import (
	"cmp"
	"encoding/xml"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// pyMongo is the test suite of PyMongo, as it stands in its source
// distribution, run against the installed package. Its synchronous half is
// run: the other is generated from the same text.
type pyMongo struct {
	files []string // nil: all that concern a server
}

// pyMongoQuick are the files about commands and cursors that take seconds.
// The unified tests of the others are those that the Go drivers run.
var pyMongoQuick = []string{
	"bulk", "collation", "collection", "collection_management", "comment", "cursor", "custom_types", "database", "examples",
	"grid_file", "gridfs", "gridfs_bucket", "raw_bson", "read_concern", "run_command", "session",
}

// pyMongoWithout are the files that use no server, or that need a name server, several
// servers or encryption.
var pyMongoWithout = []string{
	"atlas_connect", "auth_oidc", "azure_helpers", "discovery_and_monitoring", "dns", "encryption", "gcp_helpers", "kms_connect",
	"kms_connect_prose", "load_balancer", "max_staleness", "mongos_load_balancing", "ocsp_cache", "ocsp_support", "on_demand_csfle",
	"server_selection", "server_selection_rtt", "sfp", "srv_polling", "topology", "uri_parser", "uri_spec",
}

var pyMongoClients = installed{
	name: "pymongo", files: []string{"requirements.txt"},
	steps: func(dir string) [][]string {
		python := filepath.Join(dir, "venv", "bin", "python")
		pip := []string{python, "-m", "pip", "--quiet", "--disable-pip-version-check"}
		return [][]string{
			{"python3", "-m", "venv", "venv"},
			append(pip, "install", "-r", "requirements.txt"),
			append(pip, "download", "--no-deps", "--no-binary", "pymongo", "-c", "requirements.txt", "pymongo"),
			{"sh", "-c", "tar xzf pymongo-*.tar.gz --strip-components=1 --wildcards '*/test/*' '*/pyproject.toml'"},
		}
	},
}

func (p pyMongo) run(t *testing.T, uri string, only, skip []string) outcome {
	t.Helper()
	needs.Client(t, "python3", "tar")
	dir := pyMongoClients.path(t)
	first, _, _ := strings.Cut(uri, ",") // of several servers: the tests take one
	server, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(t.TempDir(), "results.xml")
	args := []string{
		"-m", "pytest", "-q", "-m", "default", "-o", "addopts=", "-p", "no:cacheprovider", "--timeout=120", "--tb=line", "--junitxml=" + results,
	}
	for _, test := range skip {
		args = append(args, "--deselect="+pyTestID(test))
	}
	for _, test := range only {
		args = append(args, pyTestID(test))
	}
	if len(only) == 0 {
		args = append(args, p.paths(t, dir)...)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "venv", "bin", "python"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DB_IP="+server.Hostname(), "DB_PORT="+server.Port(), "PYTHONDONTWRITEBYTECODE=1")
	out, _ := cmd.CombinedOutput() // that some tests fail is expected: the list judges
	o := readResults(t, results)
	o.output = string(out)
	return o
}

// paths are the files to run.
func (p pyMongo) paths(t *testing.T, dir string) (paths []string) {
	t.Helper()
	for _, name := range p.files {
		paths = append(paths, "test/test_"+name+".py")
	}
	if p.files != nil {
		return paths
	}
	found, err := filepath.Glob(filepath.Join(dir, "test", "test_*.py"))
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{}
	for _, name := range pyMongoWithout {
		without["test_"+name+".py"] = true
	}
	for _, path := range found {
		if name := filepath.Base(path); !without[name] {
			paths = append(paths, "test/"+name)
		}
	}
	return paths
}

// pyTestID is how pytest calls the test that the lists call
// test_file.Class.test_name.
func pyTestID(test string) string {
	file, rest, _ := strings.Cut(test, ".")
	return "test/" + file + ".py::" + strings.Replace(rest, ".", "::", 1)
}

// pyFailure is why a test failed.
type pyFailure struct {
	Message string `xml:"message,attr"`
}

// readResults reads what pytest says in JUnit's form.
func readResults(t *testing.T, path string) outcome {
	t.Helper()
	var suites struct {
		Cases []struct {
			Class   string     `xml:"classname,attr"`
			Name    string     `xml:"name,attr"`
			Failure *pyFailure `xml:"failure"`
			Error   *pyFailure `xml:"error"`
			Skipped *struct{}  `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	o := outcome{passed: map[string]bool{}, failed: map[string]bool{}, told: map[string]string{}}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("the tests did not run: %v", err)
		return o
	}
	if err := xml.Unmarshal(b, &suites); err != nil {
		t.Fatal(err)
	}
	for _, c := range suites.Cases {
		test := strings.TrimPrefix(c.Class, "test.") + "." + c.Name
		switch {
		case c.Failure != nil || c.Error != nil:
			o.failed[test] = true
			o.told[test] = cmp.Or(c.Failure, c.Error).Message
			delete(o.passed, test)
		case c.Skipped != nil:
			o.skipped++
		case !o.failed[test]:
			o.passed[test] = true
		}
	}
	return o
}
