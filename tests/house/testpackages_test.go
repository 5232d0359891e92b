package house

import (
	"strings"
	"testing"
)

// TestHarnessIsCompiledOnce: a room of commands whose tests use the harness has none in its own
// package. The harness uses all rooms, so the go tool would compile each room between that one
// and the harness once more, with the test in it.
func TestHarnessIsCompiledOnce(t *testing.T) {
	own, uses := map[string]string{}, map[string]bool{}
	for _, f := range sourceFiles(t) {
		if !f.test {
			continue
		}
		if !strings.HasSuffix(f.ast.Name.Name, "_test") {
			own[f.pkg] = f.name
		}
		for _, imp := range f.ast.Imports {
			if importPath(imp) == module+"/commands/internal/harness" {
				uses[f.pkg] = true
			}
		}
	}
	for pkg := range uses {
		if name := own[pkg]; name != "" {
			t.Errorf("%s belongs to %s itself: make it a test of package %s_test, and export what it needs", name, pkg, pkg[strings.LastIndex(pkg, "/")+1:])
		}
	}
	if len(uses) == 0 {
		t.Error("no test uses the harness")
	}
}
