package compat

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
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
	if err := needs.Server(binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
