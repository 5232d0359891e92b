package engine

import "golang.org/x/sys/windows"

// memory is a part of the address space, which costs nothing until it is used.
type memory struct {
	address uintptr
	bytes   int
}

func reserveMemory(bytes int) (memory, error) {
	p, err := windows.VirtualAlloc(0, uintptr(bytes), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	return memory{p, bytes}, err
}

// base is the address of the first byte.
func (m memory) base() uintptr { return m.address }

// use makes a range accessible.
func (m memory) use(from, to int) error {
	_, err := windows.VirtualAlloc(m.address+uintptr(from), uintptr(to-from), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// seal makes everything inaccessible: reading or writing it is a panic.
func (m memory) seal() error {
	return windows.VirtualFree(m.address, uintptr(m.bytes), windows.MEM_DECOMMIT)
}

func (m memory) release() error { return windows.VirtualFree(m.address, 0, windows.MEM_RELEASE) }
