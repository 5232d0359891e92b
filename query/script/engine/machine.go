package engine

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// machine is QuickJS with one context, whose memory is a heap of its own. It is for
// one goroutine, except for interrupt and seal.
type machine struct {
	heap    *heap
	tls     *libc.TLS
	runtime uintptr
	context uintptr
	stop    atomic.Bool
	frames  frames
	ask     func(question, text string) (answer string, ok bool, err error)

	shared    *shared
	functions []any // the functions whose addresses the engine has
}

var (
	undefined = lib.TJSValue{Ftag: lib.EJS_TAG_UNDEFINED}
	null      = lib.TJSValue{Ftag: lib.EJS_TAG_NULL}
	exception = lib.TJSValue{Ftag: lib.EJS_TAG_EXCEPTION}
)

// newMachine starts an engine with a function $ask.
func newMachine(h *heap, ask func(question, text string) (string, bool, error)) (*machine, error) {
	m := &machine{heap: h, tls: libc.NewTLS(), ask: ask}
	if m.shared = newShared(m.tls); m.shared == nil {
		return m, ErrMemory
	}
	m.shared.allocator = lib.TJSMallocFunctions{Fjs_malloc: register(m, m.malloc), Fjs_free: register(m, m.free), Fjs_realloc: register(m, m.realloc),
		Fjs_malloc_usable_size: register(m, m.usableSize)}
	if m.runtime = lib.XJS_NewRuntime2(m.tls, address(&m.shared.allocator), 0); m.runtime == 0 {
		return m, ErrMemory
	}
	if m.context = lib.XJS_NewContext(m.tls, m.runtime); m.context == 0 {
		return m, ErrMemory
	}
	lib.XJS_SetInterruptHandler(m.tls, m.runtime, register(m, m.stopped), 0)
	lib.XJS_SetCanBlock(m.tls, m.runtime, 0)
	lib.XJS_SetMaxStackSize(m.tls, m.runtime, maxCalls)
	m.watchFrames()
	f := lib.XJS_NewCFunction2(m.tls, m.context, register(m, m.host), address(&m.shared.ask), 2, lib.EJS_CFUNC_generic, 0)
	global := lib.XJS_GetGlobalObject(m.tls, m.context)
	defer lib.XFreeValue(m.tls, m.context, global)
	if lib.XJS_SetPropertyStr(m.tls, m.context, global, address(&m.shared.ask), f) < 0 {
		return m, m.exception()
	}
	return m, nil
}

// register returns the address of a function that lives as long as the machine.
func register[F any](m *machine, f F) uintptr {
	m.functions = append(m.functions, f)
	return function(f)
}

// discard gives back all that the machine has. The engine does not run any more: its
// objects are not freed one by one.
func (m *machine) discard() {
	if m.shared != nil {
		libc.Xfree(m.tls, address(m.shared))
	}
	m.tls.Close()
	m.heap.budget.giveBack(m.frames.taken)
	m.heap.release()
	m.context = 0
}

// interrupt makes the engine stop at the next branch or call. It may be called from
// any goroutine, but not after discard.
func (m *machine) interrupt() {
	m.stop.Store(true)
	if m.context != 0 {
		atomic.StoreInt32(&at[lib.TJSContext](m.context).Finterrupt_counter, 1)
	}
}

// seal takes the memory away from an engine that does not stop. Whatever it is
// doing, it panics.
func (m *machine) seal() { _ = m.heap.memory.seal() }

// --- what the engine calls ---

func (m *machine) stopped(*libc.TLS, uintptr, uintptr) int32 {
	if m.stop.Load() {
		return 1
	}
	return 0
}

// note tells the engine how much it has allocated, by which it decides when to collect
// garbage.
func (m *machine) note(state uintptr) { at[lib.TJSMallocState](state).Fmalloc_size = m.heap.used }

func (m *machine) malloc(_ *libc.TLS, state uintptr, n lib.Tsize_t) uintptr {
	p := m.heap.allocate(n)
	m.note(state)
	return p
}

func (m *machine) free(_ *libc.TLS, state, p uintptr) {
	if p != 0 {
		m.heap.deallocate(p)
		m.note(state)
	}
}

func (m *machine) realloc(tls *libc.TLS, state, p uintptr, n lib.Tsize_t) uintptr {
	switch {
	case p == 0 && n == 0:
		return 0
	case p == 0:
		return m.malloc(tls, state, n)
	case n == 0:
		m.free(tls, state, p)
		return 0
	case m.heap.resize(p, n):
		m.note(state)
		return p
	}
	q := m.heap.allocate(n)
	if q != 0 {
		libc.Xmemcpy(tls, q, p, min(n, m.heap.size(p)))
		m.heap.deallocate(p)
	}
	m.note(state)
	return q
}

func (m *machine) usableSize(_ *libc.TLS, p uintptr) lib.Tsize_t {
	if p == 0 {
		return 0
	}
	return m.heap.size(p)
}

// host is the function $ask(question, text) of scripts.
func (m *machine) host(tls *libc.TLS, context uintptr, _ lib.TJSValue, n int32, args uintptr) lib.TJSValue {
	if n != 2 {
		return undefined
	}
	list := at[[2]lib.TJSValue](args)
	question, ok1 := m.text(list[0])
	text, ok2 := m.text(list[1])
	if !ok1 || !ok2 {
		return exception
	}
	answer, ok, err := m.ask(question, text)
	switch {
	case err != nil || m.stop.Load():
		lib.XJS_ThrowInternalError(tls, context, address(&m.shared.failed), 0)
		lib.XJS_SetUncatchableException(tls, context, 1)
		return exception
	case !ok:
		return null
	}
	return m.string(answer)
}

// --- values ---

