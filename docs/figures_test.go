package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The benchmarks that the pages name exist, so that a reader can repeat the figures.
func TestBenchmarksExist(t *testing.T) {
	var names []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Benchmark\w+)`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
		for _, m := range regexp.MustCompile(`-bench '?([A-Za-z]+)`).FindAllSubmatch(text, -1) {
			n++
			if !strings.Contains(strings.Join(names, " "), string(m[1])) {
				t.Errorf("%s: there is no benchmark %s", page, m[1])
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d benchmarks were found on the pages", n)
	}
}
