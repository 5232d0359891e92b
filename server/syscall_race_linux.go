//go:build race

package server

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The race detector has to see the calls: a message orders what its sender did before and its
// receiver does after it.

func sysRead(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := unix.Read(int(fd), b)
	return n, errno(err)
}

func sysWrite(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := unix.Write(int(fd), b)
	return n, errno(err)
}

func errno(err error) syscall.Errno {
	e, _ := err.(syscall.Errno)
	return e
}

func wakeMonitor() {}
