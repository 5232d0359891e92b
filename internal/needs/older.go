package needs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OlderServer returns the path of the server's program of an earlier commit, which is built once
// and kept in the cache of the tests. Where there is no history, the test is skipped: the source
// was not cloned, or not with its history. A whole clone that lacks the commit is an error.
func OlderServer(t testing.TB, commit string) string {
	t.Helper()
	kept := filepath.Join(Cache(t), "duskdb-"+commit+".exe")
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	Program(t, "git", "tar")
	shallow, err := git("rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		t.Skipf("no repository with the commit %s: %v", commit, err)
		return ""
	case strings.TrimSpace(shallow) == "true":
		t.Skipf("the clone is shallow and may lack the commit %s: \"git fetch --unshallow\" gets it", commit)
		return ""
	}
	if err := buildCommit(t.TempDir(), commit, kept); err != nil {
		t.Fatalf("%v", err)
	}
	return kept
}

// git runs a command of git on the repository of the working directory, also if that belongs to
// somebody else.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-c", "safe.directory=*"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// buildCommit builds the program of a commit in a directory, and moves it to a path when it is
// whole.
func buildCommit(dir, commit, path string) error {
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "source.tar")
	if _, err := git("-C", strings.TrimSpace(top), "archive", "--output", archive, commit); err != nil {
		return err
	}
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		return err
	}
	if out, err := exec.Command("tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := fmt.Sprint(path, ".", os.Getpid())
	if err := build(source, part, "-trimpath"); err != nil { // then the place of the source does not matter to the build cache
		return err
	}
	return os.Rename(part, path)
}
