package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// use is a line of go.work that names a module's directory.
var use = regexp.MustCompile(`(?m)^\t\./(\S+)$`)

// otherModules returns the directories of the modules beside this one that
// have packages. A directory with a dot at its beginning has tools only.
func otherModules(t *testing.T) []string {
	t.Helper()
	work, err := os.ReadFile("go.work")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, m := range use.FindAllStringSubmatch(string(work), -1) {
		if !strings.HasPrefix(m[1], ".") {
			dirs = append(dirs, m[1])
		}
	}
	if len(dirs) == 0 {
		t.Fatal("go.work names no other module")
	}
	return dirs
}

// goCommand runs the go command in a directory and returns what it printed.
func goCommand(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: go %s: %v\n%s", dir, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestOtherModules has go test ./... include the modules below this one, at
// whose borders the pattern ends. Results are not taken from the cache, which
// does not know that these tests build the server. With -short they are left
// out: their libraries take longer to compile than the tests of a small change.
func TestOtherModules(t *testing.T) {
	if testing.Short() {
		t.Skip("their libraries take long to compile")
	}
	for _, dir := range otherModules(t) {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			goCommand(t, dir, nil, "vet", "./...")
			t.Log(goCommand(t, dir, nil, "test", "-count=1", "./..."))
		})
	}
}

// TestWorkspaceChangesNoVersion holds the workspace to the versions of go.mod:
// a library that another module requires in a newer version would be tested
// here in a version that nobody gets who imports the server.
func TestWorkspaceChangesNoVersion(t *testing.T) {
	list := func(env ...string) []string {
		const format = "{{with .Module}}{{.Path}} {{.Version}}{{end}}"
		out := strings.Split(goCommand(t, ".", env, "list", "-deps", "-test", "-f", format, "./..."), "\n")
		slices.Sort(out)
		return slices.Compact(out)
	}
	alone, together := list("GOWORK=off"), list("GOWORK=")
	for _, m := range together {
		if !slices.Contains(alone, m) {
			t.Errorf("the workspace builds %s, go.mod alone does not", m)
		}
	}
}

// TestModulesStandAlone: each module is named like its directory, and uses
// the server of this tree without the workspace as well.
func TestModulesStandAlone(t *testing.T) {
	for _, dir := range otherModules(t) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		up, err := filepath.Rel(dir, ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"module " + module + "/" + dir, "replace " + module + " => " + filepath.ToSlash(up)} {
			if !slices.Contains(strings.Split(string(text), "\n"), line) {
				t.Errorf("%s/go.mod has no line %q", dir, line)
			}
		}
	}
	own, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(own), "replace") {
		t.Error("go.mod replaces a module: go install …/cmd/duskdb@latest would refuse it")
	}
}
