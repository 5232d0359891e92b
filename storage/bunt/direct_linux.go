package bunt

import (
	"os"
	"syscall"
	"unsafe"
)

// writeUnnoticed writes at the position of a file by a system call that Go's scheduler does
// not know of. It returns less than the length of b, and no error, if that did not write all.
func writeUnnoticed(f *os.File, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, nil
	}
	return int(n), nil
}
