package main

import (
	"syscall"
	"time"
	"unsafe"
)

// processTime returns the processor time that all threads of a process have used so far,
// in user and kernel mode, exact to the nanosecond. It reports whether it is known.
func processTime(pid int) (time.Duration, bool) {
	// The clock of a process, as clock_getcpuclockid makes it from its id.
	const scheduler, ids = 2, 1 << 28
	if pid <= 0 || pid >= ids {
		return 0, false
	}
	clock := ^int32(pid)<<3 | scheduler
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
