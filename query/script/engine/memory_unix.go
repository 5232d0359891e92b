//go:build unix

package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory is a part of the address space, which costs nothing until it is used.
type memory []byte

func reserveMemory(bytes int) (memory, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
}

// base is the address of the first byte.
func (m memory) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

// use makes a range accessible.
func (m memory) use(from, to int) error {
	return unix.Mprotect(m[from:to], unix.PROT_READ|unix.PROT_WRITE)
}

// seal makes everything inaccessible: reading or writing it is a panic.
func (m memory) seal() error { return unix.Mprotect(m, unix.PROT_NONE) }

func (m memory) release() error { return unix.Munmap(m) }
