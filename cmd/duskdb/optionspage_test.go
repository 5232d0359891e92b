package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
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
	b.WriteString("\n## Former names\n\nFormer names are accepted, as by mongod 8.0; `allowSSL`, `preferSSL` and `requireSSL` are values of `--sslMode` and `net.ssl.mode`.\n\n| former | now |\n|---|---|\n")
	for _, old := range slices.Sorted(maps.Keys(deprecatedKeys)) {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", old, deprecatedKeys[old])
	}
	for _, old := range slices.Sorted(maps.Keys(deprecatedFlags)) {
		fmt.Fprintf(&b, "| `--%s` | `--%s` |\n", old, deprecatedFlags[old])
	}
	b.WriteString("\n")
	return b.String()
}

// Every former name stands for one that exists.
func TestFormerNames(t *testing.T) {
	known := map[string]bool{}
	for _, o := range mongodOptions {
		known[o.key], known["--"+o.flag] = true, true
	}
	for old, now := range deprecatedKeys {
		if !known[now] {
			t.Errorf("%s stands for %s, which does not exist", old, now)
		}
	}
	for old, now := range deprecatedFlags {
		if name, _, _ := strings.Cut(now, "="); !known["--"+name] {
			t.Errorf("--%s stands for --%s, which does not exist", old, now)
		}
	}
	got := normalise([]string{"--sslMode", "requireSSL", "--sslMode=preferSSL", "--sslOnNormalPorts", "--sslCAFile", "ca.pem", "--dbpath", "sslMode"})
	want := []string{"--tlsMode", "requireTLS", "--tlsMode=preferTLS", "--tlsMode=requireTLS", "--tlsCAFile", "ca.pem", "--dbpath", "sslMode"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
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
