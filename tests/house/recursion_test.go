package house

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// references is the graph of the functions of this module: which of them refers to which. A
// method of an interface refers to the methods of all types that implement it, and a variable of a
// package to the functions in its value, so that tables of functions are not a gap.
type references struct {
	t       *testing.T
	fset    *token.FileSet
	done    map[string]*types.Package
	edges   map[types.Object]map[types.Object]bool
	names   map[types.Object]string
	calls   map[*types.Func]bool // methods of interfaces that are called
	methods map[string][]*types.Func
}

func (r *references) Import(importPath string) (*types.Package, error) {
	if p := r.done[importPath]; p != nil {
		return p, nil
	}
	dir, ours := strings.CutPrefix(importPath, module)
	if !ours {
		p := types.NewPackage(importPath, path.Base(importPath))
		p.MarkComplete()
		return p, nil
	}
	files := r.parse("." + dir)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	quiet := &types.Config{Importer: r, Error: func(error) {}, FakeImportC: true}
	p, _ := quiet.Check(importPath, r.fset, files, info)
	r.done[importPath] = p
	for _, f := range files {
		for _, d := range f.Decls {
			r.declaration(strings.TrimPrefix(dir, "/"), d, info)
		}
	}
	return p, nil
}

func (r *references) parse(dir string) (files []*ast.File) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(r.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			r.t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// declaration notes what a function, or a variable of a package, refers to.
func (r *references) declaration(dir string, d ast.Decl, info *types.Info) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		r.body(dir, info.Defs[d.Name], d, info)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, name := range v.Names {
				r.body(dir, info.Defs[name], v, info)
			}
		}
	}
}

func (r *references) body(dir string, of types.Object, n ast.Node, info *types.Info) {
	if of == nil {
		return
	}
	r.names[of] = dir + "." + objectName(of)
	if fn, ok := of.(*types.Func); ok && fn.Signature().Recv() != nil {
		r.methods[fn.Name()] = append(r.methods[fn.Name()], fn)
	}
	to := r.edges[of]
	if to == nil {
		to = map[types.Object]bool{}
		r.edges[of] = to
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if o := referred(info.Uses[n]); o != nil {
				to[o] = true
			}
			if o, ok := info.Uses[n].(*types.Func); ok {
				if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
					r.calls[o.Origin()] = true
				}
			}
		case *ast.AssignStmt:
			if callsItself(n, info) {
				to[of] = true
			}
			for i, e := range n.Rhs {
				r.value(holder(n.Lhs[min(i, len(n.Lhs)-1)], info), e, info)
			}
		case *ast.CompositeLit:
			r.fields(n, info)
		}
		return true
	})
}

// referred returns the function, or what may hold one: a variable of a package, or a field of
// a part of the language.
func referred(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		if o.Pkg() == nil || o.IsField() && isService(strings.TrimPrefix(o.Pkg().Path(), module+"/")) {
			return nil
		}
		if o.IsField() || o.Parent() == o.Pkg().Scope() {
			return o.Origin()
		}
	}
	return nil
}

// holder returns the variable or field that an assignment changes, also that with a table
// whose entry it changes.
func holder(e ast.Expr, info *types.Info) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return referred(info.Uses[e])
	case *ast.SelectorExpr:
		return referred(info.Uses[e.Sel])
	case *ast.IndexExpr:
		return holder(e.X, info)
	}
	return nil
}

// value notes that a variable or field holds the functions that an expression refers to.
func (r *references) value(of types.Object, e ast.Expr, info *types.Info) {
	if _, ok := of.(*types.Var); !ok {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			r.mention(of, n, info)
			return false
		case *ast.CallExpr: // what it returns
			t := info.Types[n].Type
			if t == nil {
				return false
			}
			_, ok := t.Underlying().(*types.Signature)
			return ok
		case *ast.Ident:
			r.mention(of, n, info)
		}
		return true
	})
}

// mention adds edges to all functions that a part of the code mentions.
func (r *references) mention(of types.Object, n ast.Node, info *types.Info) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o, ok := referred(info.Uses[id]).(*types.Func); ok {
				if r.edges[of] == nil {
					r.edges[of] = map[types.Object]bool{}
				}
				r.edges[of][o] = true
			}
		}
		return true
	})
}

// fields notes which functions a literal gives to the fields of a struct.
func (r *references) fields(n *ast.CompositeLit, info *types.Info) {
	t := info.Types[n].Type
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // in a literal of several
		t = p.Elem()
	}
	str, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok {
				r.value(referred(info.Uses[name]), pair.Value, info)
			}
		} else if i < str.NumFields() {
			r.value(referred(str.Field(i)), e, info)
		}
	}
}

