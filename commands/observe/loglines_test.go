package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/duskdb/duskdb/commands/observe"
)

// getLog shows the last 1024 lines, oldest first.
func TestLogLines(t *testing.T) {
	var none *observe.LogLines
	if got, _ := none.Last(); got != nil {
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
		got, total := l.Last()
		if want := min(i+1, 1024); total != int64(i+1) || len(got) != want || got[0] != fmt.Sprintf("line %d", i+1-want) || got[want-1] != fmt.Sprintf("line %d", i) {
			t.Errorf("after line %d: %d lines from %q", i, len(got), got[0])
		}
	}
}

// TestLogLinesBytes: however long the lines are, about 1 MB of them is kept, and of one line
// no more.
func TestLogLinesBytes(t *testing.T) {
	l := new(observe.LogLines)
	for i := range 3000 {
		_, _ = l.Write([]byte(strings.Repeat("x", i%7*10_000) + "\n"))
		lines, total := l.Last()
		if kept := len(strings.Join(lines, "")); kept > 1<<20 || total != int64(i+1) {
			t.Fatalf("after %d lines: %d with %d bytes", total, len(lines), kept)
		}
	}
	_, _ = l.Write([]byte(strings.Repeat("ä", 15e6)))
	if lines, _ := l.Last(); len(lines) != 1 || len(lines[0]) > 1<<20 || !utf8.ValidString(lines[0]) {
		t.Errorf("%d lines after a long one", len(lines))
	}
	_, _ = l.Write([]byte("last"))
	if lines, _ := l.Last(); lines[len(lines)-1] != "last" {
		t.Errorf("the last line is %.20s", lines[len(lines)-1])
	}
}
