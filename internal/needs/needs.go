// Package needs decides whether a test is skipped or fails when the machine lacks something
// that no Go module brings: a shell, a runtime, a browser, a right. On somebody's own
// machine the test is skipped and says why. In CI, where the variable CI is
// set, it fails, so that nothing ceases to be tested unnoticed. What .ci/run
// found that it cannot install it names in DUSKDB_CI_WITHOUT, separated by
// spaces: for want of these, tests are skipped in CI as well.
//
//	needs.Program(t, "node", "npm")
//
// The package is for the rest of DuskDB: it may change with any version.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Program ends the test if one of the programs is not on the PATH.
func Program(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, name)
			return
		}
	}
}

// Client ends the test unless clients of other languages are asked for, with
// the variable DUSKDB_CLIENTS, and the programs are there. Such tests download
// packages and take minutes: they are a command of their own.
func Client(t testing.TB, programs ...string) {
	t.Helper()
	if os.Getenv("DUSKDB_CLIENTS") == "" {
		t.Skip("a test with a client of another language: runs with DUSKDB_CLIENTS=1")
		return
	}
	Program(t, programs...)
}

// Missing ends the test for want of something: by skipping it, or in CI by
// failing.
func Missing(t testing.TB, what string) {
	t.Helper()
	switch without := strings.Fields(os.Getenv("DUSKDB_CI_WITHOUT")); {
	case !CI():
		t.Skipf("%s is missing", what)
	case slices.Contains(without, what):
		t.Skipf("%s is missing, as DUSKDB_CI_WITHOUT says", what)
	default:
		t.Fatalf("%s is missing, and CI requires it", what)
	}
}

// CI reports whether what .ci/run provides must be there.
func CI() bool { return os.Getenv("CI") != "" && os.Getenv("CI") != "false" }

// Cache is the directory in which tests keep the clients that they install:
// DUSKDB_COMPAT_CACHE, or one in the user's cache.
func Cache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("DUSKDB_COMPAT_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "duskdb-compat")
}
