package servertest_test

import (
	"fmt"
	"testing"
)

// semanticsCase is one line of the table of test cases in docs/semantics.md: its number,
// its subject, and a function that runs it with a real driver. Each case begins with an
// empty server whose clock stands at the start; d(x) is x seconds later.
type semanticsCase struct {
	number int
	name   string
	play   func(s *scene)
}

// TestSemantics runs all cases. Each family of cases has its own file, sorted by number.
func TestSemantics(t *testing.T) {
	seen := map[int]bool{}
	for _, family := range [][]semanticsCase{
		ttlIndexCases, monitorCases, seriesCases, documentCases, queueCases, topicCases, clockCases,
	} {
		for _, c := range family {
			if seen[c.number] {
				t.Errorf("case %d is there twice", c.number)
			}
			seen[c.number] = true
			t.Run(fmt.Sprintf("%02d_%s", c.number, c.name), func(t *testing.T) {
				t.Parallel()
				c.play(newScene(t))
			})
		}
	}
	for n := 1; n <= 97; n++ {
		if !seen[n] {
			t.Errorf("case %d is missing", n)
		}
	}
}
