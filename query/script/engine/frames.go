package engine

import (
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

const (
	// maxCalls is how deep scripts may nest calls, and minCalls how deep those may
	// whose functions have the most variables. A call that fails of its depth takes a
	// time that grows with it.
	maxCalls, minCalls = 1000, 32
	// freeFrames is how many bytes the calls of a scope may take beside its heap.
	freeFrames = 8 << 20
	// tokenBytes is what a token of a text adds to a call at most.
	tokenBytes = 32
	// maxFrame is what the engine allows a call to take.
	maxFrame = 3 * 65536 * int(slotBytes)
)

// frames bounds the memory of calls, which is not on the heap: the engine allocates
// the variables of a function when it is called. The deeper calls may nest, the less
// variables may functions have, or else the memory is taken from the budget.
type frames struct {
	translate evaluator // the engine's
	largest   int       // bytes of a call
	taken     int64     // the part of the budget in use
}

// evaluator is the engine's function for eval, Function, and all scripts.
type evaluator = func(tls *libc.TLS, context uintptr, this lib.TJSValue, text uintptr, n lib.Tsize_t, file uintptr, flags, scope int32) lib.TJSValue

// watchFrames makes the engine translate by machine.translate.
func (m *machine) watchFrames() {
	c := at[lib.TJSContext](m.context)
	m.frames.translate = functionAt[evaluator](c.Feval_internal)
	c.Feval_internal = register(m, m.translate)
}

// translate translates a text, and runs it if its calls do not take too much memory.
func (m *machine) translate(tls *libc.TLS, context uintptr, this lib.TJSValue, text uintptr, n lib.Tsize_t, file uintptr, flags, scope int32) lib.TJSValue {
	f := &m.frames
	if flags&lib.MJS_EVAL_TYPE_MASK == lib.MJS_EVAL_TYPE_DIRECT {
		// It can only be translated and run at once.
		if !m.allow(min(tokens(libc.GoBytes(text, int(n)))*tokenBytes, maxFrame)) {
			return lib.XJS_ThrowOutOfMemory(tls, context)
		}
		return f.translate(tls, context, this, text, n, file, flags, scope)
	}
	v := f.translate(tls, context, this, text, n, file, flags|lib.MJS_EVAL_FLAG_COMPILE_ONLY, scope)
	if v.Ftag != lib.EJS_TAG_FUNCTION_BYTECODE {
		return v
	}
	if !m.allow(m.frame(v)) {
		lib.XFreeValue(tls, context, v)
		return lib.XJS_ThrowOutOfMemory(tls, context)
	}
	if flags&lib.MJS_EVAL_FLAG_COMPILE_ONLY != 0 {
		return v
	}
	return lib.XJS_EvalFunction(tls, context, v)
}

// frame is how many bytes a call of a function takes, or of any within it.
func (m *machine) frame(v lib.TJSValue) int {
	c := at[lib.TJSFunctionBytecode](pointer(v))
	bytes := (int(c.Farg_count)+int(c.Fvar_count)+int(c.Fstack_size))*int(slotBytes) + 8*int(c.Fvar_ref_count)
	for i := range uintptr(c.Fcpool_count) {
		if v := *at[lib.TJSValue](c.Fcpool + i*slotBytes); v.Ftag == lib.EJS_TAG_FUNCTION_BYTECODE {
			bytes = max(bytes, m.frame(v))
		}
	}
	return bytes
}

// allow makes room for calls that take some bytes each.
func (m *machine) allow(bytes int) bool {
	f := &m.frames
	if bytes <= f.largest {
		return true
	}
	calls := min(max(freeFrames/bytes, minCalls), maxCalls)
	if more := int64(bytes*calls) - freeFrames - f.taken; more > 0 {
		if !m.heap.budget.take(more, int64(m.heap.usable)+f.taken) {
			return false
		}
		f.taken += more
	}
	f.largest = bytes
	lib.XJS_SetMaxStackSize(m.tls, m.runtime, lib.Tsize_t(calls))
	return true
}

// tokens is the number of tokens of a text, or more.
func tokens(text []byte) (n int) {
	word := false
	for _, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
		if letter && !word || !letter && c > ' ' {
			n++
		}
		word = letter
	}
	return n
}
