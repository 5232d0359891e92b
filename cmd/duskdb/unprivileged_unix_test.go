//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is a user without rights of its own.
const nobody = 65534

// unprivileged makes a program run as a user for whom the modes of files count. They do for
// everybody but root.
func unprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
