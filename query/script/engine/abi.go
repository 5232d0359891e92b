package engine

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
)

// The engine is C that was translated to Go. It takes addresses as uintptr: of
// functions, and of memory that is not Go's. This file has all conversions.

// function is the address of a function as the engine calls it. The function must
// stay reachable as long as the engine has the address.
func function[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// functionAt is the function of the engine that has an address.
func functionAt[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// at is what the engine has at an address.
func at[T any](p uintptr) *T {
	var t T
	return (*T)(unsafe.Pointer(unsafe.SliceData(libc.GoBytes(p, int(unsafe.Sizeof(t))))))
}

// address is that of a part of what at has returned.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// pointer is the address that a value of the engine stands for.
func pointer(v libquickjs.TJSValue) uintptr { return *(*uintptr)(unsafe.Pointer(&v)) }

// slotBytes is the size of a value of the engine.
const slotBytes = unsafe.Sizeof(libquickjs.TJSValue{})

// shared is memory for what the engine gets the addresses of.
type shared struct {
	allocator         libquickjs.TJSMallocFunctions
	args              [4]libquickjs.TJSValue
	length            libquickjs.Tsize_t
	file, ask, failed [8]byte // texts that end with a zero byte
	errorParts        [3][8]byte
}

// newShared allocates it; nil: there is no memory.
func newShared(tls *libc.TLS) *shared {
	p := libc.Xcalloc(tls, 1, libquickjs.Tsize_t(unsafe.Sizeof(shared{})))
	if p == 0 {
		return nil
	}
	s := at[shared](p)
	copy(s.file[:], "<eval>")
	copy(s.ask[:], "$ask")
	copy(s.failed[:], "stopped")
	for i, name := range []string{"name", "message", "stack"} {
		copy(s.errorParts[i][:], name)
	}
	return s
}
