package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// binary is the duskdb under test.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run builds the binary, unless DUSKDB_COMPAT_BINARY names one, and runs the
// tests.
func run(m *testing.M) int {
	if binary = os.Getenv("DUSKDB_COMPAT_BINARY"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "duskdb-compat")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "duskdb")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-o", binary, "./cmd/duskdb")
	build.Dir = ".." // the server's module
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
