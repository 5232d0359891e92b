// Package scripts reads files of test cases, one case a line.
//
//	what => want           the result
//	what !! code message   the code of the error, and its message or a part of it
//
// Empty lines and lines that begin with # are left out; what other lines mean is up to the
// test. A script is played for each version of MongoDB that the server speaks. A line that
// begins with a version, as "8.0 ", is for that one only.
package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
)

// Play plays all scripts of a folder for each version, each in a parallel subtest of its own
// that is called after the file; for versions but the newest, the version follows. begin
// returns what is called with every line, and with its file and number.
func Play(t *testing.T, folder string, begin func(t *testing.T, version string) func(where, line string)) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		for _, version := range dialect.Releases() {
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			if version != dialect.Newest {
				name += "/" + version
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				play := begin(t, version)
				for i, line := range strings.Split(string(text), "\n") {
					if line = ofVersion(strings.TrimSpace(line), version); line != "" && line[0] != '#' {
						play(fmt.Sprintf("%s:%d", file, i+1), line)
					}
				}
			})
		}
	}
}

// ofVersion returns a line without the version that it begins with; "" if that is another
// one than the given.
func ofVersion(line, version string) string {
	for _, of := range dialect.Releases() {
		if rest, ok := strings.CutPrefix(line, of+" "); ok {
			if of != version {
				return ""
			}
			return rest
		}
	}
	return line
}

// Case is one line.
type Case struct {
	What string
	Want string // the result, or the message of the error
	Code int32  // code of the error, 0 for a result
}

// Fails reports whether an error is wanted.
func (c Case) Fails() bool { return c.Code != 0 }

// Read splits a line.
func Read(t testing.TB, where, line string) Case {
	t.Helper()
	if what, want, ok := strings.Cut(line, " => "); ok {
		return Case{What: what, Want: strings.TrimSpace(want)}
	}
	what, want, ok := strings.Cut(line, " !! ")
	number, message, _ := strings.Cut(strings.TrimSpace(want), " ")
	code, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || code == 0 {
		t.Fatalf("%s: what is %q?", where, line)
	}
	return Case{What: what, Want: message, Code: int32(code)}
}
