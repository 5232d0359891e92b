//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// setUmask sets the umask for the group and others. The system's umask still
// applies to the owner.
func setUmask(mask int) {
	system := syscall.Umask(mask)
	syscall.Umask(mask | system&^ownerOnly)
}

// systemUmask is the umask that the process was started with.
func systemUmask() int {
	system := syscall.Umask(ownerOnly) // the umask cannot be read without setting it
	syscall.Umask(system)
	return system
}

// checkKeyMode refuses a key on which the group or others have any permission.
func checkKeyMode(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("permissions on %s are too open: nobody but its owner may read a key, as after \"chmod 600 %s\"", path, path)
	}
	return nil
}
