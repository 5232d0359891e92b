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
		n, err := unix.Read(int(fd), b)
		switch err {
		case nil:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errNothing
		default:
			return 0, os.NewSyscallError("read", err)
		}
	}
}
