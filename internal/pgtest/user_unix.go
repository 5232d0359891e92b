//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged is the user that runs PostgreSQL for tests of root.
func unprivileged() (uid, gid int, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && uid != 0 {
			return uid, gid, true
		}
	}
	return 0, 0, false
}

func own(dir string) error {
	if uid, gid, ok := unprivileged(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

// stop makes a process wait.
func stop(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// proceed lets a stopped process go on.
func proceed(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

// AsUser makes a command of root run as another user: PostgreSQL and what belongs to it
// refuse to run as root.
func AsUser(cmd *exec.Cmd) {
	setGroup(cmd)
	if uid, gid, ok := unprivileged(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
	}
}

// setGroup keeps signals of the terminal from a command.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
