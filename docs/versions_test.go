package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
)

// TestVersionsPage holds the tables of the page against what the server does differently in
// the versions of MongoDB that it speaks.
func TestVersionsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| | since | needs the feature compatibility version |\n|---|---|---|\n")
	for _, row := range dialect.Changes[1:] { // the first stands for no change
		needs := ""
		if row.Guarded {
			needs = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.What, row.Since, needs)
	}
	b.WriteString("\n## Errors that have changed\n\n| in 8.0 | since | in 8.2 |\n|---|---|---|\n")
	for _, e := range dialect.Errors() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", errorCell(e.Before), e.Since, errorCell(e.Now))
	}
	generated(t, "mongodb-versions.md", "changes", b.String())
}

// errorCell is an error with … for its arguments.
func errorCell(e dialect.Text) string {
	text := e.Format
	for _, verb := range []string{"%[1]s", "%[2]s", "%s", "%d"} {
		text = strings.ReplaceAll(text, verb, "…")
	}
	return fmt.Sprintf("%d: `%s`", e.Code, text)
}
