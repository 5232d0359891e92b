package servertest_test

import (
	"fmt"
	"testing"
)

// semanticsCase is one line of the table of test cases in the specification
// of expiry: number, what it is about, and the case played through a real
// driver. Each case begins with an empty server whose clock stands at the
// start, and d(x) is x seconds later.
type semanticsCase struct {
	number int
	name   string
	play   func(s *scene)
}

// TestSemantics plays all cases. The families of cases stand in files of
// their own, each sorted by number.
func TestSemantics(t *testing.T) {
	seen := map[int]bool{}
	for _, family := range [][]semanticsCase{
		ttlIndexCases, monitorCases, seriesCases, documentCases, queueCases, clockCases,
	} {
		for _, c := range family {
			if seen[c.number] {
				t.Errorf("case %d stands there twice", c.number)
			}
			seen[c.number] = true
			t.Run(fmt.Sprintf("%02d_%s", c.number, c.name), func(t *testing.T) {
				t.Parallel()
				c.play(newScene(t))
			})
		}
	}
	for n := 1; n <= 80; n++ {
		if !seen[n] {
			t.Errorf("case %d is missing", n)
		}
	}
}
