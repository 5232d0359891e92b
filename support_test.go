package duskdb_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
)

var updateDocs = flag.Bool("update", false, "rewrite the generated parts of the README")

// The README's list of what is supported lies between these lines.
const (
	supportBegin = "<!-- support list: go test -run TestSupportList -update . -->"
	supportEnd   = "<!-- end of support list -->"
)

// supportList writes the list from the tables in the code.
func supportList() string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		names []string
	}{
		{"Commands", commands.Names()},
		{"Query operators", match.Operators()},
		{"Update operators and modifiers", update.Operators()},
		{"Aggregation stages", agg.StageNames()},
		{"Expressions", expr.Names()},
		{"Accumulators", agg.AccumulatorNames()},
		{"Window operators", agg.WindowNames()},
		{"Server parameters", commands.ParameterNames()},
	} {
		fmt.Fprintf(&b, "<details><summary>%s (%d)</summary>\n\n`%s`\n\n</details>\n", part.title, len(part.names), strings.Join(part.names, "` `"))
	}
	return b.String()
}

// TestSupportList holds the README against the tables in the code.
func TestSupportList(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(readme), supportBegin+"\n")
	_, tail, ok2 := strings.Cut(rest, supportEnd)
	if !ok || !ok2 {
		t.Fatal("README.md has no support list")
	}
	want := head + supportBegin + "\n" + supportList() + supportEnd + tail
	if want == string(readme) {
		return
	}
	if !*updateDocs {
		t.Fatal("the support list of README.md is out of date: go test -run TestSupportList -update .")
	}
	if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
