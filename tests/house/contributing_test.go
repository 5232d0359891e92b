package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingPage holds CONTRIBUTING.md against the tree: the files that it names exist,
// its list of stages is that of .ci/run, and each part of a -run matches a test of the packages
// beside it.
func TestContributingPage(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	named := 0
	for _, m := range regexp.MustCompile("`(\\.?[\\w-]+(?:/[\\w.-]+)+/?)`").FindAllStringSubmatch(text, -1) {
		named++
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
	if named < 30 {
		t.Errorf("found only %d names of files: the test does not work", named)
	}
	if stages := strings.Join(ciStages(t), ", "); !strings.Contains(text, ": "+stages+"\n") {
		t.Errorf("the list of stages is not %s", stages)
	}
	tests := testsByPackage(t)
	for _, m := range regexp.MustCompile(`(?m)^go test (.*) -run '([^']*)'`).FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(m[2], "|") {
			if !anyMatches(tests, strings.Fields(m[1]), regexp.MustCompile(part)) {
				t.Errorf("no test of %s matches %s", m[1], part)
			}
		}
	}
}

// testsByPackage are the names of the tests, by the directory of their package.
func testsByPackage(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	for _, f := range sourceFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && runByGoTest.MatchString(fn.Name.Name) {
				names[f.pkg] = append(names[f.pkg], fn.Name.Name)
			}
		}
	}
	return names
}

// anyMatches reports whether a test of the packages, as go test takes them, has a name that matches.
func anyMatches(tests map[string][]string, patterns []string, name *regexp.Regexp) bool {
	for _, pattern := range patterns {
		dir, tree := strings.CutSuffix(filepath.ToSlash(filepath.Clean(pattern)), "/...")
		for pkg, names := range tests {
			if pkg != dir && (!tree || !below(pkg, dir)) {
				continue
			}
			for _, n := range names {
				if name.MatchString(n) {
					return true
				}
			}
		}
	}
	return false
}
