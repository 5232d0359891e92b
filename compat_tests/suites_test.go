package compat

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suite is one package of tests that the Go driver brings with it, run as it
// stands in the module cache.
type suite struct {
	name   string // of its list of exceptions, suites/NAME.txt
	pkg    string
	member bool // of a replica set: more of the tests apply
	all    bool // only with DUSKDB_COMPAT_ALL: slow, and mostly the same as another
}

const (
	v1Integration = "go.mongodb.org/mongo-driver/mongo/integration"
	v1Unified     = "go.mongodb.org/mongo-driver/mongo/integration/unified"
	v2Integration = "go.mongodb.org/mongo-driver/v2/internal/integration"
)

var suites = []suite{
	{name: "v1-integration", pkg: v1Integration},
	{name: "v1-unified", pkg: v1Unified},
	{name: "v2-integration", pkg: v2Integration, all: true},
	{name: "v1-unified-replset", pkg: v1Unified, member: true},
	{name: "v1-integration-replset", pkg: v1Integration, member: true, all: true},
	{name: "v2-integration-replset", pkg: v2Integration, member: true, all: true},
}

// start runs the server that the suite is for, and returns how its tests
// are to reach it.
func (s suite) start(t *testing.T) (uri string) {
	flags, options := []string{"--setParameter", "enableTestCommands=1", "--setParameter", "acceptApiVersion2=1"}, ""
	if s.member {
		flags, options = append(flags, "--replSet", "rs0"), "?replicaSet=rs0"
	}
	// Some tests are about connections that find out what the server is.
	return strings.Replace(start(t, flags...).URI, "?directConnection=true", options, 1)
}

// TestSuites runs the Go driver's own tests. What fails must stand in the
// suite's list with a reason, and what stands there must fail: run with
// DUSKDB_COMPAT_UPDATE=1 to rewrite the lists; new lines want a reason.
func TestSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			if s.all && os.Getenv("DUSKDB_COMPAT_ALL") == "" {
				t.Skip("runs with DUSKDB_COMPAT_ALL=1")
			}
			uri := s.start(t)
			known := readKnown(t, s.name)
			got := s.run(t, uri, "-skip="+known.excluded())
			if again := known.surprises(got); again != "" {
				// Some of these tests race against the clock of a busy machine:
				// what fails unexpectedly may try once more, with less around it.
				got.replace(s.run(t, uri, "-run="+again))
			}
			t.Logf("%d passed, %d failed, %d skipped", len(got.passed), len(got.failed), got.skipped)
			if len(got.passed) == 0 {
				t.Fatalf("no test passed:\n%s", got.output)
			}
			if os.Getenv("DUSKDB_COMPAT_UPDATE") != "" {
				known.update(t, got)
			}
			known.compare(t, got)
		})
	}
}

// outcome is what a suite came to, by its innermost tests.
type outcome struct {
	passed, failed map[string]bool
	skipped        int
	output         string
}

// run executes the tests of the suite that flag selects.
func (s suite) run(t *testing.T, uri, flag string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-json", "-timeout=30m", flag, s.pkg)
	cmd.Dir = "suites"
	cmd.Env = append(os.Environ(), "MONGODB_URI="+uri, "GOFLAGS=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // that some tests fail is expected: the list judges
	return collect(bufio.NewScanner(out))
}

// replace takes over what another run of some tests came to.
func (o *outcome) replace(again outcome) {
	for test := range again.passed {
		if o.failed[test] {
			delete(o.failed, test)
			o.passed[test] = true
		}
	}
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// collect reads the results. A test with subtests counts by these, unless it
// fails although none of them does.
func collect(lines *bufio.Scanner) outcome {
	o := outcome{passed: map[string]bool{}, failed: map[string]bool{}}
	lines.Buffer(nil, 64<<20)
	ended, parents := map[string]string{}, map[string]bool{}
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			o.output += lines.Text() + "\n"
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			if e.Test != "" {
				ended[e.Test] = e.Action
			}
		case "run":
			for i, c := range e.Test {
				if c == '/' {
					parents[e.Test[:i]] = true
				}
			}
		case "output":
			if len(o.output) < 1<<16 {
				o.output += e.Output
			}
		}
	}
	blamed := map[string]bool{}
	for test, how := range ended {
		if how == "fail" && !parents[test] {
			blame(blamed, test)
		}
	}
	for test, how := range ended {
		switch {
		case parents[test] && (how != "fail" || blamed[test]):
		case how == "pass":
			o.passed[test] = true
		case how == "fail":
			o.failed[test] = true
		default:
			o.skipped++
		}
	}
	return o
}

