//go:build !linux

package postgres

import "syscall"

// impatientSocket has nothing to set: the system notices by itself when the other machine
// is gone.
func impatientSocket(_, _ string, _ syscall.RawConn) error { return nil }