// string makes a string of the engine, of valid UTF-8. If there is no memory, it is an
// exception.
func (m *machine) string(s string) lib.TJSValue {
	p, err := libc.CString(s)
	if err != nil {
		return lib.XJS_ThrowOutOfMemory(m.tls, m.context)
	}
	defer libc.Xfree(m.tls, p)
	return lib.XJS_NewStringLen(m.tls, m.context, p, lib.Tsize_t(len(s)))
}

// text converts a value to a string; !ok: that threw an exception.
func (m *machine) text(v lib.TJSValue) (s string, ok bool) {
	p := lib.XJS_ToCStringLen2(m.tls, m.context, address(&m.shared.length), v, 0)
	if p == 0 {
		return "", false
	}
	defer lib.XJS_FreeCString(m.tls, m.context, p)
	return strings.ToValidUTF8(string(libc.GoBytes(p, int(m.shared.length))), "\uFFFD"), true
}

// take converts a value that is not needed any more to a string.
func (m *machine) take(v lib.TJSValue) (string, error) {
	if failed(v) {
		return "", m.exception()
	}
	defer lib.XFreeValue(m.tls, m.context, v)
	s, ok := m.text(v)
	if !ok {
		return "", m.exception()
	}
	return s, nil
}

// drop frees a value that is not needed.
func (m *machine) drop(v lib.TJSValue, err error) error {
	if err == nil {
		lib.XFreeValue(m.tls, m.context, v)
	}
	return err
}

func failed(v lib.TJSValue) bool { return v.Ftag == lib.EJS_TAG_EXCEPTION }

// exception takes the exception that was thrown.
func (m *machine) exception() error {
	e := lib.XJS_GetException(m.tls, m.context)
	defer lib.XFreeValue(m.tls, m.context, e)
	var parts [3]string
	for i := range m.shared.errorParts {
		v := lib.XJS_GetPropertyStr(m.tls, m.context, e, address(&m.shared.errorParts[i]))
		if tag := int32(v.Ftag); tag == lib.EJS_TAG_STRING || tag == lib.EJS_TAG_STRING_ROPE {
			parts[i], _ = m.text(v)
		}
		if failed(v) {
			v = lib.XJS_GetException(m.tls, m.context)
		}
		lib.XFreeValue(m.tls, m.context, v)
	}
	if parts[0] == "InternalError" && parts[1] == "out of memory" || parts[0] == "" && parts[1] == "" {
		return ErrMemory
	}
	return &Thrown{Text: parts[0] + ": " + parts[1], Message: parts[1], IsError: true, Stack: parts[2]}
}

// --- what the server calls ---

// source calls f with a text that ends with a zero byte.
func (m *machine) source(text string, f func(p uintptr, n lib.Tsize_t) lib.TJSValue) (lib.TJSValue, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	p, err := libc.CString(text)
	if err != nil {
		return undefined, ErrMemory
	}
	defer libc.Xfree(m.tls, p)
	v := f(p, lib.Tsize_t(len(text)))
	if failed(v) {
		return undefined, m.exception()
	}
	return v, nil
}

// evaluate runs a script.
func (m *machine) evaluate(text string) (lib.TJSValue, error) {
	return m.source(text, func(p uintptr, n lib.Tsize_t) lib.TJSValue {
		return lib.XJS_Eval(m.tls, m.context, p, n, address(&m.shared.file), lib.MJS_EVAL_TYPE_GLOBAL)
	})
}

// parse translates a script, and does not run it.
func (m *machine) parse(text string) (lib.TJSValue, error) {
	return m.source(text, func(p uintptr, n lib.Tsize_t) lib.TJSValue {
		return lib.XJS_Eval(m.tls, m.context, p, n, address(&m.shared.file), lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	})
}

// compile translates a script to what load runs.
func (m *machine) compile(text string) ([]byte, error) {
	v, err := m.parse(text)
	if err != nil {
		return nil, err
	}
	p := lib.XJS_WriteObject(m.tls, m.context, address(&m.shared.length), v, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		return nil, errors.New("the engine cannot write code")
	}
	return bytes.Clone(libc.GoBytes(p, int(m.shared.length))), nil
}

// load runs what compile has made.
func (m *machine) load(code []byte) error {
	p := libc.Xmalloc(m.tls, lib.Tsize_t(len(code)))
	if p == 0 {
		return ErrMemory
	}
	defer libc.Xfree(m.tls, p)
	copy(libc.GoBytes(p, len(code)), code)
	f := lib.XJS_ReadObject(m.tls, m.context, p, lib.Tsize_t(len(code)), lib.MJS_READ_OBJ_BYTECODE)
	if failed(f) {
		return m.exception()
	}
	v := lib.XJS_EvalFunction(m.tls, m.context, f)
	if failed(v) {
		return m.exception()
	}
	lib.XFreeValue(m.tls, m.context, v)
	return nil
}

// call calls a function with strings and numbers; nil is null.
func (m *machine) call(f lib.TJSValue, args ...any) (string, error) {
	n := 0
	defer func() {
		for _, v := range m.shared.args[:n] {
			lib.XFreeValue(m.tls, m.context, v)
		}
	}()
	for _, a := range args {
		v := null
		switch a := a.(type) {
		case string:
			v = m.string(a)
		case int:
			v = lib.XNewInt32(m.tls, m.context, int32(a))
		}
		if failed(v) {
			return "", m.exception()
		}
		m.shared.args[n] = v
		n++
	}
	return m.take(lib.XJS_Call(m.tls, m.context, f, undefined, int32(n), address(&m.shared.args)))
}

// number is the number of a question.
func number(question string) Question {
	n, _ := strconv.Atoi(question)
	return Question(n)
}
