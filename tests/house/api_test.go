package house

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "rewrite the lists of what is promised")

// promised are the packages that programs may build on; see "The map" in
// ARCHITECTURE.md.
var promised = []string{"clock", "server", "servertest"}

// notPromised is what they export for the rest of DuskDB.
var notPromised = []string{"func (s *Server) Service() *commands.Service"}

// TestPublicAPI holds the promised packages against testdata/api. A line that
// is new there is a promise; one that is gone or differs breaks programs and
// belongs into a new major version.
func TestPublicAPI(t *testing.T) {
	files := sourceFiles(t)
	for _, pkg := range promised {
		got := api(t, files, pkg)
		file := filepath.Join(data, "api", pkg+".txt")
		if *updateDocs {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range differing(want, got) {
			t.Errorf("%s: gone or changed, which breaks programs: %s", pkg, line)
		}
		for _, line := range differing(got, want) {
			t.Errorf("%s: new: %s\nIf it is to be promised: go test -run TestPublicAPI -update .", pkg, line)
		}
	}
}

// differing returns the lines of a that b does not have.
func differing(a, b []byte) (lines []string) {
	have := strings.Split(string(b), "\n")
	for line := range strings.SplitSeq(string(a), "\n") {
		if !slices.Contains(have, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// api is what a package exports, one declaration after the other and without
// comments and bodies. Fields and methods of a struct or an interface have its
// name in front, so that each line stands for itself.
func api(t *testing.T, files []source, pkg string) []byte {
	t.Helper()
	var lines []string
	for _, f := range files {
		if f.test || f.pkg != pkg {
			continue
		}
		ast.FileExports(f.ast)
		for _, d := range f.ast.Decls {
			lines = append(lines, declared(t, f.fset, d)...)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return slices.Contains(notPromised, line) })
	slices.Sort(lines)
	return []byte(strings.Join(slices.Compact(lines), "\n") + "\n")
}

// declared writes the lines of one declaration.
func declared(t *testing.T, fset *token.FileSet, d ast.Decl) (lines []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(strings.TrimLeft(text(t, fset, d.Recv.List[0].Type), "*")) {
			return nil
		}
		f := &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}
		return []string{text(t, fset, f)}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			lines = append(lines, specified(t, fset, d.Tok, spec)...)
		}
	}
	return lines
}

func specified(t *testing.T, fset *token.FileSet, tok token.Token, spec ast.Spec) (lines []string) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			lines = append(lines, tok.String()+" "+name.Name)
		}
	case *ast.TypeSpec:
		var members *ast.FieldList
		kind := ""
		switch inner := spec.Type.(type) {
		case *ast.StructType:
			members, kind = inner.Fields, "struct"
		case *ast.InterfaceType:
			members, kind = inner.Methods, "interface"
		default:
			spec.Doc, spec.Comment = nil, nil
			return []string{"type " + text(t, fset, spec)}
		}
		lines = append(lines, "type "+spec.Name.Name+" "+kind)
		for _, m := range members.List {
			for _, name := range m.Names {
				lines = append(lines, spec.Name.Name+"."+name.Name+" "+text(t, fset, m.Type))
			}
			if len(m.Names) == 0 {
				lines = append(lines, spec.Name.Name+" embeds "+text(t, fset, m.Type))
			}
		}
	}
	return lines
}

// text prints a node in one line.
func text(t *testing.T, fset *token.FileSet, node any) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.Node(&b, fset, node); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
