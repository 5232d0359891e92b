package engine

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
)

// The engine is C that was translated to Go. It takes addresses as uintptr: of
// functions, and of memory that the garbage collector does not move because a
// machine, which is on the heap, holds it. This file has all conversions.

// function is the address of a function as the engine calls it. The function must
// stay reachable as long as the engine has the address.
func function[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// functionAt is the function of the engine that has an address.
func functionAt[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// address is that of a part of a machine, or of a global variable.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

const (
	// slotBytes is the size of a value.
	slotBytes = unsafe.Sizeof(libquickjs.TJSValue{})
	// counterAt is where a context has the number of branches and calls that are
	// left until the engine asks whether to go on.
	counterAt = unsafe.Offsetof(libquickjs.TJSContext{}.Finterrupt_counter)
	// sizeAt is where the engine has the number of bytes that it has allocated, by
	// which it decides when to collect garbage.
	sizeAt = unsafe.Offsetof(libquickjs.TJSMallocState{}.Fmalloc_size)
	// evalAt is where a context has the address of the function that translates
	// every text.
	evalAt = unsafe.Offsetof(libquickjs.TJSContext{}.Feval_internal)
	// addressBytes is the size of an address.
	addressBytes = unsafe.Sizeof(uintptr(0))
	// codeBytes is the size of what the engine knows of a function.
	codeBytes = unsafe.Sizeof(libquickjs.TJSFunctionBytecode{})
)

// name is the address of a text that ends with a zero byte.
func name(text *[8]byte) uintptr { return address(text) }

// bytesAt copies memory of the engine.
func bytesAt(p uintptr, n int) []byte { return append([]byte(nil), libc.GoBytes(p, n)...) }