// callsItself reports whether an assignment gives a variable a function that refers to it.
func callsItself(n *ast.AssignStmt, info *types.Info) (found bool) {
	for i, e := range n.Rhs {
		name, _ := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident)
		literal, _ := e.(*ast.FuncLit)
		if name == nil || literal == nil || info.Uses[name] == nil {
			continue
		}
		ast.Inspect(literal, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && info.Uses[id] == info.Uses[name]
			return true
		})
	}
	return found
}

func objectName(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return o.Name()
	}
	t := fn.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// isService reports whether the interfaces of a package stand for parts of the server, not
// for parts of a document or of something compiled from one. Their types wrap each other in an
// order that the code fixes.
func isService(pkg string) bool {
	top, _, _ := strings.Cut(pkg, "/")
	return pkg == "internal/auth" || slices.Contains([]string{"commands", "queue", "storage", "ttl"}, top)
}

// implementations adds edges from methods of interfaces to those of the types.
func (r *references) implementations() {
	for m := range r.calls {
		if m.Pkg() == nil || isService(strings.TrimPrefix(m.Pkg().Path(), module+"/")) {
			continue
		}
		to := map[types.Object]bool{}
		face, ok := m.Signature().Recv().Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for _, fn := range r.methods[m.Name()] {
			t := fn.Signature().Recv().Type()
			if types.Implements(t, face) || types.Implements(types.NewPointer(t), face) {
				to[fn] = true
			}
		}
		r.edges[m] = to
	}
}

// circles returns the strongly connected components that are recursive (Tarjan).
func (r *references) circles() (list [][]string) {
	index, low, on := map[types.Object]int{}, map[types.Object]int{}, map[types.Object]bool{}
	var stack []types.Object
	var visit func(v types.Object)
	visit = func(v types.Object) {
		index[v], low[v] = len(index)+1, len(index)+1
		stack = append(stack, v)
		on[v] = true
		for w := range r.edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		var names []string
		self := r.edges[v][v]
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			on[w] = false
			if name := r.names[w]; name != "" {
				names = append(names, name)
			}
			if w == v {
				break
			}
		}
		if len(names) > 1 || self {
			sort.Strings(names)
			list = append(list, names)
		}
	}
	for v := range r.edges {
		if index[v] == 0 {
			visit(v)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// recursive is the list of the recursive functions with what limits their depth.
const recursive = data + "/recursion"

// TestRecursion demands of each recursive function a reason why clients cannot choose how
// deep it goes: the stack of a goroutine may grow to a gigabyte, and then the process ends.
// Functions that call each other are recursive together.
func TestRecursion(t *testing.T) {
	listed, families := readRecursive(t)
	found, total := map[string]bool{}, 0
	for _, circle := range readReferences(t).circles() {
		total += len(circle)
		for _, name := range circle {
			entry := name
			for _, f := range families {
				if strings.HasPrefix(name, f) {
					entry = f + "*"
				}
			}
			found[entry] = true
			if listed[entry] == "" {
				t.Errorf("%s is recursive, with %v: limit its depth, and add it to %s", name, circle[:min(len(circle), 8)], recursive)
			}
		}
	}
	for name := range listed {
		if !found[name] {
			t.Errorf("%s is not recursive any more: take it out of %s", name, recursive)
		}
	}
	if total < 500 {
		t.Fatal("few functions are recursive: the test does not work")
	}
}

// readRecursive reads the list: a reason behind #, and the functions for which it holds. A
// name that ends in * stands for a family of functions.
func readRecursive(t *testing.T) (list map[string]string, families []string) {
	t.Helper()
	text, err := os.ReadFile(recursive)
	if err != nil {
		t.Fatal(err)
	}
	list = map[string]string{}
	reason := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			reason = line[2:]
		case list[line] != "" || reason == "":
			t.Errorf("%s: listed twice, or without a reason", line)
		default:
			list[line] = reason
			if family, ok := strings.CutSuffix(line, "*"); ok {
				families = append(families, family)
			}
		}
	}
	return list, families
}

// readReferences reads all packages of this module.
func readReferences(t *testing.T) *references {
	t.Helper()
	r := &references{
		t: t, fset: token.NewFileSet(), done: map[string]*types.Package{}, edges: map[types.Object]map[types.Object]bool{},
		names: map[types.Object]string{}, calls: map[*types.Func]bool{}, methods: map[string][]*types.Func{},
	}
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != "." && (slices.Contains(forTests, dir) || strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if _, err := build.ImportDir(dir, 0); err != nil {
			return nil // no package, or one of tests alone
		}
		_, err = r.Import(path.Join(module, filepath.ToSlash(dir)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.implementations()
	return r
}

// forTests are packages that no server contains.
var forTests = []string{"commands/internal", "query/agg/internal/aggtest", "storage/storagetest", "ttl/internal/ttltest", "internal/commandtest", "internal/pgtest"}
