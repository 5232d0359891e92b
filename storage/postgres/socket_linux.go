package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout is how long what was sent may stay without an acknowledgement of the other
// machine, in milliseconds.
const userTimeout = 11_000

// impatientSocket makes a connection end when the other machine is gone: without it the
// kernel would send again for a quarter of an hour.
func impatientSocket(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, userTimeout)
	})
}
