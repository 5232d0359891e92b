package needs

import (
	"os/exec"
	"strings"
	"testing"
)

// TestOlderServerWithoutCommit: a test is skipped where nothing or not everything was cloned,
// and fails where the commit should be.
func TestOlderServerWithoutCommit(t *testing.T) {
	Program(t, "git", "tar")
	t.Setenv("DUSKDB_COMPAT_CACHE", t.TempDir())
	source, shallow := t.TempDir(), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "--quiet", source)
	for range 2 {
		run("-C", source, "commit", "--quiet", "--allow-empty", "--message", "a commit")
	}
	run("clone", "--quiet", "--depth", "1", "file://"+source, shallow)
	for dir, want := range map[string]string{
		t.TempDir(): "skip: no repository with the commit 0123abcd",
		shallow:     "skip: the clone is shallow and may lack the commit 0123abcd",
		source:      "fail: git -C",
	} {
		t.Chdir(dir)
		j := &judge{TB: t}
		if OlderServer(j, "0123abcd"); !strings.HasPrefix(j.verdict, want) {
			t.Errorf("%q, want %q", j.verdict, want)
		}
	}
}
