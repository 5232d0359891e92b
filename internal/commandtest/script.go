package commandtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Scripts plays the scripts in a folder of testdata, each in a subtest of its
// own. begin returns what is called with every line that is neither empty nor
// a comment, and with its file and number.
func Scripts(t *testing.T, folder string, begin func(t *testing.T) func(where, line string)) {
	files, err := filepath.Glob("testdata/" + folder + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			play := begin(t)
			for i, line := range strings.Split(string(text), "\n") {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					play(fmt.Sprintf("%s:%d", file, i+1), line)
				}
			}
		})
	}
}
