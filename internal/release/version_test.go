package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

func TestVersionsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		version        version
		python, debian string
	}{
		{"1.2.0", "1.2.0", "1.2.0"},
		{"1.2.0-rc.1", "1.2.0rc1", "1.2.0~rc.1"},
		{"1.2.0-alpha.2", "1.2.0a2", "1.2.0~alpha.2"},
		{"1.2.0-beta.3", "1.2.0b3", "1.2.0~beta.3"},
		{"0.1.0-dev.20260101120000.gabcdef012", "0.1.0.dev20260101120000", "0.1.0~dev.20260101120000.gabcdef012"},
		{"1.2.0-some-thing", "", "1.2.0~some.thing"},
		{"1.2.0-rc.x", "", "1.2.0~rc.x"},
	} {
		python, err := tt.version.python()
		if python != tt.python || (err == nil) != (tt.python != "") {
			t.Errorf("%s for Python: %q, %v, want %q", tt.version, python, err, tt.python)
		}
		if got := tt.version.debian(); got != tt.debian {
			t.Errorf("%s for Debian: %s, want %s", tt.version, got, tt.debian)
		}
	}
}

// clone makes a repository with one commit.
func clone(t *testing.T) (root string, run func(args ...string)) {
	t.Helper()
	needs.Program(t, "git")
	root = t.TempDir()
	run = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-01T12:00:00Z", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put(t, root, "cmd/duskdb/version.go", "package main\n\nconst next = \"0.3.0\"\n")
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "first")
	return root, run
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindVersion(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	root, git := clone(t)
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	expect := func(given, want string) {
		t.Helper()
		v, date, err := findVersion(root, given)
		if err != nil || !regexp.MustCompile("^"+want+"$").MatchString(string(v)) || !date.Equal(noon) {
			t.Errorf("%s, %v, %v; want %s of %v", v, date, err, want, noon)
		}
	}
	expect("", `0\.3\.0-dev\.20260101120000\.g[0-9a-f]{9}`)
	git("tag", "v0.2.0")
	expect("", `0\.2\.0`)
	expect("0.2.1-rc.1", `0\.2\.1-rc\.1`)
	put(t, root, "cmd/duskdb/version.go", "package main\n\nconst next = \"0.4.0\"\n")
	expect("", `0\.4\.0-dev\.20260101120000\.g[0-9a-f]{9}\.changed`)
	for _, wrong := range []string{"v1.2.0", "1.2", "1.2.0 ", "1.2.0+x"} {
		if _, _, err := findVersion(root, wrong); err == nil {
			t.Errorf("%q is taken as a version", wrong)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	if _, date, err := findVersion(root, "1.0.0"); err != nil || date.Unix() != 86400 {
		t.Error(date, err)
	}
	if _, _, err := findVersion(t.TempDir(), ""); err == nil {
		t.Error("a directory without git has a version")
	}
}
