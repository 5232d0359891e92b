package house

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecturePage holds ARCHITECTURE.md against the code: the page is short, its files
// exist, and so do the functions and types that it names.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	const maxSize = 16_000
	if len(text) > maxSize {
		t.Errorf("the page has %d bytes, at most %d are readable", len(text), maxSize)
	}
	declared := declaredNames(t)
	named := 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		switch word := m[1]; {
		case regexp.MustCompile(`^[\w/]+\.go$`).MatchString(word) && strings.Contains(word, "/"):
			if _, err := os.Stat(word); err != nil {
				t.Error(err)
			}
		case regexp.MustCompile(`^\w+\.[A-Z]\w+$`).MatchString(word):
			named++
			if _, name, _ := strings.Cut(word, "."); !declared[name] {
				t.Errorf("there is no %s", word)
			}
		}
	}
	_, flows, _ := strings.Cut(string(text), "## Four flows")
	flows, _, _ = strings.Cut(flows, "\n## ")
	for _, name := range stations(flows) {
		named++
		if !declared[name] {
			t.Errorf("a flow goes through %s, which does not exist", name)
		}
	}
	if named < 40 {
		t.Errorf("found only %d names: the test does not work", named)
	}
}

// stations are the names in the second column of the flows.
func stations(flows string) (names []string) {
	blocks := strings.Split(flows, "```")
	for i := 1; i < len(blocks); i += 2 {
		for line := range strings.Lines(blocks[i]) {
			column := line[min(12, len(line)):min(37, len(line))]
			for word := range strings.FieldsFuncSeq(column, func(r rune) bool { return strings.ContainsRune(" ,→\n", r) }) {
				name := word[strings.LastIndex(word, ".")+1:]
				if regexp.MustCompile(`^\w+$`).MatchString(name) && name != "iterators" {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// declaredNames are the names of all functions, methods, types and fields, and of all commands.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.Field:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" && slices.Contains([]string{"commands/mq"}, f.pkg) {
					if lit, ok := n.Value.(*ast.BasicLit); ok {
						names[strings.Trim(lit.Value, `"`)] = true
					}
				}
			}
			return true
		})
	}
	return names
}
