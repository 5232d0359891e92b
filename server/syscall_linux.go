//go:build !race

package server

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysRead and sysWrite do not tell Go's scheduler about the call. As the sockets do not block
// and little is copied, there is nothing to be scheduled meanwhile; telling it wakes the
// thread of its monitor, see [pulse].

func sysRead(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), err
}

func sysWrite(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), err
}

// wakeMonitor makes a system call of the ordinary kind, for which the scheduler wakes its monitor.
func wakeMonitor() { _, _, _ = syscall.Syscall(unix.SYS_GETPID, 0, 0, 0) }
