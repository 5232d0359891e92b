package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// libMongoc is the test program of the C driver, built from the source
// package of Debian.
type libMongoc struct{}

// libMongocParts are the tests that talk to a server. The others are about the
// library alone, or have a server of their own.
var libMongocParts = []string{
	"BulkOperation", "change_stream", "Client/", "Collection", "collection-management", "command_monitoring/unified", "crud", "Cursor", "Database",
	"Error", "find_and_modify", "gridfs", "long_namespace", "MongoDB", "read_write_concern", "retryable_reads", "retryable_writes", "Samples", "scram",
	"server_stream", "Session", "sessions", "Stepdown", "transactions", "unified", "versioned_api", "with_transaction", "WriteCommand", "WriteConcern",
}

// libMongocVersion is that of the release of Debian in sources.list.
const libMongocVersion = "1.23.1"

// debianKeys sign the index in which the source package is found.
const debianKeys = "/usr/share/keyrings/debian-archive-keyring.gpg"

var libMongocClients = installed{
	name: "libmongoc", files: []string{"sources.list"},
	steps: func(dir string) [][]string {
		apt := []string{
			"apt-get", "-qq", "-o", "Dir::Etc::SourceList=" + filepath.Join(dir, "sources.list"), "-o", "Dir::Etc::SourceParts=-",
			"-o", "Dir::State=" + filepath.Join(dir, "apt"), "-o", "Dir::Cache=" + filepath.Join(dir, "apt"), "-o", "APT::Sandbox::User=",
		}
		return [][]string{
			{"mkdir", "-p", "apt/lists/partial", "apt/archives/partial"},
			append(apt[:len(apt):len(apt)], "update"),
			append(apt[:len(apt):len(apt)], "source", "--download-only", "mongo-c-driver"),
			{"tar", "xzf", "mongo-c-driver_" + libMongocVersion + ".orig.tar.gz", "--strip-components=1"},
			{
				"cmake", "-S", ".", "-B", "made", "-DBUILD_VERSION=" + libMongocVersion, "-DENABLE_TESTS=ON", "-DENABLE_EXAMPLES=OFF",
				"-DENABLE_CLIENT_SIDE_ENCRYPTION=OFF", "-DENABLE_AUTOMATIC_INIT_AND_CLEANUP=OFF", "-DENABLE_MONGODB_AWS_AUTH=OFF", "-DENABLE_SASL=OFF",
			},
			{"cmake", "--build", "made", "--target", "test-libmongoc", "--parallel", "2"},
			{"rm", "-r", "apt"},
		}
	},
}

func (libMongoc) run(t *testing.T, uri string, only, skip []string) outcome {
	t.Helper()
	needs.Client(t, "apt-get", "cmake", "cc", "tar")
	if _, err := os.Stat(debianKeys); err != nil {
		needs.Missing(t, "debian-archive-keyring")
	}
	dir := libMongocClients.path(t)
	results, skipped := filepath.Join(t.TempDir(), "results.json"), filepath.Join(t.TempDir(), "skipped")
	if err := os.WriteFile(skipped, []byte(strings.Join(skip, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-F", results, "--skip-tests", skipped}
	for _, part := range libMongocParts {
		if only == nil {
			args = append(args, "-l", "/"+part+"*")
		}
	}
	for _, test := range only {
		args = append(args, "-l", test)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "made", "src", "libmongoc", "test-libmongoc"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MONGOC_TEST_URI="+uri, "MONGOC_TEST_OFFLINE=on", "MONGOC_TEST_SKIP_MOCK=on", "MONGOC_ENABLE_MAJORITY_READ_CONCERN=on")
	out, _ := cmd.CombinedOutput() // that some tests fail is expected: the list judges
	o := readLibMongoc(t, results)
	o.output = string(out)
	return o
}

var libMongocResult = regexp.MustCompile(`"status": "(pass|fail|skip)", "test_file": "([^"]+)"`)

// readLibMongoc reads the results as they stand there; if the program was
// ended, they are no valid JSON.
func readLibMongoc(t *testing.T, path string) outcome {
	t.Helper()
	o := outcome{passed: map[string]bool{}, failed: map[string]bool{}, told: map[string]string{}}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("the tests did not run: %v", err)
		return o
	}
	for _, m := range libMongocResult.FindAllStringSubmatch(string(b), -1) {
		switch test := m[2]; {
		case m[1] == "skip":
			o.skipped++
		case m[1] == "fail":
			o.failed[test] = true
			delete(o.passed, test)
		case !o.failed[test]:
			o.passed[test] = true
		}
	}
	return o
}
