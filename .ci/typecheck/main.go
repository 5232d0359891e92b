// Command typecheck checks that a program is valid Go for other systems: it parses the
// program and all that it imports, the standard library included, as files of those
// systems, and checks the types. A compiler would find the same errors, in ten times the
// time; that of this system has been through the code already.
//
//	typecheck PACKAGE SYSTEM/PROCESSOR...
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck PACKAGE SYSTEM/PROCESSOR...")
		os.Exit(2)
	}
	bad := 0
	for _, platform := range os.Args[2:] {
		n, errs := check(os.Args[1], platform)
		for _, err := range errs {
			fmt.Println(err)
		}
		bad += len(errs)
		fmt.Printf("%s: %d packages, %d errors\n", platform, n, len(errs))
	}
	if bad > 0 {
		os.Exit(1)
	}
}

// check loads a program as a system would compile it. It returns how many packages it has,
// and what is wrong with them.
func check(pattern, platform string) (n int, errs []error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, []error{fmt.Errorf("%q is not SYSTEM/PROCESSOR", platform)}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedCompiledGoFiles |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, pattern)
	if err != nil {
		return 0, []error{err}
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		n++
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	})
	return n, errs
}
