package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
	"sync"
	"testing"
)

// typed is one package of this module with the types of its expressions, as
// far as they are made of the module's own types: all other packages count as
// empty, so that this takes a moment and not a build.
type typed struct {
	files []*ast.File
	types *types.Info
	scope *types.Scope
}

// typedPackages type-checks the code of the module, without its tests.
func typedPackages(t *testing.T) (all map[string]typed, fset *token.FileSet) {
	t.Helper()
	typedOnce.Do(func() { typedModule = checkModule(t) })
	if typedModule == nil {
		t.Fatal("the module was not read")
	}
	return typedModule.all, typedModule.fset
}

// The tests share one reading of the module.
var (
	typedOnce   sync.Once
	typedModule *typeChecker
)

func checkModule(t *testing.T) *typeChecker {
	t.Helper()
	c := &typeChecker{files: map[string][]*ast.File{}, done: map[string]*types.Package{}, all: map[string]typed{}}
	for _, f := range sourceFiles(t) {
		if !f.test {
			c.files[f.pkg], c.fset = append(c.files[f.pkg], f.ast), f.fset
		}
	}
	for pkg := range c.files {
		if _, err := c.Import(path.Join(module, pkg)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

type typeChecker struct {
	fset  *token.FileSet
	files map[string][]*ast.File
	done  map[string]*types.Package
	all   map[string]typed
}

// Import makes the checker the importer of what it checks. Files for several
// systems stand in one package here and declare things twice: such errors do
// not matter.
func (c *typeChecker) Import(imported string) (*types.Package, error) {
	if p := c.done[imported]; p != nil {
		return p, nil
	}
	pkg, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		p := types.NewPackage(imported, path.Base(imported))
		p.MarkComplete()
		c.done[imported] = p
		return p, nil
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	quiet := &types.Config{Importer: c, Error: func(error) {}, FakeImportC: true}
	p, _ := quiet.Check(imported, c.fset, c.files[pkg], info)
	c.done[imported] = p
	c.all[pkg] = typed{c.files[pkg], info, p.Scope()}
	return p, nil
}
