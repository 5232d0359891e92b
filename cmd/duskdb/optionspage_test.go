package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "rewrite the generated part of docs/configuration.md")

const (
	optionsPage  = "../../docs/configuration.md"
	optionsBegin = "<!-- options: go test -run TestOptionsPage ./cmd/duskdb -update -->"
	optionsEnd   = "<!-- end of options -->"
)

// optionsTable writes all options of mongod, and DuskDB's own.
func optionsTable() string {
	var b strings.Builder
	for _, part := range []struct {
		title   string
		options []option
	}{{"mongod's options", mongodOptions}, {"DuskDB's own options", duskdbKeys}} {
		fmt.Fprintf(&b, "\n## %s\n\n| key in the file | flag | value | |\n|---|---|---|---|\n", part.title)
		for _, o := range part.options {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code("", o.key), code("--", o.flag), o.kind, effect(o))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func code(prefix, name string) string {
	if name == "" {
		return ""
	}
	return "`" + prefix + name + "`"
}

func effect(o option) string {
	switch {
	case o.use == ignored:
		return "no effect: " + o.note
	case o.use == refused:
		return "refused: " + o.note
	case o.parameter != "":
		return "the parameter `" + o.parameter + "`"
	}
	return o.note
}

// TestOptionsPage holds the page against the table in the code.
func TestOptionsPage(t *testing.T) {
	page, err := os.ReadFile(optionsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), optionsBegin+"\n")
	_, tail, ok2 := strings.Cut(rest, optionsEnd)
	if !ok || !ok2 {
		t.Fatal("docs/configuration.md has no table of options")
	}
	want := head + optionsBegin + "\n" + optionsTable() + optionsEnd + tail
	if want == string(page) {
		return
	}
	if !*updateDocs {
		t.Fatal("docs/configuration.md is out of date: go test -run TestOptionsPage ./cmd/duskdb -update")
	}
	if err := os.WriteFile(optionsPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
