package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// The drivers of other languages: everyday work and an expiry each.

func TestNodeDriver(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-clock")
	_, env := secured(t)
	nodeScript(t, "driver.js", append(env, "URI="+s.URI, "DATASETS="+datasets(t))...).reports(t)
}

// Every policy once in the Node driver.
func TestNodePolicies(t *testing.T) {
	t.Parallel()
	s := start(t, clockAt("2026-01-01T00:00:00Z")...)
	nodeScript(t, "policies.js", "URI="+s.URI).reports(t)
}

func TestMongoose(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-clock")
	nodeScript(t, "odm.js", "URI="+s.URI).reports(t)
}

// mongodb-memory-server, a package for tests with a real mongod, runs duskdb instead.
func TestMongoMemoryServer(t *testing.T) {
	t.Parallel()
	nodeScript(t, "memoryserver.js", "MONGOMS_SYSTEM_BINARY="+binary, "MONGOMS_SYSTEM_BINARY_VERSION_CHECK=false").reports(t)
}

// duskdb-memory-server takes the place of mongodb-memory-server.
func TestMongoMemoryServerNames(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("..", "packages", "npm", "duskdb-memory-server"))
	if err != nil {
		t.Fatal(err)
	}
	nodeScript(t, "memoryserver.js", "MEMORY_SERVER="+path, "DUSKDB_BINARY="+binary).reports(t)
}

func TestPyMongo(t *testing.T) {
	t.Parallel()
	needs.Client(t, "python3")
	s := start(t, "--test-clock")
	python := filepath.Join(pythonClients.path(t), "venv", "bin", "python")
	_, env := secured(t)
	client{args: []string{python, folder(t, "python", "driver.py")}, env: append(env, "URI="+s.URI, "DATASETS="+datasets(t))}.reports(t)
}

func TestJava(t *testing.T) {
	t.Parallel()
	needs.Client(t, "java", "mvn")
	s := start(t, "--test-clock")
	jars := filepath.Join(javaClients.path(t), "lib", "*")
	_, env := secured(t)
	client{args: []string{"java", "-cp", jars, folder(t, "java", "Driver.java")}, env: append(env, "URI="+s.URI)}.reports(t)
}

func TestRust(t *testing.T) {
	t.Parallel()
	needs.Client(t, "cargo")
	target := filepath.Join(needs.Cache(t), "rust-target")
	if _, err := os.Stat(target); err != nil && !needs.CI() && os.Getenv("DUSKDB_COMPAT_ALL") == "" {
		t.Skip("the first build of the Rust driver takes minutes: it is made with CI or DUSKDB_COMPAT_ALL set")
	}
	s := start(t, "--test-clock")
	c := client{args: []string{"cargo", "build", "--locked", "--target-dir", target}, dir: folder(t, "rust"), limit: rustLimit}
	c.output(t)
	_, env := secured(t)
	client{args: []string{filepath.Join(target, "debug", "duskdb-compat")}, env: append(env, "URI="+s.URI)}.reports(t)
}

// The C driver needs a compiler and libmongoc with its headers.
func TestC(t *testing.T) {
	t.Parallel()
	needs.Client(t, "cc", "pkg-config")
	flags, ok := pkgConfig("libmongoc-1.0")
	if !ok {
		needs.Missing(t, "libmongoc")
	}
	s := start(t, "--test-clock")
	program := filepath.Join(t.TempDir(), "driver")
	args := append([]string{"cc", "-Wall", "-o", program, folder(t, "c", "driver.c")}, strings.Fields(flags)...)
	client{args: args}.output(t)
	_, env := secured(t)
	client{args: []string{program}, env: append(env, "URI="+s.URI)}.reports(t)
}
