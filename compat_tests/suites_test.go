package compat

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
)

// suite is a set of tests that a driver brings with it, run as they stand in
// its package.
type suite struct {
	name   string
	list   string // name of the list of exceptions, suites/LIST.txt; "": the suite's own
	tests  program
	member bool // the server is a member of a replica set: more of the tests apply
	shared bool // two servers over the same data, which look like mongos
	lb     bool // two servers behind a load balancer
	pg     bool // the data are in PostgreSQL
	old    bool // the server behaves as MongoDB 8.0
	all    bool // only with DUSKDB_COMPAT_ALL: slow, and mostly the same as another
}

// program runs tests of a suite against a server: those named by only, or, if
// only is empty, all but those named by skip.
type program interface {
	run(t *testing.T, uri string, only, skip []string) outcome
}

const (
	v1Integration goPackage = "go.mongodb.org/mongo-driver/mongo/integration"
	v1Unified     goPackage = "go.mongodb.org/mongo-driver/mongo/integration/unified"
	v2Integration goPackage = "go.mongodb.org/mongo-driver/v2/internal/integration"
)

var suites = []suite{
	{name: "v1-integration", tests: v1Integration},
	{name: "v1-unified", tests: v1Unified},
	{name: "v2-integration", tests: v2Integration, all: true},
	{name: "v1-unified-replset", tests: v1Unified, member: true},
	{name: "v1-unified-8.0", list: "v1-unified-replset", tests: v1Unified, member: true, old: true},
	{name: "v1-integration-replset", tests: v1Integration, member: true, all: true},
	{name: "v2-integration-replset", tests: v2Integration, member: true, all: true},
	{name: "v2-integration-8.0", list: "v2-integration-replset", tests: v2Integration, member: true, old: true, all: true},
	{name: "v1-unified-sharded", tests: v1Unified, shared: true, all: true},
	{name: "v1-unified-balanced", tests: v1Unified, shared: true, lb: true},
	{name: "v1-unified-postgres", list: "v1-unified-sharded", tests: v1Unified, shared: true, pg: true},
	{name: "v1-integration-postgres", list: "v1-integration-sharded", tests: v1Integration, shared: true, pg: true, all: true},
	{name: "v1-integration-sharded", tests: v1Integration, shared: true, all: true},
	{name: "v1-integration-balanced", tests: v1Integration, shared: true, lb: true, all: true},
	{name: "pymongo", tests: pyMongo{files: pyMongoQuick}},
	{name: "pymongo-8.0", list: "pymongo", tests: pyMongo{files: pyMongoQuick}, old: true},
	{name: "pymongo-sharded", list: "pymongo", tests: pyMongo{files: pyMongoQuick}, shared: true, all: true},
	{name: "pymongo-all", tests: pyMongo{}, all: true},
	{name: "pymongo-replset", tests: pyMongo{}, member: true, all: true},
	{name: "libmongoc", tests: libMongoc{}, all: true},
	{name: "libmongoc-replset", tests: libMongoc{}, member: true, all: true},
}

// start runs the server that the suite is for, and returns how its tests
// are to reach it.
func (s suite) start(t *testing.T) (uri string) {
	flags, options := []string{"--setParameter", "enableTestCommands=1", "--setParameter", "acceptApiVersion2=1"}, ""
	if s.old {
		flags = append(flags, "--mongodbVersion", "8.0")
	}
	if s.pg {
		flags = append(flags, "-storageURI", pgtest.With(pgtest.URI(t), "schema", pgtest.Schema(t.TempDir())))
	}
	if s.shared {
		return startCluster(t, s.lb, flags...)
	}
	if s.member {
		flags, options = append(flags, "--replSet", "rs0"), "?replicaSet=rs0"
	}
	// Some tests are about connections that find out what the server is.
	return strings.Replace(start(t, flags...).URI, "?directConnection=true", options, 1)
}

// retries is how often what fails unexpectedly may try again, with less around
// it: some of these tests race against the clock of a busy machine.
const retries = 2

// TestSuites runs drivers' own tests. What fails must stand in the
// suite's list with a reason, and what stands there must fail: run with
// DUSKDB_COMPAT_UPDATE=1 to rewrite the lists; new lines want a reason.
func TestSuites(t *testing.T) {
	needs.Client(t)
	if testing.Short() {
		t.Skip("takes minutes")
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			if s.all && os.Getenv("DUSKDB_COMPAT_ALL") == "" {
				t.Skip("runs with DUSKDB_COMPAT_ALL=1")
			}
			uri := s.start(t)
			known := readKnown(t, cmp.Or(s.list, s.name))
			got := s.tests.run(t, uri, nil, known.excluded())
			for range retries {
				if again := known.surprises(got); len(again) > 0 {
					got.replace(s.tests.run(t, uri, again, known.excluded()))
				}
			}
			t.Logf("%d passed, %d failed, %d skipped", len(got.passed), len(got.failed), got.skipped)
			if len(got.passed) == 0 {
				t.Fatalf("no test passed:\n%s", got.output)
			}
			if os.Getenv("DUSKDB_COMPAT_UPDATE") != "" {
				known.update(t, got)
				record(t, s.name, got)
			}
			known.compare(t, got)
		})
	}
}

// results has a line for each suite that was run with DUSKDB_COMPAT_UPDATE, for the page
// docs/tested-software.md.
const results = "suites/results.tsv"

// record writes the numbers of a suite, in place of those of its last run.
func record(t *testing.T, name string, got outcome) {
	t.Helper()
	text, err := os.ReadFile(results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, name+"\t")
	})
	lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%d", name, len(got.passed), len(got.failed), got.skipped))
	slices.Sort(lines)
	if err := os.WriteFile(results, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outcome is what a suite came to, by its innermost tests.
type outcome struct {
	passed  map[string]bool
	failed  map[string]bool
	skipped int
	output  string            // the beginning of what it printed
	told    map[string]string // what those that failed said, where that is known
}

// replace takes over what another run of some tests came to.
func (o *outcome) replace(again outcome) {
	for test := range again.passed {
		if o.failed[test] {
			delete(o.failed, test)
			o.passed[test] = true
		}
	}
	maps.Copy(o.told, again.told)
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

// inContainer reports whether the driver takes this machine for a container.
func inContainer() bool {
	_, err := os.Stat("/.dockerenv")
	return err == nil || os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}

// excluded are the tests not to run.
func (k exceptions) excluded() (tests []string) {
	for test := range k.reasons {
		if test[0] == '!' || test[0] == '@' && inContainer() {
			tests = append(tests, test[1:])
		}
	}
	return tests
}

// surprises are the tests that failed and are not listed.
func (k exceptions) surprises(got outcome) (tests []string) {
	for test := range got.failed {
		if _, ok := k.reasons[test]; !ok {
			tests = append(tests, test)
		}
	}
	return tests
}

// compare asserts the list both ways.
func (k exceptions) compare(t *testing.T, got outcome) {
	t.Helper()
	for _, test := range slices.Sorted(maps.Keys(got.failed)) {
		if _, ok := k.reasons[test]; !ok {
			t.Errorf("%s fails and is not in %s\n%s", test, k.path, got.told[test])
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
