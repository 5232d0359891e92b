// Package packages_test builds the binary and runs the tests of the packages for
// other languages with it.
package packages_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// limit is how long the tests of one package may take.
const limit = 3 * time.Minute

// run runs a program in a directory.
func run(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	runFor(t, limit, dir, env, args...)
}

// runFor runs a program that may take longer.
func runFor(t *testing.T, limit time.Duration, dir string, env []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// build makes the binary and returns the variable that names it.
func build(t *testing.T) []string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "duskdb")
	if err := needs.Server(binary); err != nil {
		t.Fatal(err)
	}
	return []string{"DUSKDB_BINARY=" + binary, "PYTHONDONTWRITEBYTECODE=1"}
}

func TestNode(t *testing.T) {
	needs.Client(t, "node")
	run(t, filepath.Join("npm", "duskdb-memory-server"), build(t), "node", "--test", "test/")
}

func TestPython(t *testing.T) {
	needs.Client(t, "python3")
	python := venv(t)
	env := build(t)
	run(t, filepath.Join("python", "tests"), env, python, "-m", "unittest", "test_duskdb")
	run(t, filepath.Join("python", "tests"), env, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fixture.py")
	vendored := t.TempDir() // the fixtures are found in a project that has a copy of the sources
	if err := os.CopyFS(filepath.Join(vendored, "vendor", "duskdb"), os.DirFS("python")); err != nil {
		t.Fatal(err)
	}
	run(t, vendored, env, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_each_test_has_its_own or test_order")
	run(t, "python", env, python, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "duskdb")
}

// TestJava builds the module for JUnit in a copy, so that nothing is written to the source
// tree, and runs its tests.
func TestJava(t *testing.T) {
	needs.Client(t, "java", "mvn")
	clone := t.TempDir()
	dir := filepath.Join(clone, "java")
	for _, part := range []string{filepath.Join("java", "src"), "testdata"} { // and what its tests read
		if err := os.CopyFS(filepath.Join(clone, part), os.DirFS(part)); err != nil {
			t.Fatal(err)
		}
	}
	pom, err := os.ReadFile(filepath.Join("java", "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "pom.xml", string(pom))
	run(t, dir, build(t), "mvn", "-q", "-B", "package")
	if jars, _ := filepath.Glob(filepath.Join(dir, "target", "duskdb-junit5-*.jar")); len(jars) != 1 {
		t.Errorf("made %v", jars)
	}
}

// The pages show the test that was run.
func TestJavaPages(t *testing.T) {
	test, err := os.ReadFile("java/src/test/java/shop/CartTest.java")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"java/README.md", "../docs/testing-ttl.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```java\n"+string(test)+"```\n") {
			t.Errorf("%s does not show CartTest.java", page)
		}
	}
}

// The page lists each option.
func TestJavaOptions(t *testing.T) {
	source, err := os.ReadFile("java/src/main/java/io/github/duskdb/junit/DuskDBServer.java")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("java/README.md")
	if err != nil {
		t.Fatal(err)
	}
	options := regexp.MustCompile(`(?m)^        public Builder (\w+)\(`).FindAllStringSubmatch(string(source), -1)
	if len(options) == 0 {
		t.Error("no options were found")
	}
	for _, option := range options {
		if !strings.Contains(string(page), "\n| `"+option[1]+"(") {
			t.Errorf("README does not list %s", option[1])
		}
	}
}

// venv returns the path of a Python with the packages that the tests need. The
// environment is in the cache of the tests with real clients; a file in it marks
// that its installation was complete.
func venv(t *testing.T) string {
	t.Helper()
	return venvOf(t, filepath.Join("python", "tests", "requirements.txt"))
}

// venvOf returns the interpreter of an environment with the packages that a file pins. It stays
// in the cache.
func venvOf(t *testing.T, requirements string) string {
	t.Helper()
	requirements, err := filepath.Abs(requirements)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(needs.Cache(t), "packages-python-"+hex.EncodeToString(sum[:6]))
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(filepath.Join(dir, "whole")); err == nil {
		return python
	}
	run(t, ".", nil, "python3", "-m", "venv", dir)
	run(t, ".", nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
	if err := os.WriteFile(filepath.Join(dir, "whole"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return python
}
