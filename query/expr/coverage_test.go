package expr

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// neverFails are the operators that no argument makes fail.
var neverFails = strings.Fields(`$literal $const $type $isArray $isNumber $ifNull $eq $ne $gt $gte $lt $lte $cmp $and $or $not
	$toHashedIndexKey $min $max $sum $avg $stdDevPop $stdDevSamp $rand $bsonSize $binarySize $expr $mergeObjects`)

// Every operator has at least three cases in the tables of this package, one
// of them a failure unless it cannot fail.
func TestEveryOperatorIsTested(t *testing.T) {
	results, failures := map[string]int{}, map[string]int{}
	result := regexp.MustCompile("\\{`([^`]*)`,\\s*`")
	failure := regexp.MustCompile("\\{`([^`]*)`,\\s*\\d+,")
	operator := regexp.MustCompile(`\$[a-zA-Z0-9]+:`)
	count := func(source string, cases *regexp.Regexp, counts map[string]int) {
		for _, m := range cases.FindAllStringSubmatch(source, -1) {
			seen := map[string]bool{}
			for _, name := range operator.FindAllString(m[1], -1) {
				if name = strings.TrimSuffix(name, ":"); !seen[name] {
					seen[name] = true
					counts[name]++
				}
			}
		}
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		count(string(source), result, results)
		count(string(source), failure, failures)
	}
	can := map[string]bool{}
	for _, name := range neverFails {
		can[name] = true
	}
	for _, name := range Names() {
		if n := results[name] + failures[name]; n < 3 {
			t.Errorf("%s has %d cases, want 3", name, n)
		}
		if failures[name] == 0 && !can[name] {
			t.Errorf("%s has no case that fails", name)
		}
	}
}
