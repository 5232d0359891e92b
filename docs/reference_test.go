package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReferenceIsComplete finds the arguments of DuskDB's own commands in the structs that
// declare them, and wants each in the section of its command.
func TestReferenceIsComplete(t *testing.T) {
	page, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, declared := range declaredArguments(t) {
		if commandRemarks[name].standing != own {
			continue
		}
		n++
		section := sectionOf(string(page), name)
		if section == "" {
			t.Errorf("the page has no section about %s", name)
			continue
		}
		for _, argument := range declared {
			if !strings.Contains(section, "`"+argument+"`") {
				t.Errorf("%s: the page lacks the argument %s", name, argument)
			}
		}
	}
	owned := 0
	for _, r := range commandRemarks {
		if r.standing == own {
			owned++
		}
	}
	if n != owned {
		t.Errorf("%d of %d commands were found in the sources", n, owned)
	}
}

// sectionOf returns the text below a heading of the third level that contains the name.
func sectionOf(page, name string) string {
	for _, section := range regexp.MustCompile(`(?m)^##+ `).Split(page, -1) {
		title, body, _ := strings.Cut(section, "\n")
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(title) {
			return body
		}
	}
	return ""
}

// declaredArguments returns the arguments of commands: a struct whose first tag is the name
// of a command has its arguments.
func declaredArguments(t *testing.T) map[string][]string {
	t.Helper()
	arguments := map[string][]string{}
	for _, pattern := range []string{"../commands/diagnostics/*.go", "../commands/mq/*.go", "../commands/ddl/*.go"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.StructType); ok {
					if names := tagged(s); len(names) > 0 {
						arguments[names[0]] = names[1:]
					}
				}
				return true
			})
		}
	}
	return arguments
}

// tagged returns the names in the tags of a struct's fields.
func tagged(s *ast.StructType) (names []string) {
	for _, field := range s.Fields.List {
		if field.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(field.Tag.Value)
		if name, _, _ := strings.Cut(reflect.StructTag(text).Get("arg"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