// blame marks the tests that fail because one of their subtests does.
func blame(blamed map[string]bool, test string) {
	for i, c := range test {
		if c == '/' {
			blamed[test[:i]] = true
		}
	}
}

// exceptions is a suite's list: a test and why it does not pass. Tests that
// begin with "!" are not run at all, because they would end or hang the
// suite; those that begin with "@" are not run in a container, of which the
// driver tells the server what the test does not expect.
type exceptions struct {
	path    string
	reasons map[string]string
}

func readKnown(t *testing.T, name string) exceptions {
	t.Helper()
	k := exceptions{path: filepath.Join("suites", name+".txt"), reasons: map[string]string{}}
	b, err := os.ReadFile(k.path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, reason, _ := strings.Cut(line, "\t")
		k.reasons[test] = strings.TrimSpace(reason)
	}
	return k
}

// listed says which lines are about a test that is run.
func listed(test string) bool { return test[0] != '!' && test[0] != '@' }

// inContainer says whether the driver takes this machine for a container.
func inContainer() bool {
	_, err := os.Stat("/.dockerenv")
	return err == nil || os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}

// excluded is the pattern of the tests not to run.
func (k exceptions) excluded() string {
	out := []string{"^$"}
	for _, test := range slices.Sorted(maps.Keys(k.reasons)) {
		if test[0] == '!' || test[0] == '@' && inContainer() {
			out = append(out, "^"+strings.ReplaceAll(test[1:], "/", "$/^")+"$")
		}
	}
	return strings.Join(out, "|")
}

// surprises is the pattern of the outermost tests in which something failed
// that is not listed.
func (k exceptions) surprises(got outcome) string {
	names := map[string]bool{}
	for test := range got.failed {
		if _, ok := k.reasons[test]; !ok {
			name, _, _ := strings.Cut(test, "/")
			names["^"+name+"$"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), "|")
}

// compare asserts the list both ways.
func (k exceptions) compare(t *testing.T, got outcome) {
	t.Helper()
	for _, test := range slices.Sorted(maps.Keys(got.failed)) {
		if _, ok := k.reasons[test]; !ok {
			t.Errorf("%s fails and is not in %s", test, k.path)
		}
	}
	for _, test := range slices.Sorted(maps.Keys(k.reasons)) {
		switch {
		case k.reasons[test] == "":
			t.Errorf("%s stands in %s without a reason", test, k.path)
		case listed(test) && got.passed[test]:
			t.Errorf("%s passes now: take it out of %s", test, k.path)
		case listed(test) && !got.failed[test]:
			t.Errorf("%s stands in %s and did not run", test, k.path)
		}
	}
}

// update rewrites the list from what happened, keeping the reasons.
func (k exceptions) update(t *testing.T, got outcome) {
	t.Helper()
	for test := range k.reasons {
		if !got.failed[test] && listed(test) {
			delete(k.reasons, test)
		}
	}
	for test := range got.failed {
		k.reasons[test] += ""
	}
	var b strings.Builder
	b.WriteString("# Tests of the suite that fail, and why; see TestSuites. TEST <tab> REASON.\n# \"!\" in front: not run, since it would end or hang the suite, or measures the machine; \"@\": not run in a container.\n")
	for _, test := range slices.Sorted(maps.Keys(k.reasons)) {
		fmt.Fprintf(&b, "%s\t%s\n", test, k.reasons[test])
	}
	if err := os.WriteFile(k.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
