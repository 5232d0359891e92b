package console

import (
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

// The scripts and styles are written to be read: no line is longer than 120 characters. How they
// are formatted is what compat_tests checks (TestConsoleFormat), where there is a formatter.
func TestLinesOfPages(t *testing.T) {
	t.Parallel()
	const limit = 120
	files := 0
	for _, pattern := range []string{"web/*.js", "web/*.css"} {
		names, err := fs.Glob(web, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(web, name)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for i, line := range strings.Split(string(text), "\n") {
				if n := utf8.RuneCountInString(line); n > limit {
					t.Errorf("%s:%d has %d characters, limit %d", name, i+1, n, limit)
				}
			}
		}
	}
	if files < 20 {
		t.Errorf("only %d files", files)
	}
}
