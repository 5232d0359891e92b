package docs_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "rewrite the generated parts of the pages")

// generated holds the part of a page between two marks against what the tables in the
// code say.
func generated(t *testing.T, page, mark, want string) {
	t.Helper()
	begin := "<!-- " + mark + ": go test -run " + t.Name() + " ./docs -update -->\n"
	end := "<!-- end of " + mark + " -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s lacks the line %q, or %q", page, begin, end)
	case got == want:
	case !*updateDocs:
		t.Errorf("%s is out of date: go test -run %s ./docs -update", page, t.Name())
	default:
		if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
