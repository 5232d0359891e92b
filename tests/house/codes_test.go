package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// A code that has a name is written with it: a reader knows IDLUnknownField, not
// 40415. Tests may say what a client sees, which is the number.
func TestNamedCodesAreWrittenAsNames(t *testing.T) {
	all, fset := typedPackages(t)
	names := codeNames(all["internal/mongoerr"])
	if names["40415"] != "IDLUnknownField" {
		t.Fatal("package mongoerr was not read")
	}
	numbers := 0
	for pkg, p := range all {
		if pkg == "internal/mongoerr" { // where the names are given
			continue
		}
		for _, lit := range codeLiterals(p) {
			numbers++
			if name := names[lit.Value]; name != "" && lit.Value != "0" { // no code
				t.Errorf("%s: %s is mongoerr.%s", fset.Position(lit.Pos()), lit.Value, name)
			}
		}
	}
	if numbers == 0 {
		t.Error("found no number at all: the test does not work")
	}
}

// codeNames are the constants of package mongoerr by their numbers.
func codeNames(p typed) map[string]string {
	names := map[string]string{}
	for _, name := range p.scope.Names() {
		if c, ok := p.scope.Lookup(name).(*types.Const); ok && isCode(c.Type()) {
			names[c.Val().String()] = name
		}
	}
	return names
}

// codeLiterals returns the number literals in a package that stand for error codes.
// A number that is added to a code does not.
func codeLiterals(p typed) (list []*ast.BasicLit) {
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if sum, ok := n.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.INT && isCode(p.types.TypeOf(lit)) {
				list = append(list, lit)
			}
			return true
		})
	}
	return list
}

func isCode(t types.Type) bool { return t != nil && t.String() == module+"/internal/mongoerr.Code" }
