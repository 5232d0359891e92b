package servertest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sentence is a rule that a public page states: its number in docs/semantics.md §16, and a
// function that checks it with a real driver, in an empty server of its own.
type sentence struct {
	id   string
	play func(s *scene)
}

// TestSentences runs the rules that §16 marks as tested here.
func TestSentences(t *testing.T) {
	listed := listedSentences(t)
	seen := map[string]bool{}
	for _, page := range [][]sentence{cosmosSentences, feedSentences, extensionSentences, indexSentences, seriesSentences, clusteredSentences} {
		for _, c := range page {
			if seen[c.id] || !strings.Contains(listed[c.id], testedHere) {
				t.Errorf("%s is there twice, or not marked as tested here in docs/semantics.md", c.id)
			}
			seen[c.id] = true
			t.Run(c.id, func(t *testing.T) {
				t.Parallel()
				c.play(newScene(t))
			})
		}
	}
	for id, where := range listed {
		if strings.Contains(where, testedHere) && !seen[id] {
			t.Errorf("%s has no test", id)
		}
	}
}

// testedHere marks the lines of §16 that TestSentences runs.
const testedHere = "✓"

// listedSentences reads the tables of §16: where each rule is tested, by its number.
func listedSentences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "semantics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## 16. ")
	listed := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \|.*\| ([^|]+) \|$`).FindAllStringSubmatch(section, -1) {
		if listed[m[1]] != "" {
			t.Errorf("§16 has two lines %s", m[1])
		}
		listed[m[1]] = m[2]
	}
	if len(listed) == 0 {
		t.Fatal("docs/semantics.md has no sentences in §16")
	}
	return listed
}

// The cases and tests that §16 names exist.
func TestSentencesNameTests(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for id, where := range listedSentences(t) {
		if where == "–" {
			continue
		}
		for name := range strings.SplitSeq(where, ", ") {
			n, err := strconv.Atoi(name)
			switch {
			case name == testedHere, err == nil && n >= 1 && n <= 80:
			case !strings.HasPrefix(name, "`Test"), !strings.Contains(string(readme), name):
				t.Errorf("%s: %s is neither a case nor a test that servertest/README.md names", id, name)
			}
		}
	}
}
