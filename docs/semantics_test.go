package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every source that semantics.md cites stands once in its §14.
func TestSourcesOfSemantics(t *testing.T) {
	text, err := os.ReadFile("semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sources, _ := strings.Cut(string(text), "\n## 14. Sources\n")
	sources, _, _ = strings.Cut(sources, "\n## 15. ")
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]+\d[^|]*) \|`).FindAllStringSubmatch(sources, -1) {
		listed = append(listed, strings.Split(m[1], ", ")...)
	}
	if len(listed) < 40 {
		t.Fatalf("only %d sources were found", len(listed))
	}
	slices.Sort(listed)
	for i, tag := range listed[1:] {
		if tag == listed[i] {
			t.Errorf("§14 has %s twice", tag)
		}
	}
	for _, m := range regexp.MustCompile(`\[((?:SD|SP|MD|DD|AZ|IS|M)\d+[ab]?)\]`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := slices.BinarySearch(listed, m[1]); !ok {
			t.Errorf("§14 lacks %s", m[1])
		}
	}
}

// No page has the marks of a merge that nobody resolved.
func TestNoConflicts(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	marks := regexp.MustCompile(`(?m)^(<{7}|={7}|>{7})( |$)`)
	for _, page := range append(pages, "../README.md", "../ARCHITECTURE.md", "../CHANGELOG.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := marks.Find(text); m != nil {
			t.Errorf("%s has %q", page, m)
		}
	}
}
