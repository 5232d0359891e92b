package server

import (
	"os"

	"golang.org/x/sys/unix"
)

// pollerRemembers: Go uses epoll with edges. Its manual says that a read of less than was
// asked for has emptied a stream.
const pollerRemembers = true

// readNow reads what has arrived, or returns errNothing.
func readNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := sysRead(fd, b)
		switch err {
		case 0:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errNothing
		default:
			return 0, os.NewSyscallError("read", err)
		}
	}
}

// writeNow writes as much of b as the system takes at once. It returns 0 for an error, which
// the next write returns again.
func writeNow(fd uintptr, b []byte) int {
	n, err := sysWrite(fd, b)
	if err != 0 {
		return 0
	}
	return n
}
