package house

import (
	"go/ast"
	"go/types"
	"testing"
)

// sameInAnyOrder are the functions whose loops over a map may return an error,
// each with the reason.
var sameInAnyOrder = map[string]string{
	"query/agg/pack.pointing.giveUp": "a full disk, the same for every document",
}

// mongod says the same of the same command each time, so no error may depend on
// which of the entries of a map comes first.
func TestErrorsDoNotDependOnTheOrderOfMaps(t *testing.T) {
	all, fset := typedPackages(t)
	loops := 0
	for pkg, p := range all {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || sameInAnyOrder[pkg+"."+nameOf(fn)] != "" {
					continue
				}
				for _, loop := range mapLoops(p, fn) {
					loops++
					for _, r := range errorsIn(p, loop.Body) {
						t.Errorf("%s: an error from a loop over a map, whose order is not the same each time", fset.Position(r.Pos()))
					}
				}
			}
		}
	}
	if loops == 0 {
		t.Error("found no loop over a map: the test does not work")
	}
}

// nameOf is the name of a function, with the type that it is a method of.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// mapLoops are the loops below n over a map, or over its keys or values.
func mapLoops(p typed, n ast.Node) (list []*ast.RangeStmt) {
	ast.Inspect(n, func(n ast.Node) bool {
		if loop, ok := n.(*ast.RangeStmt); ok && yieldsMap(p, loop.X) {
			list = append(list, loop)
		}
		return true
	})
	return list
}

func yieldsMap(p typed, x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			from, _ := sel.X.(*ast.Ident)
			return from != nil && from.Name == "maps"
		}
	}
	typ := p.types.TypeOf(x)
	if typ == nil {
		return false
	}
	_, ok := typ.Underlying().(*types.Map)
	return ok
}

// errorsIn are the returns below n that return an error.
func errorsIn(p typed, n ast.Node) (list []*ast.ReturnStmt) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // returns elsewhere
			return false
		case *ast.ReturnStmt:
			for _, x := range n.Results {
				if isError(p.types.TypeOf(x)) {
					list = append(list, n)
					break
				}
			}
		}
		return true
	})
	return list
}

func isError(t types.Type) bool {
	if t == nil || types.Identical(t, types.Typ[types.UntypedNil]) {
		return false
	}
	return t.String() == "error" || t.String() == "*"+module+"/internal/mongoerr.Error"
}
