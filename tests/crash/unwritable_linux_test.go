package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// somebody is a user who owns no files. Tests on build machines often run as root, who
// may write whatever the mode is.
const somebody = 65534

// asSomebody makes a command run without the rights of root.
func asSomebody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody, NoSetGroups: true}}
	}
}

// reachable returns a directory, and a copy of the server in it, that any user
// can get to.
func reachable(t *testing.T) (dir, server string) {
	dir, err := os.MkdirTemp("", "duskdb-unwritable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	server = filepath.Join(dir, "duskdb")
	if err := os.WriteFile(server, b, 0o755); err != nil { //nolint:gosec // others run it
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // others run the server in it
		t.Fatal(err)
	}
	probe := exec.Command(server, "--version")
	asSomebody(probe)
	if err := probe.Run(); err != nil {
		t.Skipf("no other user can run a program in %s: %v", dir, err)
	}
	return dir, server
}

// TestUnwritable: the server of a user who may not write to the data directory
// says so, with the directory and the user, and changes nothing.
func TestUnwritable(t *testing.T) {
	dir, server := reachable(t)
	user := os.Getuid()
	if user == 0 {
		user = somebody
	}
	for _, name := range storageEngines {
		full := loaded(t, 100, "--storageEngine", name)
		inside := filepath.Join(dir, name)
		if err := os.Rename(full, inside); err != nil {
			t.Fatal(err)
		}
		empty := filepath.Join(dir, name+"-empty")
		if err := os.Mkdir(empty, 0o755); err != nil { //nolint:gosec // others read it
			t.Fatal(err)
		}
		for _, d := range []string{inside, empty} {
			if err := os.Chmod(d, 0o555); err != nil { //nolint:gosec // others read it
				t.Fatal(err)
			}
			before := contents(t, d)
			for _, args := range [][]string{nil, {"--repair"}} {
				cmd := exec.Command(server, append([]string{"--dbpath", d, "--port", "0", "--storageEngine", name}, args...)...)
				asSomebody(cmd)
				out, err := cmd.CombinedOutput()
				text := string(out)
				if err == nil || !strings.Contains(text, "cannot use the data directory "+d) || !strings.Contains(text, "permission denied") ||
					!strings.Contains(text, fmt.Sprintf("this user (%d) must be able to read and write it", user)) {
					t.Errorf("%s %v: %v, %s", d, args, err, text)
				}
			}
			wantUntouched(t, d, before)
			if err := os.Chmod(d, 0o755); err != nil { //nolint:gosec // to remove it
				t.Fatal(err)
			}
		}
	}
}
