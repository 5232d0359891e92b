package agg

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
)

// cannotFail are the stages that take any argument, and those that need another kind of server.
var cannotFail = strings.Fields(`$changeStreamSplitLargeEvent $listCatalog $querySettings $listSampledQueries $listLocalSessions
	$sum $avg $min $max $push $addToSet $first $last $stdDevPop $stdDevSamp $covariancePop $covarianceSamp $locf`)

// Every stage, accumulator and window operator has at least three cases in
// the tests of the pipeline, one of them a failure unless it cannot fail.
func TestEveryStageIsTested(t *testing.T) {
	lines := testLines(t, "*_test.go", "../../query/agg/*_test.go", "../../query/agg/*/*_test.go", "../../commands/changestream/*_test.go", "testdata/pipelines/*.txt")
	for what, names := range map[string][]string{"stage": agg.StageNames(), "accumulator": agg.AccumulatorNames(), "window operator": agg.WindowNames()} {
		for _, name := range names {
			cases, failures := count(lines, name)
			if cases < 3 {
				t.Errorf("the %s %s has %d cases, want 3", what, name, cases)
			}
			if failures == 0 && !slices.Contains(cannotFail, name) {
				t.Errorf("the %s %s has no case that fails", what, name)
			}
		}
	}
}

// testLines are the lines of the tests that match the patterns.
func testLines(t *testing.T, patterns ...string) (lines []string) {
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(source), "\n")...)
		}
	}
	return lines
}

// count counts the lines that use an operator, and of these the ones that
// expect an error.
func count(lines []string, name string) (cases, failures int) {
	use := regexp.MustCompile(regexp.QuoteMeta(name) + `"?:`)
	failure := regexp.MustCompile(`[eE]rr: |Error\(|\.fails\(|\.says\(|\bcode\b|^\s*\{\d+, | !! \d`)
	for _, line := range lines {
		if !use.MatchString(line) {
			continue
		}
		if cases++; failure.MatchString(line) {
			failures++
		}
	}
	return cases, failures
}
