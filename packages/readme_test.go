package packages_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// examplePages are the pages that show a test of something that expires, and in which
// languages.
var examplePages = map[string][]string{
	"../README.md":           {"js"},
	"../docs/testing-ttl.md": {"go", "js", "python"},
}

// TestExamples runs the tests that the pages show, unchanged.
func TestExamples(t *testing.T) {
	for page, languages := range examplePages {
		for _, e := range []struct {
			language, test string // a block with this line is the test
			run            func(t *testing.T, text string)
		}{
			{"go", "func TestCartExpires(", exampleInGo},
			{"js", "test('a cart expires'", exampleInNode},
			{"python", "def test_cart_expires(", exampleInPython},
		} {
			if !slices.Contains(languages, e.language) {
				continue
			}
			t.Run(filepath.Base(page)+"/"+e.language, func(t *testing.T) {
				block := regexp.MustCompile("(?ms)^```" + e.language + "\n((?:[^`]*\n)?" + regexp.QuoteMeta(e.test) + "[^`]*)^```$")
				text, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				m := block.FindSubmatch(text)
				if m == nil {
					t.Fatalf("%s shows no test in %s", page, e.language)
				}
				e.run(t, string(m[1]))
			})
		}
	}
}

// TestBubbleExample runs the test that the page shows for testing/synctest.
func TestBubbleExample(t *testing.T) {
	text, err := os.ReadFile("../docs/testing-ttl.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```go\n((?:[^`]*\n)?func TestServiceForgets[^`]*)^```$").FindSubmatch(text)
	if m == nil {
		t.Fatal("the page shows no test in a bubble")
	}
	exampleInGo(t, string(m[1]))
}

// exampleInGo compiles the test as a package of the module, by an overlay, so that
// no file is written to the source tree.
func exampleInGo(t *testing.T, text string) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := write(t, dir, "cart_test.go", text)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "packages", "cart", "cart_test.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "cart.test")
	run(t, root, nil, "go", "test", "-c", "-vet=off", "-o", binary, "-overlay", write(t, dir, "overlay.json", string(overlay)), "./packages/cart")
	run(t, dir, nil, binary)
}

func exampleInNode(t *testing.T, text string) {
	needs.Client(t, "node", "npm")
	modules := filepath.Join(needs.Cache(t), "node-*", "node_modules")
	found, _ := filepath.Glob(modules)
	if len(found) == 0 { // the tests with real clients install the driver
		install := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run=^TestInstallShell$", ".")
		install.Dir = "../compat_tests" // a module of its own
		_ = install.Run()
		found, _ = filepath.Glob(modules)
	}
	if len(found) == 0 {
		needs.Missing(t, "the Node driver")
		return
	}
	ours, err := filepath.Abs("npm")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "cart.test.js", text)
	run(t, dir, append(build(t), "NODE_PATH="+found[0]+string(filepath.ListSeparator)+ours), "node", "--test", "cart.test.js")
}

func exampleInPython(t *testing.T, text string) {
	needs.Client(t, "python3")
	ours, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "test_cart.py", text)
	write(t, dir, "conftest.py", "pytest_plugins = [\"duskdb.pytest_plugin\"]\n")
	run(t, dir, append(build(t), "PYTHONPATH="+ours), venv(t), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_cart.py")
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
