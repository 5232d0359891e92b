package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocLinks looks up what comments link to: a declaration of the package, a member of one of
// its types, or either of another package.
func TestDocLinks(t *testing.T) {
	files := sourceFiles(t)
	declared := declarationsByPackage(files)
	std := standardLibrary{root: strings.TrimSpace(goCommand(t, ".", nil, "env", "GOROOT")), read: map[string]map[string]bool{}}
	checked := 0
	for _, f := range files {
		for _, group := range f.ast.Comments {
			for _, link := range docLinks(group.Text()) {
				checked++
				if !resolves(link, f, declared, std) {
					t.Errorf("%s: [%s] leads nowhere", f.fset.Position(group.Pos()), link)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("found only %d links: the test does not work", checked)
	}
}

// docLink is a link as package go/doc/comment knows it, that is not followed by more of an
// expression.
var docLink = regexp.MustCompile(`(?:^|[\s("])\[\*?((?:[a-z][\w/]*\.)?[A-Z]\w*(?:\.\w+)?|[a-z]\w*\.\w+)\](?:$|[\s,.;:)"']|s\b)`)

// docLinks are the links in the text of a comment. Lines that are indented are examples.
func docLinks(text string) (links []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ") {
			continue
		}
		for _, m := range docLink.FindAllStringSubmatch(line, -1) {
			links = append(links, m[1])
		}
	}
	return links
}

// resolves reports whether a link in a file leads to a declaration: one of the package, a member
// of one of its types, or one of another package, by its name or its path.
func resolves(link string, f source, declared map[string]map[string]bool, std standardLibrary) bool {
	if declared[f.pkg][link] {
		return true
	}
	dot := strings.Index(link, ".")
	if dot < 0 {
		return false
	}
	pkg, name := link[:dot], link[dot+1:]
	for _, imp := range f.ast.Imports {
		p := importPath(imp)
		ours, isOurs := strings.CutPrefix(p, module+"/")
		switch {
		case p != pkg && path.Base(p) != pkg && (imp.Name == nil || imp.Name.Name != pkg):
		case isOurs:
			return declared[ours][name]
		case strings.Contains(p, "."):
			return true // a library's
		}
	}
	for ours, names := range declared {
		if path.Base(ours) == pkg && names[name] {
			return true
		}
	}
	return std.declares(pkg, name)
}

// declarationsByPackage are the names that the files of each package declare: X, and X.Y for the
// methods and fields of type X.
func declarationsByPackage(files []source) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range files {
		if all[f.pkg] == nil {
			all[f.pkg] = map[string]bool{}
		}
		declare(all[f.pkg], f.ast)
	}
	return all
}

// declare adds the names that a file declares.
func declare(names map[string]bool, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[receiverPrefix(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				declareSpec(names, spec)
			}
		}
	}
}

func declareSpec(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			names[id.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			return
		}
		for _, member := range members.List {
			for _, id := range member.Names {
				names[spec.Name.Name+"."+id.Name] = true
			}
		}
	}
}

// receiverPrefix is the name of a method's type with a dot, or nothing.
func receiverPrefix(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	prefix := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && prefix == "" {
			prefix = id.Name + "."
		}
		return true
	})
	return prefix
}

// standardLibrary looks declarations up in the sources of Go.
type standardLibrary struct {
	root string                     // GOROOT
	read map[string]map[string]bool // declarations by package, of those that were asked for
}

func (s standardLibrary) declares(pkg, name string) bool {
	if s.read[pkg] == nil {
		s.read[pkg] = map[string]bool{}
		files, _ := filepath.Glob(filepath.Join(s.root, "src", pkg, "*.go"))
		for _, file := range files {
			if f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution); err == nil {
				declare(s.read[pkg], f)
			}
		}
	}
	return s.read[pkg][name]
}

// TestCommentsBeginWithNames demands of the comment of each declaration that it begins with the
// name, after an article perhaps. The functions that go test runs, the lines of a group and
// declarations of several names describe themselves otherwise.
func TestCommentsBeginWithNames(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, d := range f.ast.Decls {
			if name, doc := described(d); doc != nil && !beginsWith(doc.Text(), name) {
				t.Errorf("%s: the comment of %s begins otherwise", f.fset.Position(doc.Pos()), name)
			}
		}
	}
}

// runByGoTest are the functions whose names are sentences.
var runByGoTest = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)

// described returns the name of a declaration and its comment, if that must begin with the name.
func described(d ast.Decl) (name string, doc *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !runByGoTest.MatchString(d.Name.Name) {
			return d.Name.Name, d.Doc
		}
	case *ast.GenDecl:
		if d.Lparen.IsValid() {
			return "", nil
		}
		switch spec := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return spec.Name.Name, d.Doc
		case *ast.ValueSpec:
			if len(spec.Names) == 1 {
				return spec.Names[0].Name, d.Doc
			}
		}
	}
	return "", nil
}

// beginsWith reports whether the first word of a comment is the name. Directives such as
// "//go:embed" are no text.
func beginsWith(text, name string) bool {
	words := strings.Fields(text)
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return true
	}
	rest, ok := strings.CutPrefix(words[0], name)
	return ok && slices.Contains([]string{"", ",", ":", ";", ".", "'s", "()"}, rest)
}

// fragments are words with which the comment of a field only ends a sentence that its name began.
var fragments = strings.Fields("and from has is of or that they to whose with")

// TestFieldComments demands comments of fields that stand without the field's name.
func TestFieldComments(t *testing.T) {
	for _, f := range sourceFiles(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			fields, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range fields.Fields.List {
				for _, c := range []*ast.CommentGroup{field.Doc, field.Comment} {
					first, _, _ := strings.Cut(c.Text(), " ")
					named := slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == first })
					if slices.Contains(fragments, first) && !named {
						t.Errorf("%s: a field's comment begins with %q", f.fset.Position(c.Pos()), first)
					}
				}
			}
			return true
		})
	}
}

func TestCommentRules(t *testing.T) {
	for text, want := range map[string]int{
		"It is a [Name].": 1, "[Type.Member] and ([pkg.Name], [*T])": 3, "of a[Name]": 0,
		"\tx [Name]": 0, "[1, 2]": 0, "[name]": 0, "a [conn.look].": 1, "[Name](x)": 0,
	} {
		if got := docLinks(text); len(got) != want {
			t.Errorf("links in %q: %q", text, got)
		}
	}
	for text, want := range map[string]bool{
		"f does": true, "A f": true, "f's x": true, "f: x": true, "fs do": false, "It does": false, "": true,
	} {
		if beginsWith(text, "f") != want {
			t.Errorf("%q begins with f: %v", text, !want)
		}
	}
}
