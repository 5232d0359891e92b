package observe_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/observe"
)

// getLog shows the last 1024 lines, oldest first.
func TestLogLines(t *testing.T) {
	var none *observe.LogLines
	if got := none.Last(); got != nil {
		t.Errorf("no log has %v", got)
	}
	l := new(observe.LogLines)
	for i := range 2500 {
		line := fmt.Sprintf("line %d\n\n", i)
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(line), err)
		}
		if i != 9 && i != 1023 && i != 1024 && i != 2499 {
			continue
		}
		got := l.Last()
		if want := min(i+1, 1024); len(got) != want || got[0] != fmt.Sprintf("line %d", i+1-want) || got[want-1] != fmt.Sprintf("line %d", i) {
			t.Errorf("after line %d: %d lines from %q", i, len(got), got[0])
		}
	}
}
