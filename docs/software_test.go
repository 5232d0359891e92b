package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// software is what a client is on the page: its name, where its version is pinned, and what
// the tests do with it.
type software struct {
	name, file, id, what string
}

const (
	compat = "../compat_tests/"
	crud   = "CRUD, aggregation, transactions, change streams, TTL, queues, SCRAM and TLS logins"
)

// gallery are the clients that the tests install and run.
var gallery = []software{
	{"mongosh", compat + "node/package.json", "mongosh", "every kind of expiry, the examples of these pages"},
	{"Node driver", compat + "node/package.json", "mongodb", crud},
	{"Mongoose", compat + "node/package.json", "mongoose", "schemas, populate, TTL, transactions, change streams"},
	{"mongodb-memory-server", compat + "node/package.json", "mongodb-memory-server-core", "with DuskDB as its binary: servers, replica sets, TTL, transactions"},
	{"Go driver 2", compat + "go.mod", "go.mongodb.org/mongo-driver/v2", crud + "; its own tests (below)"},
	{"Go driver 1", compat + "go.mod", "go.mongodb.org/mongo-driver", "its own tests (below)"},
	{"PyMongo", compat + "python/requirements.txt", "pymongo", crud + "; its own tests (below)"},
	{"Java driver", compat + "java/pom.xml", "mongodb-driver-sync", crud},
	{"Rust driver", compat + "rust/Cargo.toml", "mongodb", "CRUD, aggregation, TTL, SCRAM and TLS logins"},
	{"mongo-express", compat + "pages/package.json", "mongo-express", "in Chromium: browse, edit, delete"},
	{"Jest", "../packages/npm/runners/package.json", "jest", "duskdb-memory-server, fake timers"},
	{"Vitest", "../packages/npm/runners/package.json", "vitest", "duskdb-memory-server, fake timers"},
	{"TypeScript", "../packages/npm/runners/package.json", "typescript", "types of duskdb-memory-server, with `strict`"},
}

// version reads the pinned version of a client.
func (s software) version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(s.file) == "package.json" {
		var pinned struct{ Dependencies, DevDependencies map[string]string }
		if err := json.Unmarshal(text, &pinned); err != nil {
			t.Fatal(err)
		}
		if v := pinned.Dependencies[s.id]; v != "" {
			return v
		}
		return pinned.DevDependencies[s.id]
	}
	pattern := map[string]string{
		"go.mod":           `(?m)^\t%s v(\S+)$`,
		"requirements.txt": `(?m)^%s==(\S+)$`,
		"pom.xml":          `<artifactId>%s</artifactId>\s*<version>([^<]+)<`,
		"Cargo.toml":       `(?m)^%s = \{ version = "=([^"]+)"`,
	}[filepath.Base(s.file)]
	m := regexp.MustCompile(fmt.Sprintf(pattern, regexp.QuoteMeta(s.id))).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// suiteNames are what the suites in compat_tests are to readers.
var suiteNames = map[string]string{
	"v1-unified": "Go driver 1, the tests of the drivers' common specifications", "v1-integration": "Go driver 1, integration tests",
	"v2-integration": "Go driver 2, integration tests", "pymongo": "PyMongo, a part", "pymongo-all": "PyMongo, all", "libmongoc": "libmongoc",
}

// TestSoftwarePage holds the page against the pinned versions, the lists of compat_tests and
// its README.
func TestSoftwarePage(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n## In every run of the tests\n\n| software | version | what is run |\n|---|---|---|\n")
	for _, s := range gallery {
		v := s.version(t)
		if v == "" {
			t.Errorf("%s has no version of %s", s.file, s.id)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, v, s.what)
	}
	b.WriteString("\n## The drivers' own tests, unchanged\n\nWhat fails is listed with its reason, and a test fails if anything else fails, or if something listed passes.\n\n")
	writeSuites(t, &b)
	readme, err := os.ReadFile(compat + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, byHand, ok := strings.Cut(string(readme), "\n## Run by hand\n")
	if !ok {
		t.Fatal("the README of compat_tests has no part about what was run by hand")
	}
	b.WriteString("\n## Run by hand\n" + byHand)
	generated(t, "tested-software.md", "software", b.String())
}

// writeSuites writes the last results of the suites, and how many tests their lists except.
func writeSuites(t *testing.T, b *strings.Builder) {
	text, err := os.ReadFile(compat + "suites/results.tsv")
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("| suite | server | passed | failed, as listed | skipped by the suite | |\n|---|---|---|---|---|---|\n")
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 4 {
			t.Fatalf("results.tsv: %q", line)
		}
		name, face := f[0], "alone"
		for suffix, meaning := range map[string]string{"-replset": "a replica set of one", "-sharded": "two servers, as mongos", "-balanced": "two servers behind a load balancer", "-postgres": "two servers over PostgreSQL"} {
			if s, ok := strings.CutSuffix(name, suffix); ok {
				name, face = s, meaning
			}
		}
		if suiteNames[name] == "" {
			t.Errorf("no name for the suite %s", name)
		}
		list := f[0] + ".txt"
		if _, err := os.Stat(compat + "suites/" + list); err != nil {
			list = name + "-sharded.txt"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | [reasons](%ssuites/%s) |\n", suiteNames[name], face, f[1], f[2], f[3], compat, list)
	}
}

// Every package that the tests pin is on the page, or known not to be a client.
func TestGalleryIsComplete(t *testing.T) {
	helpers := []string{"snappy", "vega-datasets", "axe-core", "puppeteer-core", "prettier", "@types/node"}
	for _, file := range []string{compat + "node/package.json", compat + "pages/package.json", "../packages/npm/runners/package.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var pinned struct{ Dependencies, DevDependencies map[string]string }
		if err := json.Unmarshal(text, &pinned); err != nil {
			t.Fatal(err)
		}
		for _, names := range []map[string]string{pinned.Dependencies, pinned.DevDependencies} {
			for name := range names {
				if !slices.Contains(helpers, name) && !slices.ContainsFunc(gallery, func(s software) bool { return s.id == name && s.file == file }) {
					t.Errorf("%s of %s is not on the page", name, file)
				}
			}
		}
	}
}
